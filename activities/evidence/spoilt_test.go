package evidence_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"golang.org/x/text/unicode/norm"

	"axiommind/activities/evidence"
	"axiommind/schema"
)

// leastExact is the minimum share of found quotes with exact boundaries. A typo at an end of a quote leaves no certain
// boundary.
const leastExact, leastExactTyped = 0.995, 0.96

// spoiler is a way in which a quote differs from its source without a change of meaning.
type spoiler struct {
	name string
	// message changes the message before a stretch is cut out of it, text every part of it after that, and
	// quote the stretch. Nil changes nothing.
	message, text, quote func(m maker, text string) string
	// within cuts the stretch between letters or digits, so that no mark is in doubt.
	within bool
}

func spoilers() []spoiler {
	spaces := []string{"\u00a0", "\u3000", "\u2000", "\u2003", "\u2007", "\u2009", "\u202f", "\u205f", "\u1680"}
	runs := []string{"   ", "\n", "\n  ", "\t", " \u00a0", "\u3000 ", "\u2009\u200b", "\u0085", "\u2028"}
	return []spoiler{
		{name: "verbatim"},
		{name: "spaces of the message", message: respace(runs, 12), quote: collapse},
		{name: "most spaces of the message", message: respace(spaces, 50), quote: collapse},
		{name: "spaces of the quote", quote: respace(spaces, 30)},
		{name: "wrapped", quote: respace([]string{"\n    "}, 20)},
		{name: "spaces of both", message: respace(spaces, 40), quote: respace(spaces, 40)},
		{name: "no width for a space", text: respace([]string{"\u200b", "\u00a0"}, 12)},
		{name: "not seen in the message", message: hide, quote: collapse},
		{name: "not seen in the quote", quote: hide},
		{name: "width and case of the message", message: widenWords, quote: func(m maker, s string) string {
			return collapse(m, strings.ToLower(norm.NFKC.String(s)))
		}},
		{name: "capitals", quote: func(_ maker, s string) string { return strings.ToUpper(s) }},
		{name: "full-width quote", quote: replacer(", ", "，", "; ", "；", ": ", "：", " (", "（", ") ", "）", "!", "！", "?", "？")},
		{name: "full-width message", message: replacer(", ", "，", "; ", "；", " (", "（", ") ", "）", "?", "？"), quote: narrow},
		{name: "typographic quote", quote: func(m maker, s string) string { return adorn(m, curl(m, s)) }},
		{name: "typographic message", message: func(m maker, s string) string { return adorn(m, curl(m, s)) }, quote: straighten},
		{name: "plain quote", quote: replacer("—", "--", "…", "...", "`", "'")},
		{name: "marks dropped at words", quote: drop("[.,:;!?…—\"()`]+(\\s|$)|(^|\\s)[\"(`]", 100, ""), within: true},
		{name: "some marks dropped", quote: drop("[.,:;!?…—\"()`]+(\\s|$)|(^|\\s)[\"(`]", 35, ""), within: true},
		{name: "marks to spaces", quote: keepVersions(drop("[^\\pL\\pN\\pS\\pC\\s_]|`", 100, " ")), within: true},
		{name: "all but words dropped", quote: drop(`[^\pL\pN\s_]`, 100, ""), within: true},
		{name: "other marks", quote: swapMarks, within: true},
		{name: "emphasis of the message", message: emphasize, quote: replacer("**", "", "*", "", "__", "", "~~", "", "`", ""), within: true},
		{name: "emphasis of the quote", quote: emphasize, within: true},
		{name: "typos", quote: mistype, within: true},
	}
}

// TestSpoiltQuotesKeepTheirBoundaries: a quote whose differences no reader minds is found where it was cut out.
func TestSpoiltQuotesKeepTheirBoundaries(t *testing.T) {
	t.Parallel()
	const each = 200
	texts := prose(t)
	for _, s := range spoilers() {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			m := newMaker(t, uint64(len(s.name)))
			var o outcome
			exact, ambiguous := 0, 0
			for i := range each {
				text := m.message()
				if names := []string{"english", "korean", "chinese"}; i%4 == 0 && !s.within {
					text = texts[names[i/4%len(names)]]
				}
				text, quote, x := s.item(m, text)
				e := align(text, quote)
				o.add(e)
				require.True(t, e.Found, "%s\n  quote  %q\n  source %q", e.Reason, quote, text[x[0]:x[1]])
				require.NoError(t, evidence.Verify(text, e, evidence.Rule))
				if e.Reason == schema.ReasonAmbiguous {
					ambiguous++
				}
				if slices.ContainsFunc(append(e.Occurrences, e.Span), func(s schema.Span) bool { return s.ByteStart == x[0] && s.ByteEnd == x[1] }) {
					exact++
				} else {
					t.Logf("other boundaries by method %q\n  quote  %q\n  source %q\n  found  %q", e.Method, quote, text[x[0]:x[1]], e.Text)
				}
			}
			t.Logf("%-30s exact boundaries %d; %s", s.name, exact, &o)
			least := leastExact
			if s.name == "typos" {
				least = leastExactTyped
			}
			require.GreaterOrEqual(t, float64(exact), least*float64(o.found))
			require.Less(t, ambiguous, each/20)
		})
	}
}

// item makes a message and a quote of the stretch of it between two bytes.
func (s spoiler) item(m maker, text string) (message, quote string, at [2]int) {
	change := func(f func(maker, string) string, text string) string {
		if f == nil {
			return text
		}
		return f(m, text)
	}
	text = change(s.message, text)
	start, end := m.cut(text, 40, s.within)
	quote = change(s.quote, text[start:end])
	if s.text == nil {
		return text, quote, [2]int{start, end}
	}
	before, stretch := s.text(m, text[:start]), s.text(m, text[start:end])
	return before + stretch + s.text(m, text[end:]), quote, [2]int{len(before), len(before) + len(stretch)}
}

// TestEveryPlaceIsListed: every place of a stretch that is in a message several times is listed.
func TestEveryPlaceIsListed(t *testing.T) {
	t.Parallel()
	sentenceEnd := regexp.MustCompile(`[.?!…]\s+|;\t`)
	m := newMaker(t, 1)
	insert := func(text, stretch string, copies int) string {
		for range copies {
			ends := sentenceEnd.FindAllStringIndex(text, -1)
			at := ends[m.IntN(len(ends))][1]
			text = text[:at] + stretch + pick(m, []string{" ", ". ", "\n", ", "}) + text[at:]
		}
		return text
	}
	for name, compose := range map[string]func(text, stretch string) string{
		"after a sentence": func(text, stretch string) string { return insert(text, stretch, 1) },
		"several":          func(text, stretch string) string { return insert(text, stretch, 3) },
		"at the end":       func(text, stretch string) string { return text + m.sentence() + stretch },
		"message twice":    func(text, _ string) string { return text + pick(m, []string{"", "\n\n", "---\n"}) + text },
		"side by side": func(text, stretch string) string {
			return strings.Replace(text, stretch, stretch+pick(m, []string{"", " ", "\n", " / "})+stretch, 1)
		},
	} {
		for range 100 {
			text := m.message()
			start, end := m.cut(text, 40, true)
			stretch := text[start:end]
			text = compose(text, stretch)
			var want []int
			for at := 0; ; {
				i := strings.Index(text[at:], stretch)
				if i < 0 {
					break
				}
				want, at = append(want, at+i), at+i+len(stretch)
			}
			if len(want) < 2 {
				continue // the copy was put into the stretch
			}
			for _, quote := range []string{stretch, collapse(m, strings.ToLower(stretch))} {
				e := align(text, quote)
				require.Equal(t, schema.ReasonAmbiguous, e.Reason, "%s: %q in %q", name, quote, text)
				require.NoError(t, evidence.Verify(text, e, evidence.Rule))
				var got []int
				for _, s := range e.Occurrences {
					got = append(got, s.ByteStart)
				}
				if quote == stretch {
					require.Equal(t, want, got, "%s: %q in %q", name, quote, text)
				}
				require.Subset(t, got, want, "%s: %q in %q", name, quote, text)
			}
		}
	}
}

// maker makes messages of the words of two languages, as technical notes have them.
type maker struct {
	*rand.Rand
	latin, korean []string
}

func newMaker(tb testing.TB, seed uint64) maker {
	tb.Helper()
	all := lines(tb, "words.txt")
	return maker{rand.New(rand.NewPCG(seed, 0x65766964656e6365)), strings.Fields(all[0]), strings.Fields(all[1])}
}

func pick[T any](m maker, from []T) T { return from[m.IntN(len(from))] }

// chance reports true with a probability of percent in a hundred.
func (m maker) chance(percent int) bool { return m.IntN(100) < percent }

var (
	joints      = []string{" ", " ", " ", " ", " ", " ", ", ", ", ", "; ", ": ", " — ", " (", ") ", "\" ", " \"", "` ", " `", "-", "/"}
	terminators = []string{". ", ". ", ". ", "? ", "! ", "… ", ";\t", ".\n", ".\n\n", ".\r\n"}
)

func (m maker) token() string {
	switch n := m.IntN(1000); {
	case n < 450:
		return pick(m, m.latin)
	case n < 850:
		return pick(m, m.korean)
	case n < 900:
		return fmt.Sprint(m.IntN(10000))
	case n < 930:
		return fmt.Sprintf("v%d.%d.%d", m.IntN(10), m.IntN(21), m.IntN(10))
	case n < 950:
		return fmt.Sprintf("#%d", 1+m.IntN(999))
	case n < 970:
		return pick(m, m.latin) + "_" + pick(m, m.latin)
	case n < 985:
		return "new" + strings.ToUpper(pick(m, m.latin)[:1]) + "Pool()"
	}
	return pick(m, []string{"🎯", "🔥", "문서📎"})
}

func (m maker) sentence() string {
	var b strings.Builder
	for i := range 6 + m.IntN(9) {
		if i > 0 {
			b.WriteString(pick(m, joints))
		}
		b.WriteString(m.token())
	}
	return b.String() + pick(m, terminators)
}

func (m maker) message() string {
	var b strings.Builder
	for range 6 + m.IntN(6) {
		b.WriteString(m.sentence())
	}
	return b.String()
}

// cut chooses a stretch of a text, of up to 140 characters, that stands there once and has no white space or
// character without width at its ends.
func (m maker) cut(text string, least int, within bool) (start, end int) {
	soft := func(r rune) bool { return unicode.IsSpace(r) || unicode.Is(unicode.Cf, r) }
	alphanumeric := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
	runes := []rune(text)
	for {
		n := least + m.IntN(141-least)
		if n > len(runes)-2 {
			continue
		}
		from := m.IntN(len(runes) - n)
		stretch := string(runes[from : from+n])
		trimmed := strings.TrimLeftFunc(stretch, soft)
		start = len(string(runes[:from])) + len(stretch) - len(trimmed)
		trimmed = strings.TrimRightFunc(trimmed, soft)
		first, _ := utf8.DecodeRuneInString(trimmed)
		last, _ := utf8.DecodeLastRuneInString(trimmed)
		if strings.Count(text, trimmed) == 1 && (!within || alphanumeric(first) && alphanumeric(last)) {
			return start, start + len(trimmed)
		}
	}
}

func respace(by []string, percent int) func(m maker, text string) string {
	return func(m maker, text string) string {
		var b strings.Builder
		for _, r := range text {
			if r == ' ' && m.chance(percent) {
				b.WriteString(pick(m, by))
				continue
			}
			b.WriteRune(r)
		}
		return b.String()
	}
}

// collapse makes one space of every run of white space, and drops invisible characters.
func collapse(_ maker, text string) string {
	return strings.Join(strings.Fields(strings.Map(visible, text)), " ")
}

// hide puts invisible characters into words and next to spaces.
func hide(m maker, text string) string {
	var b strings.Builder
	var last rune
	for _, r := range text {
		if (unicode.IsLetter(last) || last == ' ') && unicode.IsLetter(r) && m.chance(6) {
			b.WriteString(pick(m, []string{"\u200b", "\ufeff", "\u2060", "\u00ad"}))
		}
		b.WriteRune(r)
		last = r
	}
	return b.String()
}

var longWord = regexp.MustCompile(`[A-Za-z0-9]{3,}`)

// widenWords writes some words in full width or in capitals.
func widenWords(m maker, text string) string {
	return longWord.ReplaceAllStringFunc(text, func(word string) string {
		switch {
		case m.chance(15):
			return strings.Map(func(r rune) rune { return r - '!' + '！' }, word)
		case m.chance(20):
			return strings.ToUpper(word)
		}
		return word
	})
}

func replacer(pairs ...string) func(maker, string) string {
	r := strings.NewReplacer(pairs...)
	return func(_ maker, text string) string { return r.Replace(text) }
}

var (
	adorn      = replacer("—", "–", "…", "...", "`", "‘", "-", "‐")
	straighten = replacer("“", `"`, "”", `"`, "„", `"`, "«", `"`, "»", `"`, "″", `"`, "‘", "'", "–", "-", "‐", "-")
)

func narrow(m maker, text string) string { return collapse(m, norm.NFKC.String(text)) }

// curl turns straight quotation marks into opening and closing ones by turns.
func curl(m maker, text string) string {
	pair := pick(m, [][2]string{{"“", "”"}, {"„", "“"}, {"«", "»"}, {"″", "″"}})
	for i := 0; strings.Contains(text, `"`); i++ {
		text = strings.Replace(text, `"`, pair[i%2], 1)
	}
	return text
}

// drop removes a share of the marks that a pattern matches, in percent. The white space of a match stays.
func drop(pattern string, percent int, by string) func(m maker, text string) string {
	marks := regexp.MustCompile(pattern)
	return func(m maker, text string) string {
		return collapse(m, marks.ReplaceAllStringFunc(text, func(match string) string {
			if !m.chance(percent) {
				return match
			}
			return by + strings.Map(func(r rune) rune {
				if unicode.IsSpace(r) {
					return r
				}
				return -1
			}, match)
		}))
	}
}

var dotted = regexp.MustCompile(`\d+(\.\d+)+`)

// keepVersions spoils a text but for the points of its versions.
func keepVersions(spoil func(m maker, text string) string) func(m maker, text string) string {
	const point = "\ue000"
	return func(m maker, text string) string {
		text = dotted.ReplaceAllStringFunc(text, func(v string) string { return strings.ReplaceAll(v, ".", point) })
		return strings.ReplaceAll(spoil(m, text), point, ".")
	}
}

var pointInText = regexp.MustCompile(`[,;:.!?](\s)`)

func swapMarks(m maker, text string) string {
	return pointInText.ReplaceAllStringFunc(text, func(match string) string {
		return pick(m, []string{",", ";", ":", "."}) + match[1:]
	})
}

var plainWords = regexp.MustCompile(` \pL{2,} `)

// emphasize sets some words inside a text in Markdown emphasis.
func emphasize(m maker, text string) string {
	return plainWords.ReplaceAllStringFunc(text, func(word string) string {
		around := pick(m, []string{"**", "*", "__", "", ""})
		return " " + around + strings.TrimSpace(word) + around + " "
	})
}

// mistype edits 2 to 7 % of the characters of a quote wherever they are, save the first and the last: half of
// them substitutions, a quarter each deletions and insertions.
func mistype(m maker, text string) string {
	quote := []rune(text)
	for range int(math.Round(float64(len(quote)) * (0.02 + 0.05*m.Float64()))) {
		at := 1 + m.IntN(len(quote)-2)
		switch m.IntN(4) {
		case 0:
			quote = slices.Delete(quote, at, at+1)
		case 1:
			quote = slices.Insert(quote, at, pick(m, []rune("aeiou가이은는")))
		default:
			quote[at] = pick(m, []rune("abdefghijklmnopqrstuvwxyz가나다라마바사"))
		}
	}
	return string(quote)
}
