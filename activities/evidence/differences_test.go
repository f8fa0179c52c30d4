package evidence

import (
	"strings"
	"testing"
	"unicode"

	"github.com/rivo/uniseg"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestDifferences(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		quote, text string
		want        []Difference
	}{
		"equal":                  {"We ship on Friday.", "We ship on Friday.", nil},
		"both empty":             {"", "", nil},
		"no quote":               {"", "Yes.", []Difference{{"", "Yes."}}},
		"no text":                {"Yes", "", []Difference{{"Yes", ""}}},
		"a digit less":           {"The invoice is 834 euros.", "The invoice is 8134 euros.", []Difference{{"834", "8134"}}},
		"a word left out":        {"We do cache sessions.", "We do not cache sessions.", []Difference{{"", "not"}}},
		"a word more":            {"We do not cache sessions.", "We do cache sessions.", []Difference{{"not", ""}}},
		"a short form":           {"We do cache it.", "We don't cache it.", []Difference{{"do", "don't"}}},
		"in order":               {"Ada has 46 cats, Bob none.", "Eve has 40 cats, Bob two.", []Difference{{"Ada", "Eve"}, {"46", "40"}, {"none", "two"}}},
		"words in a row":         {"it takes 46 long hours", "it takes 40 days", []Difference{{"46 long hours", "40 days"}}},
		"first and last":         {"no it works now", "so it works not", []Difference{{"no", "so"}, {"now", "not"}}},
		"nothing in common":      {"red fox", "blue whale", []Difference{{"red fox", "blue whale"}}},
		"case is no difference":  {"we Wait 40 Seconds", "We wait 45 seconds", []Difference{{"40", "45"}}},
		"but when nothing else":  {"we use iOS", "We use iOS", []Difference{{"we", "We"}}},
		"typographic marks":      {"“it's” -- 40", "\"It’s\" — 45", []Difference{{"40", "45"}}},
		"full stops":             {"等 40 秒.", "等 45 秒。", []Difference{{"40", "45"}}},
		"emphasis":               {"do not wait 40 s", "do **not** wait 45 s", []Difference{{"40", "45"}}},
		"superscript":            {"102 cm", "10² cm", []Difference{{"102", "10²"}}},
		"white space":            {"wait\u00a040  s", "wait 40\ns", nil},
		"no space":               {"the keyword here", "the key word here", []Difference{{"keyword", "key word"}}},
		"a question mark":        {"Does it run", "Does it run?", []Difference{{"", "?"}}},
		"a sign":                 {"at 5 degrees", "at -5 degrees", []Difference{{"5", "-5"}}},
		"another minus":          {"at -5 degrees or 6", "at −5 degrees or 7", []Difference{{"6", "7"}}},
		"a decimal":              {"1.5 GB", "15 GB", []Difference{{"1.5", "15"}}},
		"C and its children":     {"in C#, please", "in C++, please", []Difference{{"C#", "C++"}}},
		"a version":              {"use v1.5.", "use v1.6.", []Difference{{"v1.5", "v1.6"}}},
		"a path":                 {"rm /etc/host", "rm /etc/hosts", []Difference{{"/etc/host", "/etc/hosts"}}},
		"an ellipsis":            {"Keep it … forever.", "Keep it for a year, not forever.", []Difference{{"…", "for a year, not"}}},
		"Chinese":                {"我们周五发布", "我们周四发布", []Difference{{"五", "四"}}},
		"Chinese, not":           {"我们发布", "我们不发布", []Difference{{"", "不"}}},
		"Chinese with a number":  {"第46章已完成", "第40章已完成", []Difference{{"46", "40"}}},
		"Chinese marks":          {"他说“好”，走", "他说「好」,留", []Difference{{"走", "留"}}},
		"Japanese":               {"データを消す", "データを残す", []Difference{{"消", "残"}}},
		"a long vowel":           {"サーバを使う", "サーバーを使う", []Difference{{"", "ー"}}},
		"Korean":                 {"배포는 금요일에 한다", "배포는 목요일에 한다", []Difference{{"금요일에", "목요일에"}}},
		"Korean, decomposed":     {"\u1112\u1161\u11ab 달 46", "한 달 40", []Difference{{"46", "40"}}},
		"Thai":                   {"ผมไปได้", "ผมไม่ไปได้", []Difference{{"", "ไม่"}}},
		"Hindi":                  {"वह आएगा।", "वह नहीं आएगा।", []Difference{{"", "नहीं"}}},
		"Arabic":                 {"وصل ٤٦ طلبا؟", "وصل ٤٠ طلبا؟", []Difference{{"٤٦", "٤٠"}}},
		"Hebrew":                 {"אנחנו שולחים", "אנחנו לא שולחים", []Difference{{"", "לא"}}},
		"emoji":                  {"done 👩\u200d🚀", "done 👩\u200d🔬", []Difference{{"👩\u200d🚀", "👩\u200d🔬"}}},
		"zero width":             {"un\u200bseen 46", "unseen 40", []Difference{{"46", "40"}}},
		"control characters":     {"\x1b[31m46", "\x1b[31m40", []Difference{{"\x1b[31m46", "\x1b[31m40"}}},
		"mark on a space":        {"46", "46 \u0301", []Difference{{"", " \u0301"}}},
		"bytes that are no text": {"\xff 46", "\xff 40", []Difference{{"46", "40"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.want, Differences(tt.quote, tt.text))
		})
	}
}

func TestWholeWords(t *testing.T) {
	t.Parallel()
	for marked, want := range map[string]string{
		"Neve[r ship] on": "Never ship", "[Never s]hip": "Never ship", "wait 1[30 s]econds": "130 seconds", "a [b] c": "b", "[]": "", "a[]b": "ab",
		"[all]": "all", "x: [y], z": "y", "我们[周四]发布": "周四", "บ[ทท]ด": "ทท", "배포[는 금]요일": "배포는 금요일", "وص[ل ٤]٠": "وصل ٤٠",
		"e\u0301t[e\u0301]s": "e\u0301te\u0301s", "v1.[5] GB": "5", "\xff[a]\xff": "a",
	} {
		start := strings.Index(marked, "[")
		end := strings.Index(marked, "]") - 1
		text := strings.NewReplacer("[", "", "]", "").Replace(marked)
		require.Equal(t, want, WholeWords(text, start, end), marked)
	}
}

// Differences can be applied: the quote is the text with each difference's source, in order, replaced by
// its quote. If there is none, the two are equal except for white space.
func TestDifferencesAccountForAll(t *testing.T) {
	t.Parallel()
	letters := []rune("ab1不は. \u0301?-\u1112\u1161👩\u200d\n“*")
	rapid.Check(t, func(t *rapid.T) {
		quote := rapid.StringOfN(rapid.RuneFrom(letters), 0, 20, -1).Draw(t, "quote")
		text := rapid.StringOfN(rapid.RuneFrom(letters), 0, 20, -1).Draw(t, "text")
		q, rest := quote, text
		for _, d := range Differences(quote, text) {
			if d.Quote == "" && d.Source == "" {
				t.Fatalf("an empty difference")
			}
			i, j := strings.Index(q, d.Quote), strings.Index(rest, d.Source)
			if i < 0 || j < 0 {
				t.Fatalf("%q is not in %q, or %q not in %q", d.Quote, q, d.Source, rest)
			}
			q, rest = q[i+len(d.Quote):], rest[j+len(d.Source):]
		}
		same := func(s string) string {
			return strings.Map(func(r rune) rune {
				if unicode.IsSpace(r) {
					return -1
				}
				return r
			}, s)
		}
		if len(Differences(quote, text)) == 0 && same(quote) != same(text) {
			t.Fatalf("no difference between %q and %q", quote, text)
		}
	})
}

// The sequence of equal words is a longest one.
func TestDifferencesAreFew(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "d"}), 0, 12)
		q, s := texts.Draw(t, "quote"), texts.Draw(t, "text")
		list := func(words []string) wordList {
			return splitWords(strings.Join(words, " "), func(word string) string { return word })
		}
		inQ, inT := commonWords(list(q).words, list(s).words)
		var a, b []string
		for i, in := range inQ {
			if in {
				a = append(a, q[i])
			}
		}
		for i, in := range inT {
			if in {
				b = append(b, s[i])
			}
		}
		require.Equal(t, a, b)
		require.Len(t, a, longestCommon(q, s))
	})
}

func longestCommon(a, b []string) int {
	row := make([]int, len(b)+1)
	for _, x := range a {
		diagonal := 0
		for j, y := range b {
			above := row[j+1]
			row[j+1] = max(above, row[j])
			if x == y {
				row[j+1] = diagonal + 1
			}
			diagonal = above
		}
	}
	return row[len(b)]
}

// The longest quote, with as many differences as one that is found may have, is compared word by word. A
// text that has nothing to do with it takes a moment too, and is one difference.
func TestDifferencesAreBounded(t *testing.T) {
	t.Parallel()
	const longest = 4096
	var quote, text strings.Builder
	for i := range longest {
		text.WriteRune('一' + rune(i))
		if i%7 == 3 {
			quote.WriteRune('가')
			continue
		}
		quote.WriteRune('一' + rune(i))
	}
	// 가 is Hangul and so a word of its own between ideographs.
	require.Len(t, Differences(quote.String(), text.String()), longest/7)
	foreign := strings.Repeat("a b ", longest/4)
	long := strings.Repeat("x y ", 1<<17)
	require.Equal(t, []Difference{{strings.TrimSpace(foreign), strings.TrimSpace(long)}}, Differences(foreign, long))
}

// Differences are cut on the boundaries of characters as a person sees them.
func FuzzDifferences(f *testing.F) {
	f.Add("46", "40")
	f.Add("e\u0301 不", "e 不\u0301")
	f.Add("👩\u200d🚀", "👩")
	f.Fuzz(func(t *testing.T, quote, text string) {
		for _, d := range Differences(quote, text) {
			for _, side := range [][2]string{{quote, d.Quote}, {text, d.Source}} {
				require.Contains(t, side[0], side[1])
				require.Truef(t, onClusters(side[0], side[1]), "%q of %q", side[1], side[0])
			}
		}
	})
}

// onClusters reports whether some occurrence of a part of the text begins and ends between its characters.
func onClusters(text, part string) bool {
	boundaries := map[int]bool{0: true}
	g := uniseg.NewGraphemes(text)
	for g.Next() {
		_, end := g.Positions()
		boundaries[end] = true
	}
	for from := range text {
		if strings.HasPrefix(text[from:], part) && boundaries[from] && boundaries[from+len(part)] {
			return true
		}
	}
	return part == ""
}
