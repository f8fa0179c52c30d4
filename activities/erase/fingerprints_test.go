package erase

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

var alphabets = []string{"abcdefghijklmnopqrstuvwxyz", "абвгдежзиклмнопрстуфхцчшщ", "가나다라마바사아자차카타파하", "日本語文章検索記憶消去確認", "αβγδεζηθικλμνξοπρστυφχψω"}

// prose draws a text of words.
func prose(t *rapid.T, words int) string {
	letters := []rune(rapid.SampledFrom(alphabets).Draw(t, "alphabet"))
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
	var b strings.Builder
	for i := range words {
		if i > 0 {
			b.WriteString([]string{" ", ", ", "  ", " — ", "-"}[r.IntN(5)])
		}
		for range 1 + r.IntN(9) {
			b.WriteRune(letters[r.IntN(len(letters))])
		}
	}
	return b.String()
}

// A passage of runLetters+window-1 letters is found with other case and punctuation, and within a text, JSON, or JSON
// within JSON. (winnowing's guarantee)
func TestPrintsFindPassages(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		erased := prose(t, 40)
		p := newFingerprints("salt")
		p.add("Something before.\n" + erased + "\nSomething after.")
		letters := []rune(erased)
		from := rapid.IntRange(0, max(0, len(letters)-60)).Draw(t, "from")
		passage := string(letters[from:])
		n := 0
		for i, r := range passage {
			if strings.ContainsRune(" ,—-", r) {
				continue
			}
			if n++; n == runLetters+window-1 {
				passage = passage[:i+len(string(r))]
				break
			}
		}
		if n < runLetters+window-1 {
			t.Skip("too short")
		}
		within := prose(t, 3) + " " + strings.ToUpper(strings.ReplaceAll(passage, ", ", "; ")) + " " + prose(t, 3)
		once, err := json.Marshal(map[string]any{"title": "x", "text": "a line\n" + within + "\nanother \"line\""})
		if err != nil {
			t.Fatal(err)
		}
		twice, _ := json.Marshal(map[string]string{"payload": string(once)})
		for name, text := range map[string]string{"plain": within, "JSON": string(once), "JSON within JSON": string(twice)} {
			if len(p.in(text)) == 0 {
				t.Fatalf("%s: %q is not found in %q", name, passage, text)
			}
		}
	})
}

// A line that another text shares is recognized as shared even if it is shortened or joined with the next line, where
// other runs of it count.
func TestPrintsKnowWhatOthersSay(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		shared, erased, next := prose(t, 20), prose(t, 20), prose(t, 20)
		p := newFingerprints("salt")
		p.add(shared + " " + erased)
		others := p.anywhereIn(shared + "\n" + next)
		for _, told := range []string{shared + " " + next, string([]rune(shared)[:len([]rune(shared))*2/3]) + "…"} {
			for _, print := range p.in(told) {
				if !slices.Contains(others, print) {
					t.Fatalf("%q is found in %q", shared, told)
				}
			}
		}
	})
}

// An unrelated text is not found.
func TestPrintsFindNothingElse(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := newFingerprints("salt")
		said, other := prose(t, 200), prose(t, 400)
		if strings.HasPrefix(other, said[:20]) {
			t.Skip("the same was drawn")
		}
		p.add(said)
		if found := p.in(other); len(found) > 0 {
			t.Fatalf("%d of another text", len(found))
		}
	})
	// Neighbouring sentences in one text are apart in another.
	p := newFingerprints("salt")
	p.add("We decided to use this store for logs.\nI prefer short answers with numbers.")
	require.Empty(t, p.in("this store for logs\tI prefer short answers"))
	q := newFingerprints("other salt")
	q.add("I prefer short answers with numbers.")
	require.NotEmpty(t, p.sorted())
	for _, print := range q.sorted() {
		require.False(t, p.all[print], "another salt makes other fingerprints")
	}
}

// Storing and reading a set does not change it, and the same fingerprints are kept of too many, in whatever order they
// are added.
func TestPrintsAreStored(t *testing.T) {
	t.Parallel()
	p := newFingerprints("salt")
	for i := range 20 {
		p.add(fmt.Sprintf("The sentence with the number %d is longer than a run of letters.", i))
	}
	again := newFingerprints("salt")
	again.read(p.bytes())
	require.Equal(t, p.sorted(), again.sorted())
	r := rand.New(rand.NewPCG(1, 2))
	big, parts := newFingerprints("s"), []uint64{}
	for range 2*maxFingerprints + 1 {
		parts = append(parts, r.Uint64())
	}
	for _, print := range parts {
		big.all[print] = true
	}
	big.sample()
	slices.Sort(parts)
	require.Equal(t, parts[:maxFingerprints], big.sorted())
	require.True(t, big.sampled)
}
