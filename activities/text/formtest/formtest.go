// Package formtest pins each version of a normal form to its first results.
package formtest

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"iter"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"axiommind/activities/text"
)

// Update is the flag -update of tests with golden files.
var Update = flag.Bool("update", false, "write missing golden files")

// everyCharacter begins the line of a golden file with the digest over all characters.
const everyCharacter = "every character: "

// Pin compares the results of a form with its golden file, testdata/form-NAME-VERSION.txt: for each of
// the [Inputs], and a digest for every character of Unicode, alone and inside a word. With -update it
// writes a file that is missing. It never changes an existing one: another result is another version.
func Pin(t *testing.T, form text.Form) {
	t.Helper()
	path := fmt.Sprintf("testdata/form-%s-%d.txt", form.Name, form.Version)
	golden, err := os.ReadFile(path)
	if os.IsNotExist(err) && *Update {
		require.NoError(t, os.WriteFile(path, []byte(written(form)), 0o644))
		return
	}
	require.NoError(t, err, "a new version of a form needs a golden file: run the test with -update")
	want := map[string]string{}
	for line := range strings.Lines(string(golden)) {
		line = strings.TrimSuffix(line, "\n")
		if digest, ok := strings.CutPrefix(line, everyCharacter); ok {
			require.Equal(t, digest, digestOf(form), "form %q returns something else for a character: give it a new version", form.Name)
			continue
		}
		in, out, ok := strings.Cut(line, " => ")
		require.True(t, ok, "%s: %q", path, line)
		want[unquote(t, in)] = unquote(t, out)
	}
	require.Len(t, want, len(Inputs()), "%s holds other inputs than there are", path)
	for _, in := range Inputs() {
		require.Contains(t, want, in)
		require.Equal(t, want[in], form.Of(in), "form %q returns something else for %+q: give it a new version", form.Name, in)
	}
}

func written(form text.Form) string {
	var b strings.Builder
	for _, in := range Inputs() {
		fmt.Fprintf(&b, "%s => %s\n", strconv.Quote(in), strconv.Quote(form.Of(in)))
	}
	return b.String() + everyCharacter + digestOf(form) + "\n"
}

func unquote(t *testing.T, s string) string {
	t.Helper()
	out, err := strconv.Unquote(s)
	require.NoError(t, err, "%s", s)
	return out
}

func digestOf(form text.Form) string {
	digest := sha256.New()
	for c := range Characters() {
		for _, s := range [...]string{c, "a" + c + "b", "1" + c + " 1"} {
			digest.Write([]byte(form.Of(s)))
			digest.Write([]byte{0})
		}
	}
	return fmt.Sprintf("%x", digest.Sum(nil))
}

// alike are ranges of ideographs, syllables and private characters that are all alike.
var alike = [][2]rune{{0x3410, 0x4DB0}, {0x4E10, 0x9FF0}, {0xAC10, 0xD790}, {0xE010, 0xF8F0}, {0x17010, 0x187F0}, {0x20010, 0xE0000}, {0xF0000, utf8.MaxRune}}

// Characters yields every character of Unicode, but of those that are alike only some.
func Characters() iter.Seq[string] {
	return func(yield func(string) bool) {
		for r := range rune(utf8.MaxRune + 1) {
			if !utf8.ValidRune(r) || slices.ContainsFunc(alike, func(of [2]rune) bool { return of[0] <= r && r <= of[1] }) {
				continue
			}
			if !yield(string(r)) {
				return
			}
		}
	}
}
