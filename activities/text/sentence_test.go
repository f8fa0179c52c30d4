package text

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rivo/uniseg"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// pieces returns the sentences of a text, by the results of Begins and Ends for each byte.
func pieces(s string) []string {
	b := NewBoundaries(s)
	var out []string
	begun := -1
	for at := 0; at <= len(s); at++ {
		if begun >= 0 && b.Ends(at) {
			out = append(out, s[begun:at])
			begun = -1
		}
		if b.Begins(at) {
			begun = at // The last of several is where the sentence behind the marks of a line begins.
		}
	}
	return out
}

func TestSentencesOfLanguages(t *testing.T) {
	t.Parallel()
	for lang, sentences := range map[string][]string{
		"en": {"It works.", "Does it?", "Yes!", "Then go on."},
		"de": {"Die Prüfung läuft noch.", "Warum?", "„Komm.“", "Dann ging er."},
		"fr": {"Il l’a dit.", "« Vraiment ? »", "« Oui. »", "Pourquoi ?", "Bien !"},
		"es": {"No lo sé.", "¿Por qué falla?", "¡Basta!", "Ya está."},
		"it": {"È finito.", "Perché?", "Non lo so."},
		"pt": {"Não está pronto.", "Por quê?", "Amanhã."},
		"nl": {"Het is klaar.", "Vanavond niet.", "Waarom?"},
		"pl": {"Gotowe.", "Dlaczego?", "Źle działa."},
		"cs": {"Hotovo.", "Proč?", "Číslo je špatně."},
		"sv": {"Klart.", "Varför?", "Åtgärda det."},
		"da": {"Færdig.", "»Kom.«", "Så gik han."},
		"tr": {"Bitti.", "İyi mi?", "Işık yok."},
		"vi": {"Đã xong.", "Tại sao?", "Ổn rồi."},
		"id": {"Sudah selesai.", "Mengapa?", "Belum."},
		"ru": {"Готово.", "Почему?", "«Да.»", "Он ушёл."},
		"uk": {"Зроблено.", "Чому?", "Їй відомо."},
		"el": {"Τι έγινε;", "Ξέρεις το Temporal;", "«Γιατί;»", "Τίποτα."},
		"ar": {"لم يكتمل الاختبار.", "هل وصل؟", "نعم."},
		"fa": {"آزمون تمام نشد.", "چرا؟", "نمی\u200cدانم."},
		"ur": {"کام مکمل ہے۔", "کیوں؟", "معلوم نہیں۔"},
		"he": {"הבדיקה לא הסתיימה.", "למה?", "לא יודע."},
		"hi": {"काम पूरा हुआ।", "क्यों?", "पता नहीं।"},
		"bn": {"কাজ শেষ।", "কেন?", "জানি না।"},
		"mr": {"काम झाले.", "का?", "माहीत नाही."},
		"ta": {"வேலை முடிந்தது.", "ஏன்?", "தெரியாது."},
		"te": {"పని పూర్తయింది.", "ఎందుకు?", "తెలియదు."},
		"ko": {"배포를 끝냈습니다.", "왜 안 되나요?", "모르겠습니다."},
		"ka": {"დასრულდა.", "რატომ?", "არ ვიცი."},
		"hy": {"Ավարտված է։", "Ինչո՞ւ։", "Չգիտեմ։"},
		"am": {"ሥራው ተጠናቋል።", "ለምን፧", "አላውቅም።"},
		"my": {"အလုပ်ပြီးပြီ။", "ဘာကြောင့်လဲ။", "မသိဘူး။"},
		"km": {"ការងារចប់ហើយ។", "ហេតុអ្វី?", "មិនដឹងទេ៕"},
		"mn": {"ᠪᠢ ᠮᠡᠳᠡᠨ\u180eᠡ᠃", "ᠲᠡᠢᠮᠦ᠃"},
		"th": {"งานเสร็จแล้ว ยังไม่ได้ทดสอบ"},
		"lo": {"ວຽກສຳເລັດແລ້ວ ຍັງບໍ່ໄດ້ທົດສອບ"},
		"bo": {"ལས་ཀ་ཚར་སོང་། ད་དུང་མ་ཚར།"},
	} {
		t.Run(lang, func(t *testing.T) {
			t.Parallel()
			for _, between := range []string{" ", "  ", "\u00a0", "\u202f", "\u3000", "\t", "\n", "\r\n", "\u0085", "\u2028", "\u2029 ", " \u200b"} {
				require.Equal(t, sentences, pieces(strings.Join(sentences, between)), "%q", between)
			}
		})
	}
	for lang, sentences := range map[string][]string{
		"zh": {"测试还没结束。", "为什么？", "他说：“好。”", "然后走了！", "“明天见。”", "（见下文）好。", "完。"},
		"ja": {"契約書を送ります。", "「はい。」", "なぜですか？", "『了解！』", "分かりません｡", "終わり。"},
		"ko": {"끝났습니다.", "왜요?", "그럼 갑시다."},
		"bo": {"ལས་ཀ་ཚར་སོང་།"},
	} {
		require.Equal(t, sentences, pieces(strings.Join(sentences, "")), lang)
	}
}

func TestSentences(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		text string
		want []string
	}{
		"abbreviation":            {"See e.g. this, i.e. that.", []string{"See e.g. this, i.e. that."}},
		"abbreviation, capital":   {"Ask Dr. Smith.", []string{"Ask Dr.", "Smith."}},
		"before a comma":          {"Apples, etc., are in. Go.", []string{"Apples, etc., are in.", "Go."}},
		"abbreviation and space":  {"siehe z.\u00a0b. das", []string{"siehe z.\u00a0b. das"}},
		"decimals":                {"It rose 1.5 to 2.75 %. Then it fell to .5 again.", []string{"It rose 1.5 to 2.75 %.", "Then it fell to .5 again."}},
		"decimal comma":           {"Es sind 1.234,56 €. Mehr nicht.", []string{"Es sind 1.234,56 €.", "Mehr nicht."}},
		"URL":                     {"See https://a.example/x.html?q=1&r=A#Top now. Then go.", []string{"See https://a.example/x.html?q=1&r=A#Top now.", "Then go."}},
		"URL at the end":          {"See https://a.example/. Then go.", []string{"See https://a.example/.", "Then go."}},
		"file names":              {"Open README.md, net/http.Server and main.go. Then 보고서.PDF 열기.", []string{"Open README.md, net/http.Server and main.go.", "Then 보고서.PDF 열기."}},
		"code":                    {"Return if err != nil or !ok. Use x.(T) and a?.B here.", []string{"Return if err != nil or !ok.", "Use x.(T) and a?.B here."}},
		"section number":          {"Read 3.B first.", []string{"Read 3.B first."}},
		"footnote":                {"It is so.[3] More.", []string{"It is so.[3] More."}},
		"ellipsis, small":         {"Wait ... then go.", []string{"Wait ... then go."}},
		"ellipsis, capital":       {"Wait... Then go.", []string{"Wait...", "Then go."}},
		"ellipsis character":      {"Wait… Then go.", []string{"Wait… Then go."}},
		"closing quote":           {"“No.” He left. 'Stop!' \"Why?\" (So.) Well.", []string{"“No.”", "He left.", "'Stop!'", "\"Why?\"", "(So.)", "Well."}},
		"said":                    {"\"Why?\" he asked. “Go!” she said.", []string{"\"Why?\" he asked.", "“Go!” she said."}},
		"emphasis":                {"**Done.** The parser works. *Really?* _Yes._ ~~No.~~ `X.` End", []string{"**Done.**", "The parser works.", "*Really?*", "_Yes._", "~~No.~~", "`X.`", "End"}},
		"emphasis in a quotation": {"(\"**Done.**\") Next.", []string{"(\"**Done.**\")", "Next."}},
		"emphasis, no spaces":     {"**完成。**然后**发布。**好。**新**的。", []string{"**完成。**", "然后**发布。**", "好。", "**新**的。"}},
		"emoji":                   {"Done! 🎉 Next 👩‍💻. 👍🏽 Good.👋🏽 Bye", []string{"Done!", "🎉 Next 👩‍💻.", "👍🏽 Good.", "👋🏽 Bye"}},
		"skin behind a stop":      {"Done.🏽 Next", []string{"Done.🏽 Next"}},
		"accented space":          {"Done. \u0301x. Next", []string{"Done. \u0301x.", "Next"}},
		"colon and semicolon":     {"Note: do it; then go. Ok", []string{"Note: do it; then go.", "Ok"}},
		"Greek letter":            {"Let α be 1; then β. End", []string{"Let α be 1; then β.", "End"}},
		"Chinese semicolon":       {"先做这个；再做那个。好", []string{"先做这个；再做那个。", "好"}},
		"mixed marks":             {"Really?! Yes!! 真的？！好", []string{"Really?!", "Yes!!", "真的？！", "好"}},
		"column marks":            {"真︒好︖完", []string{"真︒", "好︖", "完"}},
		"white space":             {" \t\u3000\u200b\n \u00a0", nil},
		"empty":                   {"", nil},
		"no width":                {"\ufeffHello.\u200b \u2060Next.\u00ad", []string{"Hello.", "Next."}},
		"flag of tags":            {"See 🏴󠁧󠁢󠁥󠁮󠁧󠁿 Next", []string{"See 🏴󠁧󠁢󠁥󠁮󠁧󠁿 Next"}},
		"flag at the end":         {"See 🏴󠁧󠁢󠁥󠁮󠁧󠁿\nNext", []string{"See 🏴󠁧󠁢󠁥󠁮󠁧󠁿", "Next"}},
		"many spaces": {"One." + strings.Repeat(" ", 99) + "Two." + strings.Repeat("\u00a0", 99) + "three." + strings.Repeat(")", 99) + " Four",
			[]string{"One.", "Two." + strings.Repeat("\u00a0", 99) + "three." + strings.Repeat(")", 99), "Four"}},
		"lines":     {"One\n\nTwo\rThree\vFour\fFive\u0085Six\u2028Seven\u2029Eight", strings.Fields("One Two Three Four Five Six Seven Eight")},
		"not UTF-8": {"a\xff. B\xc2", []string{"a\xff.", "B\xc2"}},
		"table":     {"| a | 1.5 |\n|---|---|\n| No change. | X |", []string{"| a | 1.5 |", "|---|---|", "| No change.", "| X |"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tc.want, pieces(tc.text))
		})
	}
}

func TestLineMarks(t *testing.T) {
	t.Parallel()
	for _, mark := range []string{
		"> ", ">", ">> ", "> > ", ">\t", "- ", "-\t", "+ ", "* ", "– ", "— ", "—", "• ", "•", "‣ ", "◦ ", "・", "●", "※", "· ",
		"1. ", "12. ", "999. ", "1) ", "(1) ", "a) ", "(b) ", "a. ", "iv. ", "ii) ", "(iii) ", "XII. ", "1.2. ", "가. ", "가) ",
		"1、", "一、", "十二、", "1．", "（一）", "（十二）", "1）", "①", "❶", "㈠", "# ", "###### ", "٣. ", "३. ", "> - 1. ", "- 1. ",
		"  - ", "\t* ", ">- ", "> ## ", "- - ", "* > ", "\u3000・",
	} {
		text := mark + "Fließt nicht"
		b := NewBoundaries("x\n" + text + "\r\ny")
		at := len("x\n" + mark)
		require.True(t, b.Begins(at), "%q", text)
		require.True(t, b.Begins(2+len(mark)-len(strings.TrimLeft(mark, " \t\u3000"))), "the line itself: %q", text)
		require.True(t, b.Ends(2+len(text)), "%q", text)
		require.True(t, b.Whole(at, 2+len(text)))
	}
	for text, lost := range map[string]string{
		"- 5 °C": "- ", "-5 °C": "-", ">5 errors": ">", "> 5 errors": "> ", ">= x": ">", "- €5": "- ", "- .5": "- ", "- ½": "- ", "− ٥": "− ",
		"+ 5": "+ ", "–5": "–", "-x": "-", "#tag": "#", "####### x": "####### ", "2024) x": "2024) ", "1.5 x": "1.", "1、2号": "1、", "一、二班": "一、",
		"[ ] x": "[ ] ", "[x] x": "[x] ", "*x*": "*", "**x": "**", "1)x": "1)", "---": "-", "- [ ] x": "- [ ] ", "ok) x": "ok) ", "·5": "·",
	} {
		b := NewBoundaries(text)
		require.False(t, b.Begins(len(lost)), "%q", text)
		require.True(t, b.Whole(0, len(text)), "%q", text)
	}
	b := NewBoundaries("> - 1. One. Two.")
	for at := range 17 {
		require.Equal(t, at == 0 || at == 2 || at == 4 || at == 7 || at == 12, b.Begins(at), at)
		require.Equal(t, at == 11 || at == 16, b.Ends(at), at)
	}
	require.Equal(t, []string{"-", "・", ">"}, pieces("- \n・\n> "), "marks of nothing")
}

func TestFencedCode(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		text string
		want []string
	}{
		"backticks":        {"A. B.\n```go\nx. Y. z\n- 5. Q\n```\nC. D.", []string{"A.", "B.", "```go", "x. Y. z", "- 5. Q", "```", "C.", "D."}},
		"tildes":           {"~~~ `x`\na. B\n~~~~\nC. D", []string{"~~~ `x`", "a. B", "~~~~", "C.", "D"}},
		"unclosed":         {"A. B\n```\na. B\n\na. C", []string{"A.", "B", "```", "a. B", "a. C"}},
		"longer":           {"````\n```\na. B\n````\nC. D", []string{"````", "```", "a. B", "````", "C.", "D"}},
		"other fence":      {"```\n~~~\na. B\n```\nC. D", []string{"```", "~~~", "a. B", "```", "C.", "D"}},
		"closes with text": {"```\na. B\n``` x\na. C", []string{"```", "a. B", "``` x", "a. C"}},
		"inline":           {"```x``` A. B\nC. D", []string{"```x``` A.", "B", "C.", "D"}},
		"quoted":           {"> ```\n> a. B\n> ```\n> C. D", []string{"```", "a. B", "```", "C.", "D"}},
		"quote ends":       {"> ```\n> a. B\nC. D", []string{"```", "a. B", "C.", "D"}},
		"quotes in code":   {"```\n> a. B\n> ```\n```\nC. D", []string{"```", "> a. B", "> ```", "```", "C.", "D"}},
		"item":             {"- ```\n  a. B\n  ```\n- C. D", []string{"- ```", "a. B", "```", "C.", "D"}},
		"heading":          {"# ```\nC. D", []string{"```", "C.", "D"}},
		"CRLF":             {"```\r\na. B\r\n```\r\nC. D", []string{"```", "a. B", "```", "C.", "D"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tc.want, pieces(tc.text))
			b := NewBoundaries(tc.text)
			code := map[int]bool{}
			for start, end := range b.Code() {
				for at := start; at < end; at++ {
					code[at] = true
				}
			}
			for at, r := range tc.text {
				if r == 'a' {
					require.True(t, code[at])
				}
				if r == 'D' {
					require.False(t, code[at])
				}
			}
		})
	}
}

func TestAround(t *testing.T) {
	t.Parallel()
	text := "One. Two.\n- Three. Four?\n\nFive."
	at := func(s string) int { return strings.Index(text, s) }
	for _, tc := range []struct{ part, want string }{
		{"wo", "Two."}, {"Two.", "Two."}, {"e. T", "One. Two."}, {" Two. ", "Two."}, {"- Th", "- Three."}, {"- ", "- Three."},
		{"hree", "Three."}, {"Two.\n- T", "Two.\n- Three."}, {"our?\n\nF", "Four?\n\nFive."}, {text, text}, {"\n\n", "\n\n"},
	} {
		start := at(strings.TrimSuffix(tc.part, "ignored"))
		if tc.part == " Two. " {
			start, tc.part = at(" Two.\n"), " Two.\n"
		}
		first, last := NewBoundaries(text).Around(start, start+len(tc.part))
		require.Equal(t, tc.want, text[first:last], "%q", tc.part)
	}
	b := NewBoundaries(text)
	require.False(t, b.Whole(5, 5))
	require.False(t, b.Begins(-1) || b.Ends(-1) || b.Ends(0) || b.Begins(len(text)) || b.Ends(len(text)+1))
}

// requireConsistent checks properties of the boundaries of any text.
func requireConsistent(t require.TestingT, s string, from, to int) {
	b := NewBoundaries(s)
	clusters := map[int]bool{0: true, len(s): true}
	g := uniseg.NewGraphemes(s)
	for g.Next() {
		first, _ := g.Positions()
		clusters[first] = true
	}
	var begins, ends []int
	for at := 0; at <= len(s); at++ {
		if b.Begins(at) {
			begins = append(begins, at)
			require.True(t, clusters[at], "begins inside of a character: %q at %d", s, at)
			require.True(t, at < len(s) && utf8.RuneStart(s[at]) || !utf8.ValidString(s))
		}
		if b.Ends(at) {
			ends = append(ends, at)
			require.True(t, clusters[at], "ends inside of a character: %q at %d", s, at)
		}
	}
	first, last := b.Around(from, to)
	start, end := skipSpace(s, from, to), trimmedEnd(s, from, to)
	if start >= end {
		require.Equal(t, [2]int{from, to}, [2]int{first, last})
		return
	}
	require.True(t, first <= start && end <= last, "%q holds %q", s[first:last], s[from:to])
	require.True(t, b.Whole(first, last), "%q of %q", s[first:last], s)
	for _, at := range begins {
		require.False(t, first < at && at <= start, "%q of %q begins at %d too", s[first:last], s, at)
	}
	for _, at := range ends {
		require.False(t, end <= at && at < last, "%q of %q ends at %d too", s[first:last], s, at)
	}
	// A sentence that begins ends, before the next but a mark begins.
	require.Equal(t, len(begins) > 0, len(ends) > 0)
	again, stays := b.Around(first, last)
	require.Equal(t, [2]int{first, last}, [2]int{again, stays})
}

var fragments = []string{
	"a", "B", "No. ", ".", "?", "!", "。", "？", " ", "\n", "\r\n", "\u2028", "\u00a0", "\u3000", "\t", "> ", ">", "- ", "1. ", "1", "・", "一、",
	"(", ")", "“", "”", "«", "»", "\"", "'", "*", "**", "`", "```", "```\n", "~~~\n", "> ```\n", "\u0301", "\u200d", "\u0600", "👍", "🏽", "🏴󠁧󠁢󠁥󠁮󠁧󠁿",
	";", "Τι", "។", "\u200b", "\u00ad", "\xff", "한", "नि", "्", "क", "# ", "|", "）", "（", "\U00011047", "\ufe12",
}

func TestBoundariesProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := strings.Join(rapid.SliceOfN(rapid.SampledFrom(fragments), 0, 40).Draw(t, "text"), "")
		s += rapid.StringN(0, 8, -1).Draw(t, "tail")
		from := rapid.IntRange(0, len(s)).Draw(t, "from")
		to := rapid.IntRange(from, len(s)).Draw(t, "to")
		for from > 0 && from < len(s) && !utf8.RuneStart(s[from]) {
			from--
		}
		for to < len(s) && !utf8.RuneStart(s[to]) {
			to++
		}
		requireConsistent(t, s, from, to)
	})
}

func FuzzBoundaries(f *testing.F) {
	for _, s := range fragments {
		f.Add("A. "+s+"b. C"+s+" D", 2, 5)
	}
	f.Fuzz(func(t *testing.T, s string, from, to int) {
		if len(s) > 1<<12 {
			return
		}
		from = min(max(from, 0), len(s))
		to = min(max(to, from), len(s))
		b := NewBoundaries(s)
		b.Around(from, to)
		for _, at := range []int{from, to} {
			b.Begins(at)
			b.Ends(at)
		}
		if utf8.ValidString(s[:from]) && utf8.ValidString(s[from:to]) && utf8.ValidString(s) {
			requireConsistent(t, s, from, to)
		}
	})
}

// TestRespell checks that each byte of a line keeps its place.
func TestRespell(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := strings.Join(rapid.SliceOfN(rapid.SampledFrom(fragments), 0, 60).Draw(t, "text"), "")
		got := respell(s)
		require.Len(t, got, len(s))
		for at, r := range s {
			if r >= 'a' && r <= 'z' {
				require.Equal(t, s[at], got[at])
			}
		}
	})
}

var hostile = map[string]string{
	"prose":           strings.Repeat("The pool stays at 7. Nobody asked why? ", 1<<20/39),
	"Chinese":         strings.Repeat("数据库的备份还没有完成。为什么？", 1<<20/48),
	"Greek":           strings.Repeat("Τι έγινε; Τίποτα. ", 1<<20/32),
	"one word":        strings.Repeat("a", 1<<20),
	"spaces":          "A." + strings.Repeat(" ", 1<<20),
	"stops, spaces":   strings.Repeat("."+strings.Repeat(" ", 1000), 1<<10),
	"brackets":        "A." + strings.Repeat(")", 1<<20),
	"accents":         "A." + strings.Repeat(")\u0301", 1<<19),
	"marks":           strings.Repeat("- ", 1<<19),
	"quotes":          strings.Repeat(">", 1<<20),
	"fences":          strings.Repeat("```\n", 1<<18),
	"breaks":          strings.Repeat("\n", 1<<20),
	"semicolons":      "ΤΙ" + strings.Repeat(";", 1<<20),
	"emphasis":        strings.Repeat("中。*", 1<<18),
	"emphasis, ASCII": strings.Repeat("中.*", 1<<18),
	"stops":           strings.Repeat(".", 1<<20),
	"glued":           strings.Repeat("?=", 1<<19),
	"openings":        strings.Repeat("。（", 1<<18),
	"hashes":          strings.Repeat("#", 1<<20),
}

// BenchmarkBoundaries asks for the boundaries of a line or text of a megabyte at many places.
func BenchmarkBoundaries(b *testing.B) {
	for name, s := range hostile {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(s)))
			for b.Loop() {
				boundaries := NewBoundaries(s)
				for at := 0; at < len(s); at += 64 {
					boundaries.Begins(at)
					boundaries.Ends(at)
					boundaries.Around(at, min(at+40, len(s)))
				}
			}
		})
	}
}

// TestSentencesInOrder compares Sentences with the results of Begins and Ends for each byte.
func TestSentencesInOrder(t *testing.T) {
	t.Parallel()
	check := func(s string) (want, got []string) {
		got = []string{}
		for start, end := range NewBoundaries(s).Sentences() {
			got = append(got, s[start:end])
		}
		return append([]string{}, pieces(s)...), got
	}
	long := strings.Repeat("One is long. Two is longer, e.g. this! ", 400)
	for _, s := range []string{"", "\n\n", "- a. b\n- C. D", "```\nx. Y\n```\n> z", long, "- " + long + "\n" + long} {
		want, got := check(s)
		require.Equal(t, want, got)
	}
	rapid.Check(t, func(t *rapid.T) {
		s := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"A", "b. ", "C! ", "- ", "\n", "\r\n", "차", "。", "```", " ", "> ", "1. "}), 0, 30).Draw(t, "parts"), "")
		if want, got := check(s); strings.Join(want, "|") != strings.Join(got, "|") {
			t.Fatalf("%q: %q, want %q", s, got, want)
		}
	})
}
