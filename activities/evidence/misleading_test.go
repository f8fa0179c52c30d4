package evidence_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"axiommind/activities/evidence"
	"axiommind/schema"
)

// misleading makes every kind of quote that is close to its message but has another meaning.
func misleading(tb testing.TB) map[string][]misquote {
	tb.Helper()
	kinds := map[string][]misquote{
		"cut":   misquotes(tb, "cuts.txt"),
		"join":  misquotes(tb, "joins.txt"),
		"order": ordered(tb),
	}
	all, _ := statements(tb)
	rng := rand.New(rand.NewPCG(1, 5))
	for _, s := range all {
		for _, c := range changes(rng, s) {
			kinds["swap"] = append(kinds["swap"], c.misquote("swap"))
			kinds["swap"] = append(kinds["swap"], misquote{"swap, other spaces", s.message(), strings.ReplaceAll(c.quote(), " ", "\u00a0")})
			for typos := range 3 {
				if noisy, ok := c.noisy(rng, typos+1); ok {
					kinds["swap and typos"] = append(kinds["swap and typos"], noisy.misquote(fmt.Sprintf("swap, %d typos", typos+1)))
				}
			}
		}
		for _, quote := range otherNumbers(s.text) {
			kinds["number"] = append(kinds["number"], misquote{"number", s.message(), quote})
		}
		for i := range s.text {
			if insideNumber(s.text, i) {
				kinds["cut number"] = append(kinds["cut number"],
					misquote{"cut number", s.message(), s.text[i:]}, misquote{"cut number", s.message(), s.text[:i]})
			}
		}
	}
	for kind, quotes := range kinds {
		kinds[kind] = slices.DeleteFunc(quotes, func(m misquote) bool { return letters(m.quote) < schema.MinLetters })
	}
	return kinds
}

// Of each kind one quote of many is tried, and others in each run.
func TestMisleadingQuotesProveNothing(t *testing.T) {
	t.Parallel()
	misleadingQuotesProveNothing(t, 20)
}

// No quote with another meaning than its message proves, however it is found. One of so many quotes is tried, of few
// more.
func misleadingQuotesProveNothing(t *testing.T, oneOf int) {
	t.Helper()
	for kind, quotes := range misleading(t) {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			var o outcome
			oneOf := max(1, min(oneOf, len(quotes)/60))
			first := rand.IntN(oneOf)
			t.Logf("every quote of %d, from number %d", oneOf, first)
			for i := first; i < len(quotes); i += oneOf {
				m := quotes[i]
				e := align(m.message, m.quote)
				o.add(e)
				if e.Proven {
					t.Errorf("%s proves by method %q\n  quote  %q\n  source %q", m.kind, e.Method, m.quote, e.Text)
				}
				if e.Found {
					require.NoError(t, evidence.Verify(m.message, e, evidence.Rule), "%+v", e)
				}
			}
			require.Greater(t, o.quotes, 50)
			t.Logf("%-15s %s", kind, &o)
		})
	}
}

// TestStatementsProve: the sources of the misleading quotes prove as they are.
func TestStatementsProve(t *testing.T) {
	t.Parallel()
	all, _ := statements(t)
	for _, s := range all {
		e := align(s.message(), s.text)
		require.True(t, e.Proven, "%+v", e)
		require.NoError(t, evidence.Verify(s.message(), e, evidence.Rule))
	}
	require.Greater(t, len(all), 300)
}

// TestTyposAreFound: a statement whose words are mistyped is found and proves nothing.
func TestTyposAreFound(t *testing.T) {
	t.Parallel()
	all, _ := statements(t)
	rng := rand.New(rand.NewPCG(4, 1))
	var o outcome
	for _, s := range all {
		c := change{of: s, before: s.text}
		for typos := 1; typos <= max(1, utf8.RuneCountInString(s.text)/25); typos++ {
			noisy, ok := c.noisy(rng, typos)
			if !ok {
				continue
			}
			e := align(s.message(), noisy.quote())
			require.True(t, e.Found, "%q", noisy.quote())
			require.False(t, e.Proven, "%+v", e)
			o.add(e)
		}
	}
	t.Log(&o)
	require.Greater(t, o.quotes, 500)
	require.Equal(t, o.quotes, o.found)
}

// change is a quote that replaces the text between before and after by now.
type change struct {
	of                 statement
	before, now, after string
}

func (c change) quote() string { return c.before + c.now + c.after }

func (c change) misquote(kind string) misquote { return misquote{kind, c.of.message(), c.quote()} }

// changes are the swaps of a statement, each in the whole statement and in a piece of it.
func changes(rng *rand.Rand, s statement) []change {
	var all []change
	for _, w := range s.swaps {
		before, after, _ := strings.Cut(s.text, w.was)
		c := change{s, before, w.now, after}
		all = append(all, c)
		c.before, c.after = lastWords(before, 20+rng.IntN(21)), firstWords(after, 20+rng.IntN(21))
		if c.quote() != all[len(all)-1].quote() && !strings.Contains(s.text, c.quote()) {
			all = append(all, c)
		}
	}
	return all
}

func lastWords(s string, n int) string {
	r := []rune(s)
	at := max(0, len(r)-n)
	for at > 0 && at < len(r) && !wordBoundary(r[at-1], r[at]) {
		at++
	}
	return strings.TrimLeftFunc(string(r[at:]), unicode.IsSpace)
}

func firstWords(s string, n int) string {
	r := []rune(s)
	at := min(len(r), n)
	for at > 0 && at < len(r) && !wordBoundary(r[at-1], r[at]) {
		at--
	}
	return strings.TrimRightFunc(string(r[:at]), unicode.IsSpace)
}

func wordBoundary(a, b rune) bool {
	return unicode.IsSpace(a) || unicode.IsSpace(b) || unspaced(a) && unspaced(b)
}

// unspaced reports whether a rune is of a script without spaces between words.
func unspaced(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Khmer, unicode.Myanmar, unicode.Lao) || r == 'ー'
}

// noisy makes n typos in letters before and after the change.
func (c change) noisy(rng *rand.Rand, n int) (change, bool) {
	for range n {
		before, after := []rune(c.before), []rune(c.after)
		var places []int
		for i, r := range slices.Concat(before, after) {
			if unicode.IsLetter(r) {
				places = append(places, i)
			}
		}
		if len(places) == 0 {
			return c, false
		}
		if at := places[rng.IntN(len(places))]; at < len(before) {
			c.before = string(typo(rng, before, at))
		} else {
			c.after = string(typo(rng, after, at-len(before)))
		}
	}
	return c, c.quote() != c.of.text
}

// typo substitutes, deletes or inserts a letter.
func typo(rng *rand.Rand, r []rune, at int) []rune {
	letter := 'a' + rng.Int32N(26)
	if unicode.Is(unicode.Hangul, r[at]) && rng.IntN(2) == 0 {
		letter = '가' + rng.Int32N(11172)
	}
	if letter == unicode.ToLower(r[at]) {
		letter = 'ж'
	}
	switch r = slices.Clone(r); rng.IntN(3) {
	case 0:
		r[at] = letter
	case 1:
		r = slices.Delete(r, at, at+1)
	default:
		r = slices.Insert(r, at, letter)
	}
	return r
}

var number = regexp.MustCompile(`\d+`)

// otherNumbers changes each number of a text: another last digit, another first one, one more and one less.
func otherNumbers(text string) []string {
	var changed []string
	for _, at := range number.FindAllStringIndex(text, -1) {
		n := text[at[0]:at[1]]
		first, last := int(n[0]-'0'), int(n[len(n)-1]-'0')
		variants := []string{n[:len(n)-1] + strconv.Itoa((last+1)%10), strconv.Itoa(first%9+1) + n[1:], n + "0"}
		if len(n) > 1 {
			variants = append(variants, n[1:], n[:len(n)-1])
		}
		for _, v := range variants {
			if v != n {
				changed = append(changed, text[:at[0]]+v+text[at[1]:])
			}
		}
	}
	return changed
}

// insideNumber reports whether a cut before byte i parts the digits of one number.
func insideNumber(text string, i int) bool {
	digit := func(i int) bool { return i >= 0 && i < len(text) && text[i] >= '0' && text[i] <= '9' }
	point := func(i int) bool {
		return i >= 0 && strings.IndexByte(".,:", text[i]) >= 0 && digit(i-1) && digit(i+1)
	}
	return digit(i-1) && (digit(i) || point(i)) || point(i-1) && digit(i)
}

// ordered changes the order or the number of the words of each statement.
func ordered(tb testing.TB) []misquote {
	tb.Helper()
	all, added := statements(tb)
	rng := rand.New(rand.NewPCG(3, 1))
	var made []misquote
	for _, s := range all {
		words := strings.Fields(s.text)
		add := func(kind string, words ...[]string) {
			if quote := strings.Join(slices.Concat(words...), " "); !strings.Contains(s.text, quote) {
				made = append(made, misquote{kind, s.message(), quote})
			}
		}
		for _, i := range rng.Perm(len(words))[:min(8, len(words))] {
			if i+1 < len(words) && !strings.EqualFold(words[i], words[i+1]) {
				add("words swapped", words[:i], []string{words[i+1], words[i]}, words[i+2:])
			}
			if i > 0 && i+1 < len(words) && words[i] != words[i-1] {
				add("word dropped", words[:i], words[i+1:])
			}
			if more := added[s.language]; len(more) > 0 {
				word := more[rng.IntN(len(more))]
				add("word added", words[:i], []string{word}, words[i:])
				add("word replaced", words[:i], []string{word}, words[i+1:])
			}
		}
	}
	return made
}

// letters counts letters and digits.
func letters(text string) int {
	n := 0
	for _, r := range text {
		if unicode.IsLetter(r) || unicode.IsNumber(r) {
			n++
		}
	}
	return n
}
