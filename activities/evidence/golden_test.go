package evidence_test

import (
	"crypto/sha256"
	"fmt"
	"hash"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/activities/evidence"
	"axiommind/activities/evidence/normal"
	"axiommind/activities/text"
	"axiommind/activities/text/formtest"
)

// TestRuleIsPinned compares what the rule says of every quote of testdata with what it said when it was made.
// Evidence is held to the rule that it was recorded under, so a rule must go on to say the same. Of a text whose
// class nobody knows, as here, rules 1 and 2 say the same.
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
	if os.IsNotExist(err) && *formtest.Update {
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

// pin writes the digest of what a function of text says of every character, so that other Unicode data than a rule
// was made with is seen: a rule rests on it.
func pin(b *strings.Builder, name string, of func(h hash.Hash, character string)) {
	digest := sha256.New()
	for character := range formtest.Characters() {
		of(digest, character)
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
		boundaries := text.NewBoundaries(s)
		for at := range len(s) + 1 {
			pinBits(h, boundaries.Begins(at), boundaries.Ends(at))
		}
	}
}

func pinGraphemes(h hash.Hash, c string) {
	for _, s := range []string{"a" + c + "b", c + c, "👩" + c + "👩", "한" + c + "ᆨ"} {
		pinBits(h, normal.OnBoundary(s, len(s)-1), normal.OnBoundary(s, len(s)/2), normal.OnBoundary(s, 1))
	}
}

func pinBits(h hash.Hash, bits ...bool) {
	for _, bit := range bits {
		h.Write(strconv.AppendBool(nil, bit))
	}
}
