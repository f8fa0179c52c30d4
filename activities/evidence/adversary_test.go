package evidence

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"axiommind/schema"
)

// shown is how many wrongly accepted quotes of a kind a test lists.
const shown = 10

var heldOutAligner = sync.OnceValue(func() *Aligner { return NewAligner(heldOutMessages(), nil) })

// score counts what became of the quotes of one kind: accepted are those that count as proof,
// found those whose place was found at all.
type score struct {
	kind                    string
	quotes, accepted, found int
	listed                  []string
}

func (s *score) add(a *Aligner, index int, quote, what string) {
	evidence, accepted := a.AlignEntry([]schema.Quote{{MessageIndex: index, Quote: quote}})
	s.quotes++
	if evidence[0].Aligned {
		s.found++
	}
	if accepted {
		s.accepted++
		s.listed = append(s.listed, fmt.Sprintf("%s accepted by method %q, %s\n  quote  %q\n  source %q",
			s.kind, evidence[0].Method, what, quote, evidence[0].Text))
	}
}

func (s *score) change(c change) {
	s.add(heldOutAligner(), c.place.index, c.quote(), fmt.Sprintf("%q for %q", c.now, c.was))
}

// refused prints the counts and fails for every quote that was accepted.
func (s *score) refused(t *testing.T) {
	t.Helper()
	t.Logf("%-22s %5d quotes: accepted %d, found %d", s.kind, s.quotes, s.accepted, s.found)
	for i, what := range s.listed {
		if i < shown {
			t.Error(what)
		}
	}
	require.Positive(t, s.quotes, s.kind)
	if s.accepted > 0 {
		t.Errorf("%s: accepted %d of %d", s.kind, s.accepted, s.quotes)
	}
}

// heldOutChanges are the swaps of the corpus, each in the whole statement and in a cut of it.
func heldOutChanges() []change {
	rng := rand.New(rand.NewPCG(1, 5))
	var changes []change
	for _, p := range heldOutPlaces() {
		for _, swap := range p.statement.swaps {
			at := strings.Index(p.statement.text, swap[0])
			c := changeAt(p, at, at+len(swap[0]), swap[1])
			changes = append(changes, c)
			if cut := c.nearby(rng); cut.quote() != c.quote() && !strings.Contains(p.statement.text, cut.quote()) {
				changes = append(changes, cut)
			}
		}
	}
	return changes
}

func TestHeldOutNearMissesAreRefused(t *testing.T) {
	t.Parallel()
	s := score{kind: "clean"}
	for _, c := range heldOutChanges() {
		s.change(c)
	}
	s.refused(t)
	// What is found and in doubt is not accepted: entries that rest on it are not aligned.
	require.LessOrEqual(t, float64(s.found), 0.02*float64(s.quotes), "near-misses found")
}

func TestHeldOutNearMissesAmongTyposAreRefused(t *testing.T) {
	t.Parallel()
	for typos := 1; typos <= 3; typos++ {
		t.Run(fmt.Sprint(typos), func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(2, uint64(typos)))
			s := score{kind: fmt.Sprintf("noisy, %d typos", typos)}
			for _, c := range heldOutChanges() {
				if noisy, ok := c.noisy(rng, typos); ok {
					s.change(noisy)
				}
			}
			s.refused(t)
		})
	}
}

// orderings change the order or the number of the words of a statement: the words from i on.
var orderings = []struct {
	kind string
	make func(rng *rand.Rand, p place, words []wordSpan, i int) (change, bool)
}{
	{"words swapped", func(_ *rand.Rand, p place, words []wordSpan, i int) (change, bool) {
		if i+1 >= len(words) || !plainWord(words[i].text, 3) || !plainWord(words[i+1].text, 3) ||
			strings.EqualFold(words[i].text, words[i+1].text) || words[i+1].start != words[i].end+1 {
			return change{}, false
		}
		return changeWords(p, words[i].start, words[i+1].end, words[i+1].text+" "+words[i].text), true
	}},
	{"word dropped", func(_ *rand.Rand, p place, words []wordSpan, i int) (change, bool) {
		if i == 0 || i+1 >= len(words) || !plainWord(words[i].text, 4) || words[i].text == words[i-1].text {
			return change{}, false
		}
		return changeWords(p, words[i].start, words[i+1].start, ""), true
	}},
	{"word added", func(rng *rand.Rand, p place, words []wordSpan, i int) (change, bool) {
		if len(p.language.added) == 0 {
			return change{}, false
		}
		added := p.language.added[rng.IntN(len(p.language.added))]
		return changeWords(p, words[i].start, words[i].start, added+" "), true
	}},
	{"word replaced", func(rng *rand.Rand, p place, words []wordSpan, i int) (change, bool) {
		if len(p.language.added) == 0 || !plainWord(words[i].text, 3) {
			return change{}, false
		}
		other := p.language.statements[rng.IntN(len(p.language.statements))]
		candidates := wordsOf([]rune(other.text))
		with := candidates[rng.IntN(len(candidates))].text
		if !plainWord(with, 3) || strings.EqualFold(with, words[i].text) {
			return change{}, false
		}
		return changeWords(p, words[i].start, words[i].end, with), true
	}},
}

func changeWords(p place, start, end int, now string) change {
	r := []rune(p.statement.text)
	from := len(string(r[:start]))
	return changeAt(p, from, from+len(string(r[start:end])), now)
}

// plainWord reports a word of letters only, n at least; a syllable of Hangul counts for two.
func plainWord(word string, n int) bool {
	letters := 0
	for _, r := range word {
		if !unicode.IsLetter(r) || unspaced(r) {
			return false
		}
		if letters++; unicode.Is(unicode.Hangul, r) {
			letters++
		}
	}
	return letters >= n
}

func TestOtherWordOrderIsRefused(t *testing.T) {
	t.Parallel()
	for k, ordering := range orderings {
		t.Run(ordering.kind, func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(3, uint64(k)))
			clean, noisy := score{kind: ordering.kind}, score{kind: ordering.kind + ", 1 typo"}
			for _, p := range heldOutPlaces() {
				words := wordsOf([]rune(p.statement.text))
				for _, i := range rng.Perm(len(words))[:min(8, len(words))] {
					c, ok := ordering.make(rng, p, words, i)
					if !ok || strings.Contains(p.statement.text, c.quote()) {
						continue
					}
					if rng.IntN(2) == 0 {
						if cut := c.nearby(rng); cut.before != "" && cut.after != "" &&
							!strings.Contains(p.statement.text, cut.quote()) {
							c = cut
						}
					}
					clean.change(c)
					if spoilt, ok := c.noisy(rng, 1); ok {
						noisy.change(spoilt)
					}
				}
			}
			clean.refused(t)
			noisy.refused(t)
		})
	}
}

func TestQuoteThatCutsANumberOrAnAffixIsRefused(t *testing.T) {
	t.Parallel()
	for kind, cuts := range map[string][]cutQuote{"edge in a number": cutNumbers, "edge in a word": cutAffixes} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := score{kind: kind}
			for _, c := range cuts {
				require.Contains(t, c.source, c.quote)
				s.add(NewAligner([]schema.Message{{Text: c.source}}, nil), 0, c.quote, "of "+c.source)
			}
			s.refused(t)
		})
	}
}

func TestQuoteThatBeginsOrEndsInsideANumberOfTheCorpusIsRefused(t *testing.T) {
	t.Parallel()
	s := score{kind: "edge in corpus number"}
	for _, p := range heldOutPlaces() {
		text := p.statement.text
		for i := 1; i+1 < len(text); i++ {
			if !insideNumber(text, i) {
				continue
			}
			for _, quote := range []string{head([]rune(text[i:]), 60), tail([]rune(text[:i]), 60)} {
				if utf8.RuneCountInString(quote) >= 12 {
					s.add(heldOutAligner(), p.index, quote, fmt.Sprintf("cut in %q", text[max(0, i-6):min(len(text), i+6)]))
				}
			}
		}
	}
	s.refused(t)
}

// insideNumber reports whether a cut before byte i parts the digits of one number.
func insideNumber(text string, i int) bool {
	digit := func(i int) bool { return i >= 0 && i < len(text) && text[i] >= '0' && text[i] <= '9' }
	point := func(i int) bool {
		return (text[i] == '.' || text[i] == ',' || text[i] == ':') && digit(i-1) && digit(i+1)
	}
	return digit(i-1) && (digit(i) || point(i)) || point(i-1) && digit(i)
}

func TestStatementsWithUnmistakableTyposAreAccepted(t *testing.T) {
	t.Parallel()
	var all, inEnglish score
	var refused []string
	for typos := 1; typos <= 4; typos++ {
		rng := rand.New(rand.NewPCG(4, uint64(typos)))
		s := score{kind: fmt.Sprintf("sound, %d typos", typos)}
		for _, p := range slices.Concat(heldOutPlaces(), heldOutPlaces()) {
			quote, ok := soundQuote(rng, p, typos)
			if !ok {
				continue
			}
			before := s
			s.add(heldOutAligner(), p.index, quote, "")
			if s.accepted == before.accepted {
				refused = append(refused, fmt.Sprintf("%s refused\n  quote  %q\n  source %q", s.kind, quote, p.statement.text))
			}
			if p.language.name == "english" {
				inEnglish.quotes++
				inEnglish.accepted += s.accepted - before.accepted
				inEnglish.found += s.found - before.found
			}
		}
		s.logShare(t)
		all.quotes, all.accepted, all.found = all.quotes+s.quotes, all.accepted+s.accepted, all.found+s.found
	}
	inEnglish.kind, all.kind = "sound, English", "sound"
	inEnglish.logShare(t)
	all.logShare(t)
	for i, what := range refused {
		if i < shown {
			t.Log(what)
		}
	}
	// In other languages than English there is no dictionary to tell a slip from another word: what is in
	// doubt is found and proves nothing.
	require.GreaterOrEqual(t, float64(inEnglish.accepted), 0.95*float64(inEnglish.quotes), "accepted of %d English quotes", inEnglish.quotes)
	require.GreaterOrEqual(t, float64(all.accepted), 0.7*float64(all.quotes), "accepted of %d quotes", all.quotes)
	require.GreaterOrEqual(t, float64(all.found), 0.93*float64(all.quotes), "found of %d quotes", all.quotes)
}

func (s *score) logShare(t *testing.T) {
	t.Helper()
	t.Logf("%-22s %5d quotes: accepted %d (%.1f %%), found %d", s.kind, s.quotes, s.accepted,
		100*float64(s.accepted)/float64(s.quotes), s.found)
}

// soundQuote spoils n long words of a statement, none of them one that a swap of it touches.
func soundQuote(rng *rand.Rand, p place, n int) (string, bool) {
	r := []rune(p.statement.text)
	touched := make([]bool, len(r))
	for _, swap := range p.statement.swaps {
		before, _, _ := strings.Cut(p.statement.text, swap[0])
		start := utf8.RuneCountInString(before)
		for i := range utf8.RuneCountInString(swap[0]) {
			touched[start+i] = true
		}
	}
	var long []wordSpan
	for _, w := range wordsOf(r) {
		if strings.ContainsRune(",.;:", r[w.end-1]) {
			w = wordSpan{w.start, w.end - 1, string(r[w.start : w.end-1])}
		}
		if soundWord(w.text) && !slices.Contains(touched[w.start:w.end], true) {
			long = append(long, w)
		}
	}
	if len(long) < n {
		return "", false
	}
	chosen := make(map[int]wordSpan)
	for _, i := range rng.Perm(len(long))[:n] {
		chosen[long[i].start] = long[i]
	}
	var quote []rune
	for i := 0; i < len(r); {
		if w, ok := chosen[i]; ok {
			quote = append(quote, soundTypo(rng, []rune(w.text))...)
			i = w.end
			continue
		}
		quote = append(quote, r[i])
		i++
	}
	return string(quote), true
}

// soundWord reports a long lower-case word, or one of Hangul, which neither negates nor counts.
func soundWord(word string) bool {
	letters, hangul := 0, 0
	for _, r := range word {
		switch {
		case unicode.Is(unicode.Hangul, r) && !strings.ContainsRune(negatingRunes, r):
			hangul++
		case !unicode.IsLower(r):
			return false
		}
		letters++
	}
	return !guarded(word) && !strings.HasSuffix(word, "less") &&
		(hangul == letters && hangul >= 5 || hangul == 0 && letters >= 6)
}
