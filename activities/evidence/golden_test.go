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
	"axiommind/deploy/local/sharedtest"
	"axiommind/deploy/local/stacktest"
)

// The campaign judges all quotes and characters, and writes the golden file with -update.
func TestRuleIsPinned(t *testing.T) {
	t.Parallel()
	chosen := append(stacktest.Sample(t, 1, []string{"number", "whole", "normal form", "sentences", "graphemes"}), "cut", "cut number", "join", "languages")
	chosen = chosen[:max(2, len(chosen)/sharedtest.Share())]
	want, err := os.ReadFile(ruleFile())
	require.NoError(t, err, "a new rule needs a golden file: run the campaign with -update")
	var b strings.Builder
	for line := range strings.Lines(string(want)) {
		if slices.Contains(chosen, strings.TrimSpace(line[:15])) {
			b.WriteString(line)
		}
	}
	require.Equal(t, b.String(), judgements(t, func(kind string) bool { return slices.Contains(chosen, kind) }), otherJudgement)
}

const otherJudgement = "the rule judges otherwise: give it a new version"

func ruleFile() string { return fmt.Sprintf("testdata/rule-%d.txt", evidence.Rule) }

// judgements returns a line for each chosen kind of quotes of testdata, to compare the rule with its first version.
// Evidence is judged by the rule that it was recorded under, so the results of a rule must stay the same. For a text of
// an unknown class, as here, rules 1 and 2 agree.
func judgements(t *testing.T, chosen func(kind string) bool) string {
	t.Helper()
	var b strings.Builder
	kinds := misleading(t)
	for name, quotes := range map[string][]misquote{"languages": languageQuotes(t), "whole": wholeQuotes(t)} {
		kinds[name] = quotes
	}
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		if !chosen(kind) {
			continue
		}
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
	for _, p := range []struct {
		name string
		of   func(hash.Hash, string)
	}{{"normal form", pinForm}, {"sentences", pinSentences}, {"graphemes", pinGraphemes}} {
		if chosen(p.name) {
			pin(&b, p.name, p.of)
		}
	}
	return b.String()
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

// pin writes the digest of a function's results for every character. It reveals Unicode data other than that of the rule,
// which depends on it.
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
