package rules

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"axiommind/schema"
)

// summary is what a window says of one side of the user, a few plain sentences.
type summary struct {
	sentences []string
	proofs    []schema.Quote
}

// maxSummed is how many sentences a summary has. The last ones stay.
const maxSummed = 3

// sum adds the sentence to the summary of a section of the profile if it says plainly where the user works or lives, and
// nothing else. The fact that the sentence states is an entry of its own.
func (x *extractor) sum(sentence, quote string) {
	section := sectionOfSentence(sentence)
	if section == "" || quote == "" {
		return
	}
	s := x.profile[section]
	if s == nil {
		s = &summary{}
		x.profile[section] = s
	}
	title := clean(sentence)
	if slices.Contains(s.sentences, title) {
		return
	}
	s.sentences = append(s.sentences, title)
	s.proofs = append(s.proofs, schema.Quote{MessageIndex: x.m.Index, Quote: quote})
	for len(s.sentences) > maxSummed || utf8.RuneCountInString(s.title()) > maxTitle {
		s.sentences, s.proofs = s.sentences[1:], s.proofs[1:]
	}
}

func (s *summary) title() string {
	var b strings.Builder
	for i, sentence := range s.sentences {
		if i > 0 && !strings.HasSuffix(s.sentences[i-1], "。") {
			b.WriteString(" ")
		}
		b.WriteString(sentence)
	}
	return b.String()
}

// summaries returns an entry for each section that the window says something about.
func (x *extractor) summaries() []schema.ExtractedEntry {
	var out []schema.ExtractedEntry
	for _, section := range schema.ProfileSections() {
		s := x.profile[section]
		if s == nil || len(s.sentences) == 0 {
			continue
		}
		confidence := task.weight()
		out = append(out, schema.ExtractedEntry{
			Type: schema.EntryFact, Section: section, Title: s.title(), Confidence: &confidence, Evidence: slices.Compact(s.proofs),
		})
	}
	return out
}

// Names of work that a sentence ends with, or that come before where it is done.
const (
	englishWork = `engineer|developer|programmer|designer|nurse|teacher|doctor|physician|lawyer|scientist|researcher|student|manager|` +
		`accountant|architect|analyst|consultant|professor|journalist|pharmacist|therapist|electrician|chef|librarian`
	chineseWork  = `工程师|工程師|医生|醫生|律师|律師|老师|老師|教师|教師|护士|護士|设计师|設計師|程序员|程式設計師|会计|會計|研究员|研究員|学生|學生|大学生|大學生|研究生|产品经理|產品經理`
	japaneseWork = `エンジニア|プログラマー|医者|医師|看護師|教師|弁護士|デザイナー|研究者|会社員|公務員|学生|大学生|大学院生`
	koreanWork   = `개발자|엔지니어|프로그래머|간호사|의사|교사|교수|변호사|디자이너|연구원|회사원|공무원|학생|대학생|대학원생`
)

// plain are sentences of one clause that say where a user works or lives, from the subject to the end.
var plain = []struct {
	section string
	form    *regexp.Regexp
}{
	{schema.SectionWork, regexp.MustCompile(`^I (?:currently |now )?work (?:as an? [^,;:]+|(?:at|for) (?:the )?[A-Z][^,;:]*)$`)},
	{schema.SectionWork, regexp.MustCompile(`^I(?:'m| am) (?:currently |now )?an? (?:[^ ,;:]+ ){0,4}(?:` + englishWork + `)(?: (?:at|for|in|with|from) [^,;:]+)?$`)},
	{schema.SectionWork, regexp.MustCompile(`^我(?:现在|目前|現在)?在[^，,、；]{2,20}(?:工作|上班|任职|任職)$`)},
	{schema.SectionWork, regexp.MustCompile(`^我(?:现在|目前|現在)?是(?:一名|一个|一個|一位|名|个|個)?[^，,、；的是不]{0,16}(?:` + chineseWork + `)$`)},
	{schema.SectionWork, regexp.MustCompile(`^(?:私|僕|俺|わたし|ぼく)は(?:現在)?[^、，；]{1,24}(?:で働いてい(?:ます|る)|に勤めてい(?:ます|る)|に勤務してい(?:ます|る))$`)},
	{schema.SectionWork, regexp.MustCompile(`^(?:私|僕|俺|わたし|ぼく)は(?:現在)?[^、，；]{0,16}(?:` + japaneseWork + `)です$`)},
	{schema.SectionWork, regexp.MustCompile(`^(?:저는|나는|전|난) (?:현재 |지금 )?[^,;]{1,24}에서 (?:일하고 있(?:습니다|어요|어)|일합니다|일해요|일해|근무하고 있(?:습니다|어요|어)|근무합니다|근무해요)$`)},
	{schema.SectionWork, regexp.MustCompile(`^(?:저는|나는|전|난) (?:현재 |지금 )?(?:[^,;]{1,16} )?(?:` + koreanWork + `)(?:입니다|이에요|예요|이야|야)$`)},

	{schema.SectionPersonal, regexp.MustCompile(`^I (?:currently |now )?live (?:in|near) (?:the )?[A-Z][^;:]*$`)},
	{schema.SectionPersonal, regexp.MustCompile(`^I(?:(?:'m| am) (?:originally )?from|(?: was born and raised| grew up) in) (?:the )?[A-Z][^;:]*$`)},
	{schema.SectionPersonal, regexp.MustCompile(`^我(?:现在|目前|現在)?(?:住在|来自|來自)[^，,、；]{2,20}$`)},
	{schema.SectionPersonal, regexp.MustCompile(`^(?:私|僕|俺|わたし|ぼく)は(?:現在)?[^、，；]{1,24}(?:に住んでい(?:ます|る)|出身です)$`)},
	{schema.SectionPersonal, regexp.MustCompile(`^(?:저는|나는|전|난) (?:현재 |지금 )?[^,;]{1,24}(?:에 (?:살고 있(?:습니다|어요|어)|살아요|살아|삽니다)| 출신(?:입니다|이에요|이야))$`)},
}

var (
	// more are words by which a sentence says more than one thing, or nothing that a name stands for.
	more = set("and but so because if when which that who while though although since before until or not n't never want like")
	// elsewhere are words in place of the name of a place or of work: 我在努力工作 names none.
	elsewhere = strings.Fields("努力 认真 認真 拼命 这 這 那 哪 家 不 没 沒 什么 什麼 多少 もう まだ ここ そこ どこ 여기 거기 저기 어디")
)

// sectionOfSentence returns the section of the profile that a sentence belongs to, or "" for most.
func sectionOfSentence(sentence string) string {
	sentence = strings.TrimRight(strings.ReplaceAll(clean(sentence), "’", "'"), ".!。！ ")
	for i := range plain {
		at := subjectAt(sentence)
		if at < 0 || !plain[i].form.MatchString(sentence[at:]) {
			continue
		}
		if has(wordsOf(sentence[at:]), more) || containsAny(sentence[at:], elsewhere) {
			return ""
		}
		return plain[i].section
	}
	return ""
}

// subjectAt returns where the subject begins that opens the sentence after its lead-ins, or -1.
func subjectAt(sentence string) int {
	for _, subject := range []string{"I ", "I'm ", "我", "私は", "僕は", "俺は", "わたしは", "ぼくは", "저는 ", "나는 ", "전 ", "난 "} {
		if at := strings.Index(sentence, subject); at >= 0 && opens(sentence[:at]) {
			return at
		}
	}
	return -1
}
