package vector

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"axiommind/schema"
)

// A digest does not depend on the order, and differs for sets that differ in one item or have one twice.
func TestDigest(t *testing.T) {
	t.Parallel()
	of := func(hashes []string) (d digest) {
		for _, hash := range hashes {
			d.add(hash)
		}
		return d
	}
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.SliceOfNDistinct(rapid.String(), 1, 20, rapid.ID[string]).Draw(t, "texts")
		hashes := make([]string, len(texts))
		for i, text := range texts {
			hashes[i] = schema.HashText(text)
		}
		whole := of(hashes)
		if of(rapid.Permutation(hashes).Draw(t, "shuffled")) != whole {
			t.Fatal("another order is another digest")
		}
		at := rapid.IntRange(0, len(hashes)-1).Draw(t, "at")
		for name, other := range map[string][]string{
			"one less":     slices.Delete(slices.Clone(hashes), at, at+1),
			"one twice":    append(slices.Clone(hashes), hashes[at]),
			"another one":  append(slices.Delete(slices.Clone(hashes), at, at+1), schema.HashText("another"+texts[at])),
			"one no hash":  append(slices.Delete(slices.Clone(hashes), at, at+1), ""),
			"one cut hash": append(slices.Delete(slices.Clone(hashes), at, at+1), hashes[at][:62]),
		} {
			if of(other) == whole {
				t.Fatalf("%s is not told apart", name)
			}
		}
	})
}
