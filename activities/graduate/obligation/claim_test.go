package obligation

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestClaims(t *testing.T) {
	t.Parallel()
	for title, want := range map[string][]string{
		"Anna likes her garden":                      nil,
		"Der Hund schläft im Haus":                   nil,
		"The limit is 1.5 GB":                        {"1.5", "gb"},
		"Retry 3 times, then 10.":                    {"3", "10"},
		"Uses C++ and C#, not F#":                    {"c++", "c#", "f#"},
		"parse_url fails in cmd/main.go:42":          {"parse_url", "cmd/main.go:42"},
		"std::vector beats malloc":                   {"std::vector"},
		"ClickHouse keeps it":                        {"clickhouse"},
		"readPulse() hangs":                          {"readpulse"},
		"It runs on GPT-4 and k8s":                   {"gpt-4", "k8s"},
		"A 5-minute timeout":                         {"5"},
		"On 2026-05-04 at 10:30":                     {"2026-05-04", "10:30"},
		"It fell to -5 degrees":                      {"-5"},
		"It fell to −5 degrees":                      {"-5"},
		"Costs $5 or 7 €":                            {"$5", "7"},
		"About 1,000 users, 20 % of all":             {"1,000", "20%"},
		"See https://example.org/a?b":                {"https://example.org/a"},
		"Port (8080) is **open**":                    {"8080"},
		"制限は3.5秒です":                                  {"3.5"},
		"使用ClickHouse数据库":                            {"clickhouse"},
		"서버는 3.2를 쓰고 Python을 쓴다":                     {"3.2"},
		"يبقى ٣٠ يوما":                               {"30"},
		"सीमा ४.५ है":                                {"4.5"},
		"Ｃ＋＋ １２":                                     {"c++", "12"},
		"10⁶ rows":                                   {"10⁶"},
		"½ litre":                                    {"½"},
		"МГУ открыт до 18":                           {"мгу", "18"},
		"API-шный вызов":                             {"api"},
		"`foo_bar`, 'x.y' and \"a/b\"":               {"foo_bar", "x.y", "a/b"},
		"__init__ runs":                              nil,
		"It's done, isn't it?":                       nil,
		"wait... what?! -- no - yes":                 nil,
		"\u200bv1\u200b.2":                           {"v1.2"},
		"Anna's e-mail is anna@example.org, line 3.": {"anna@example.org", "3"},
		"Set retries=3":                              {"retries=3"},
		"Pay 5$ or 5€ or 5%":                         {"5", "5", "5%"},
		"π is 3.14 and µs are short":                 {"3.14"},
		"Turkish: 3'te, İSTANBUL":                    {"3", "istanbul"},
		"Only .5 of it":                              {".5"},
	} {
		assert.Equal(t, want, ClaimsOf(title), title)
	}
}

// claimed reports whether each claim of a title is among the words of a text.
func claimed(title, text string) bool {
	words := Words(text)
	return !slices.ContainsFunc(ClaimsOf(title), func(c string) bool { return !slices.Contains(words, c) })
}

func TestWordsStateClaims(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		title, evidence string
		want            bool
	}{
		{"The limit is 1.5", "We set 1.5 as the limit.", true},
		{"The limit is 1.5", "We set 15 as the limit.", false},
		{"The limit is 15", "We set 1.5 as the limit.", false},
		{"The limit is 5", "We set 1.5 as the limit.", false},
		{"Uses C++", "we use c++.", true},
		{"Uses C++", "We use C# and C.", false},
		{"Uses C#", "We use C++.", false},
		{"ClickHouse is used", "clickhouse is what we use", true},
		{"main.go fails", "It fails in cmd/main.go:42.", true},
		{"It fails at 42", "It fails in cmd/main.go:42.", false},
		{"GPT-4 is used", "GPT-3 is used 4 times", false},
		{"-5 degrees", "5 degrees", false},
		{"Keep 30 days", "يبقى ٣٠ يوما", true},
		{"10⁶ rows", "106 rows", false},
		{"Keep three days", "Keep 3 days", true},
		{"Keep 3 days", "Keep three days", false},
		{"parse_url fails", "`parse_url` fails", true},
		{"OpenAI is down", "Open AI is down", false},
		{"20% left", "20 % left", true},
		{"20% left", "20 left", false},
		{"Version 3.2", "버전은 3.2를 씁니다", true},
	} {
		assert.Equal(t, c.want, claimed(c.title, c.evidence), "%q from %q", c.title, c.evidence)
	}
}

// A text states all of its own claims, in any case and among any sentences.
func TestTextStatesItself(t *testing.T) {
	t.Parallel()
	piece := rapid.SampledFrom([]string{
		"1", "٣", "a", "B", "ß", "ж", "漢", "한", "ด", " ", "\n", ".", ",", "-", "+", "#", "_", "/", ":", "::", "%", "'", "$", "€", "́", "\u200d",
		"²", "½", "(", "\"", "İ", "ﬁ", "Ａ", "１", "＋",
	})
	rapid.Check(t, func(t *rapid.T) {
		title := strings.Join(rapid.SliceOf(rapid.OneOf(piece, rapid.StringN(0, 3, -1))).Draw(t, "title"), "")
		require.True(t, claimed(title, title))
		require.True(t, claimed(title, "So it is: \n"+title+"\nThat is all."))
		for _, word := range Words(title) {
			require.True(t, utf8.ValidString(word))
		}
	})
}

func FuzzClaims(f *testing.F) {
	for _, title := range []string{"C++ 1.5", "a::b", "٣٠", "20 %", "x-1", "\xff1"} {
		f.Add(title)
	}
	f.Fuzz(func(t *testing.T, title string) {
		title = strings.ToValidUTF8(title, "\uFFFD")
		require.True(t, claimed(title, title), "%q: %q of %q", title, ClaimsOf(title), Words(title))
	})
}

func BenchmarkWords(b *testing.B) {
	text := strings.Repeat("We keep 30 days of logs in cmd/main.go:42, says Anna; 서버는 3.2를 씁니다. ", 100)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		Words(text)
	}
}
