package stacktest

import (
	"math/rand/v2"
	"testing"
)

// Sample returns n of the values in random order, which it logs.
func Sample(t testing.TB, n int, all []string) []string {
	t.Helper()
	random := Random(t)
	out := make([]string, 0, n)
	for _, i := range random.Perm(len(all))[:n] {
		out = append(out, all[i])
	}
	t.Logf("sample: %q", out)
	return out
}

// SomeNames returns the first of the [Names], which are the hardest to distinguish, and a few of the others.
func SomeNames(t testing.TB) ([]string, *rand.Rand) {
	t.Helper()
	const hardest, others = 4, 3
	names, random := Names(t)
	rest := names[hardest:]
	random.Shuffle(len(rest), func(i, j int) { rest[i], rest[j] = rest[j], rest[i] })
	return names[:hardest+others], random
}
