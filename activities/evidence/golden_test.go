package evidence_test

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"hash"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"axiommind/activities/evidence"
	"axiommind/activities/evidence/normal"
	"axiommind/activities/text"
)

var update = flag.Bool("update", false, "write the golden file of a rule that has none")

// TestRuleIsPinned compares what the rule says of every quote of testdata with what it said when it was made.
// Evidence is held to the rule that it was recorded under, so a rule must go on to say the same.
func TestRuleIsPinned(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	kinds := misleading(t)
	for name, quotes := range map[string][]misquote{"languages": languageQuotes(t), "whole": wholeQuotes(t)} {
		kinds[name] = quotes
	}
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		var o outcome
		digest := sha256.New()
		for _, m := range kinds[kind] {
			e := align(m.message, m.quote)
			o.add(e)
			if !e.Aligned {
				continue // A better search may find it elsewhere: no rule says where.
			}
			digest.Write(fmt.Appendf(nil, "%+v %t", e.Span, e.Proven))
			if e.Within != nil {
				digest.Write(fmt.Appendf(nil, "%+v", *e.Within))
			}
		}
		fmt.Fprintf(&b, "%-15s %5d quotes: aligned %5d, proven %5d; %.8x\n", kind, o.quotes, o.aligned, o.proven, digest.Sum(nil))
	}
	pin(&b, "normal form", pinForm)
	pin(&b, "sentences", pinSentences)
	pin(&b, "graphemes", pinGraphemes)

	path := fmt.Sprintf("testdata/rule-%d.txt", evidence.Rule)
	want, err := os.ReadFile(path)
	if os.IsNotExist(err) && *update {
		require.NoError(t, os.WriteFile(path, []byte(b.String()), 0o644))
		return
	}
	require.NoError(t, err, "a new rule needs a golden file: run the test with -update")
	require.Equal(t, string(want), b.String(), "the rule judges otherwise: give it a new version")
}

// languageQuotes are the quotes of all kinds in all languages.
func languageQuotes(tb testing.TB) (quotes []misquote) {
	tb.Helper()
	for _, l := range languages(tb) {
		for _, k := range kinds {
			for _, quote := range k.make(l) {
				quotes = append(quotes, misquote{k.name, l.message(), quote})
			}
		}
	}
	return quotes
}

// wholeQuotes are whole sentences with the changes that a rule has to see through.
func wholeQuotes(tb testing.TB) (quotes []misquote) {
	tb.Helper()
	for _, m := range realMessages(tb) {
		runs := wholeRuns(m, true)
		for i, change := range slices.Concat(harmless, []func(string) string{strings.ToUpper}) {
			quotes = append(quotes, misquote{fmt.Sprint(i), m, change(runs[i*len(runs)/8])})
		}
	}
	return quotes
}

// alike are ranges of ideographs, syllables and private characters that are all alike.
var alike = [][2]rune{{0x3410, 0x4DB0}, {0x4E10, 0x9FF0}, {0xAC10, 0xD790}, {0xE010, 0xF8F0}, {0x17010, 0x187F0}, {0x20010, 0xE0000}, {0xF0000, utf8.MaxRune}}

// pin writes the digest of what a function of text says of every character, so that other Unicode data than a rule
// was made with is seen: a rule rests on it.
func pin(b *strings.Builder, name string, of func(h hash.Hash, character string)) {
	digest := sha256.New()
	for r := range rune(utf8.MaxRune + 1) {
		if utf8.ValidRune(r) && !slices.ContainsFunc(alike, func(of [2]rune) bool { return of[0] <= r && r <= of[1] }) {
			of(digest, string(r))
		}
	}
	fmt.Fprintf(b, "%-15s %.8x\n", name, digest.Sum(nil))
}

func pinForm(h hash.Hash, c string) {
	for _, text := range []string{c, "a" + c + "b", "1" + c + "1"} {
		h.Write([]byte(normal.Form1(text)))
	}
}

func pinSentences(h hash.Hash, c string) {
	for _, s := range []string{"a. " + c + "b", "A" + c + " B."} {
		borders := text.NewBorders(s)
		for at := range len(s) + 1 {
			pinBits(h, borders.Begins(at), borders.Ends(at))
		}
	}
}

func pinGraphemes(h hash.Hash, c string) {
	for _, s := range []string{"a" + c + "b", c + c, "👩" + c + "👩", "한" + c + "ᆨ"} {
		pinBits(h, normal.OnBorder(s, len(s)-1), normal.OnBorder(s, len(s)/2), normal.OnBorder(s, 1))
	}
}

func pinBits(h hash.Hash, bits ...bool) {
	for _, bit := range bits {
		h.Write(strconv.AppendBool(nil, bit))
	}
}
