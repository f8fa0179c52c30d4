package evidence

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

var (
	adorned   = strings.NewReplacer("—", "–", "…", "...", "`", "‘", "-", "‐")
	straight  = strings.NewReplacer("“", `"`, "”", `"`, "„", `"`, "«", `"`, "»", `"`, "″", `"`, "‘", "'", "–", "-", "‐", "-")
	unadorned = strings.NewReplacer("—", "--", "…", "...", "`", "'")
	fullWidth = strings.NewReplacer(", ", "，", "; ", "；", ": ", "：", " (", "（", ") ", "）", "!", "！", "?", "？")
)

// curl turns straight quotes into opening and closing ones by turns.
func (m maker) curl(text string) string {
	pair := pick(m, [][2]string{{"“", "”"}, {"„", "“"}, {"«", "»"}, {"″", "″"}})
	for i := 0; strings.Contains(text, `"`); i++ {
		text = strings.Replace(text, `"`, pair[i%2], 1)
	}
	return text
}

// punctuated makes items of two changes: compose changes the message before the stretch is cut,
// spoil the quote. Where spoil loses marks, the stretch is cut between letters.
func punctuated(compose, spoil func(m maker, text string) string, losesMarks bool) recipe {
	return func(m maker) (string, string, []extent) {
		text := compose(m, m.message())
		cut := m.cut
		if losesMarks {
			cut = m.cutWithin
		}
		x := cut(text, 40)
		return text, spoil(m, text[x.start:x.end]), []extent{x}
	}
}

var (
	anyMark     = regexp.MustCompile("[.,:;!?…—\"`()#]|--")
	outerPoint  = regexp.MustCompile(`[.,:;!?…—"()` + "`" + `]+(\s|$)|(^|\s)["(` + "`]")
	everyMark   = regexp.MustCompile("[^\\pL\\pN\\pS\\pC\\s_]|`")
	pointInText = regexp.MustCompile(`[,;:.!?](\s)`)
	noWord      = regexp.MustCompile(`[^\pL\pN\s_]`)
	dotted      = regexp.MustCompile(`\d+(\.\d+)+`)
)

// drop removes a share of the marks that a pattern matches, in percent. The white space of a match
// stays.
func drop(pattern *regexp.Regexp, percent int, by string) func(m maker, text string) string {
	return func(m maker, text string) string {
		return collapse(pattern.ReplaceAllStringFunc(text, func(match string) string {
			if !m.chance(percent) {
				return match
			}
			return strings.Map(func(r rune) rune {
				if unicode.IsSpace(r) {
					return r
				}
				return -1
			}, match) + by
		}))
	}
}

// keepVersions spoils what lies between the versions of a text.
func keepVersions(spoil func(m maker, text string) string) func(m maker, text string) string {
	const point = "\ue000"
	return func(m maker, text string) string {
		text = dotted.ReplaceAllStringFunc(text, func(version string) string {
			return strings.ReplaceAll(version, ".", point)
		})
		return strings.ReplaceAll(spoil(m, text), point, ".")
	}
}

// emphasize sets some words inside a text in Markdown emphasis.
func emphasize(m maker, text string) string {
	words := strings.Split(text, " ")
	for i, word := range words {
		if i == 0 || i == len(words)-1 {
			continue
		}
		first, _ := utf8.DecodeRuneInString(word)
		last, _ := utf8.DecodeLastRuneInString(word)
		if alphanumeric(first) && alphanumeric(last) && !strings.ContainsAny(word, "_`\n\t") && m.chance(15) {
			around := pick(m, []string{"**", "*", "__", "~~", "`"})
			words[i] = around + word + around
		}
	}
	return strings.Join(words, " ")
}

func unemphasized(_ maker, text string) string {
	return strings.NewReplacer("**", "", "*", "", "__", "", "~~", "", "`", "").Replace(text)
}

// enclosed adds punctuation at the ends of a quote where the message has none.
func enclosed(by ...[2]string) recipe {
	return func(m maker) (string, string, []extent) {
		for {
			text := m.message()
			x := m.cutWithin(text, 40)
			last, _ := utf8.DecodeLastRuneInString(strings.TrimRightFunc(text[:x.start], unicode.IsSpace))
			first, _ := utf8.DecodeRuneInString(strings.TrimLeftFunc(text[x.end:], unicode.IsSpace))
			// A full stop behind a cut number makes another number.
			if alphanumeric(last) && alphanumeric(first) && !cutsNumber(text, x.end) {
				ends := pick(m, by)
				return text, ends[0] + text[x.start:x.end] + ends[1], []extent{x}
			}
		}
	}
}

// swapMarks puts other punctuation after some words.
func swapMarks(m maker, text string) string {
	return pointInText.ReplaceAllStringFunc(text, func(match string) string {
		return pick(m, []string{",", ";", ":", "."}) + match[1:]
	})
}

func typographic(m maker, text string) string { return adorned.Replace(m.curl(text)) }

func straightened(_ maker, text string) string { return straight.Replace(text) }

func unadornedText(_ maker, text string) string { return unadorned.Replace(text) }

func widened(_ maker, text string) string { return fullWidth.Replace(text) }

func narrowed(_ maker, text string) string { return collapse(norm.NFKC.String(text)) }

func unchanged(_ maker, text string) string { return text }

var punctuations = []caseMaker{
	{"typographic quote", punctuated(unchanged, typographic, false)},
	{"typographic message", punctuated(typographic, straightened, false)},
	{"plain quote", punctuated(unchanged, unadornedText, false)},
	{"full-width quote", punctuated(unchanged, widened, false)},
	{"full-width message", punctuated(widened, narrowed, false)},
	{"dropped at words", punctuated(unchanged, drop(outerPoint, 100, ""), true)},
	{"some dropped", punctuated(unchanged, drop(outerPoint, 35, ""), true)},
	{"most dropped", punctuated(unchanged, keepVersions(drop(anyMark, 70, "")), true)},
	{"all dropped", punctuated(unchanged, keepVersions(drop(everyMark, 100, "")), true)},
	{"all to spaces", punctuated(unchanged, keepVersions(drop(everyMark, 100, " ")), true)},
	{"all but words dropped", punctuated(unchanged, drop(noWord, 100, ""), true)},
	{"swapped", punctuated(unchanged, swapMarks, true)},
	{"in quotation marks", enclosed([2]string{`"`, `"`}, [2]string{"“", "”"}, [2]string{"「", "」"})},
	{"ended with points", enclosed([2]string{"", "."}, [2]string{"", "…"}, [2]string{"...", "..."})},
	{"in Markdown", enclosed([2]string{"> ", ""}, [2]string{"**", "**"})},
	{"emphasis in the message", punctuated(emphasize, unemphasized, true)},
	{"emphasis in the quote", punctuated(unchanged, emphasize, true)},
}
