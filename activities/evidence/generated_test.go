package evidence

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

var generatedSeeds = flag.Int("evidence.seeds", 5, "how many generated alignment files are judged")

// generatedItems is how many items of each class a generated file has.
const generatedItems = 250

// leastGenerated is the share of generated items of a class that has to have exact borders. A slip can
// turn a word or a number into another one, which is refused where nothing else shows that it is a slip;
// the rest are variants that nobody has seen, such as all marks dropped from a version's digits.
var leastGenerated = map[string]float64{"typo": 0.985}

// TestGeneratedCases judges files of all the classes of the case form, made from a seed each.
func TestGeneratedCases(t *testing.T) {
	t.Parallel()
	total := make(tallies)
	for seed := range *generatedSeeds {
		total.add(judgeFile(t, fmt.Sprintf("generated-%d", seed+1), generatedFile(uint64(seed+1), generatedItems), nil))
	}
	total.log(t)
	for class, c := range total {
		least := leastBorders
		if share, ok := leastGenerated[class]; ok {
			least = share
		}
		require.GreaterOrEqual(t, float64(c.borders), least*float64(c.findable), "exact borders of class %q", class)
		require.GreaterOrEqual(t, float64(c.flagged), leastBorders*float64(c.ambiguous), "ambiguous items of class %q", class)
		require.Zero(t, c.falsePositives, "false positives of class %q", class)
		if class == "exact" || class == "whitespace" {
			// The quotes are cut anywhere: the rest cut numbers, identifiers and words that leave others.
			require.GreaterOrEqual(t, float64(c.proved), 0.6*float64(c.findable), "proofs of class %q", class)
		}
	}
	t.Logf("cases generated from %d seeds alignment: %s", *generatedSeeds, total.sum())
}

func TestGeneratedFilesHaveTheirForm(t *testing.T) {
	t.Parallel()
	file := generatedFile(7, 40)
	again := generatedFile(7, 40)
	variants := make(map[string]map[string]bool)
	for i, item := range file.Items {
		if item.Message != again.Items[i].Message || item.Quote != again.Items[i].Quote {
			t.Fatalf("item %d differs when it is made again", i)
		}
		if !utf8.ValidString(item.Message) || letters(item.Quote) < MinLetters {
			t.Errorf("item %d: quote %q", i, item.Quote)
		}
		if want := map[string]int{"absent": 0, "duplicate": 2}[item.Class]; len(item.Truth) < want ||
			(len(item.Truth) == 0) != (item.Class == "absent") || item.Ambiguous != (len(item.Truth) > 1) {
			t.Errorf("item %d of class %q has %d places", i, item.Class, len(item.Truth))
		}
		if variants[item.Class] == nil {
			variants[item.Class] = make(map[string]bool)
		}
		variants[item.Class][item.variant] = true
	}
	for class, of := range generators {
		if len(of) > 1 && len(variants[class]) < len(of)/2 {
			t.Errorf("class %q shows %d of %d variants in 40 items", class, len(variants[class]), len(of))
		}
	}
}

// words of the generated messages: technical terms in two languages.
var (
	latinWords = strings.Fields(`socket buffer packet kernel thread mutex handler router gateway parser lexer compiler
		linker module package service client server request header cookie proxy tunnel cipher signature digest bucket
		object volume mount backup snapshot restore archive replica leader follower election quorum consensus heartbeat
		probe monitor counter gauge histogram sample series dashboard incident pager runbook outage release canary
		feature toggle tenant account invoice billing payment refund profile avatar locale currency upload download
		stream chunk frame codec bitrate render shader texture layout widget button dialog scroll viewport pixel glyph
		font mapper reducer pipeline stage sink topic consumer producer lag watermark trigger schedule cron role policy
		grant revoke login logout paging paused sender port post host cost map tab old set bit raw mirror drained`)
	koreanWords = strings.Fields(`소켓 버퍼 패킷 커널 스레드 처리기 경로 관문 구문 모듈 꾸러미 서비스 고객 서버 요청 머리말 암호 서명
		묶음 객체 용량 백업 복제본 선출 합의 심박 감시 계수기 표본 장애 당번 배포판 기능 임차인 계정 청구 결제 환불 통화 전송 수신 조각
		압축 화면 단추 대화창 글꼴 생산자 소비자 주제 일정 권한 정책 역할 로그인 인증 알림 구독 번역 문서 색상 주소 연결 분산 동기화
		격리 파이프라인 컨테이너 오케스트레이션 인터페이스 라이브러리 핸들러 타임라인 값을 탭 칸 표 검사 회귀 확장 축소 균형 도메인
		데이터베이스 분기 순서 기록 열람 보관`)
	pictures    = []string{"🎯", "🔥", "📦", "문서📎"}
	joints      = []string{" ", " ", " ", " ", " ", " ", ", ", ", ", "; ", ": ", " — ", " (", ") ", "\" ", " \"", "` ", " `", "-", "/"}
	terminators = []string{". ", ". ", ". ", "? ", "! ", "… ", ";\t", ".\n", ".\n\n", ".\r\n"}
)

// maker draws the parts of generated items.
type maker struct{ *rand.Rand }

func pick[T any](m maker, from []T) T { return from[m.IntN(len(from))] }

// chance reports true with a probability of percent in a hundred.
func (m maker) chance(percent int) bool { return m.IntN(100) < percent }

func (m maker) token() string {
	switch n := m.IntN(1000); {
	case n < 450:
		return pick(m, latinWords)
	case n < 850:
		return pick(m, koreanWords)
	case n < 900:
		return fmt.Sprint(m.IntN(10000))
	case n < 930:
		return fmt.Sprintf("v%d.%d.%d", m.IntN(10), m.IntN(21), m.IntN(10))
	case n < 950:
		return fmt.Sprintf("#%d", 1+m.IntN(999))
	case n < 970:
		return pick(m, latinWords) + "_" + pick(m, latinWords)
	case n < 985:
		word := pick(m, latinWords)
		return strings.ToUpper(word[:1]) + word[1:] + "Pool()"
	}
	return pick(m, pictures)
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

// cut chooses a stretch of a text, of up to 140 characters, that stands there once, begins and ends
// anywhere in words, and has no white space or soft character at its ends.
func (m maker) cut(text string, least int) extent {
	runes := []rune(text)
	for {
		n := least + m.IntN(141-least)
		if n > len(runes)-2 {
			continue
		}
		start := m.IntN(len(runes) - n)
		from := len(string(runes[:start]))
		stretch := string(runes[start : start+n])
		trimmed := strings.TrimLeftFunc(stretch, soft)
		x := extent{start: from + len(stretch) - len(trimmed)}
		x.end = x.start + len(strings.TrimRightFunc(trimmed, soft))
		if strings.Count(text, text[x.start:x.end]) == 1 {
			return x
		}
	}
}

// soft reports whether a rune is white space or is not seen.
func soft(r rune) bool { return unicode.IsSpace(r) || unicode.Is(unicode.Cf, r) }

// cutWithin is cut with borders at letters or digits, so that no mark of punctuation is in doubt.
func (m maker) cutWithin(text string, least int) extent {
	for {
		x := m.cut(text, least)
		first, _ := utf8.DecodeRuneInString(text[x.start:])
		last, _ := utf8.DecodeLastRuneInString(text[:x.end])
		if alphanumeric(first) && alphanumeric(last) {
			return x
		}
	}
}

func alphanumeric(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// recipe makes a message, a quote, and the places where the message has it.
type recipe func(m maker) (message, quote string, places []extent)

// caseMaker is one way to make the items of a class.
type caseMaker struct {
	name string
	make recipe
}

// generators are the variants of each class. They are equally likely.
var generators = map[string][]caseMaker{
	"exact": {{"", func(m maker) (string, string, []extent) {
		text := m.message()
		x := m.cut(text, 40)
		return text, text[x.start:x.end], []extent{x}
	}}},
	"whitespace":  {{"", collapsed(collapsible, 12)}},
	"nfkc_case":   {{"", makeFullWidth}},
	"typo":        {{"", makeTypos}},
	"duplicate":   duplicates,
	"nbsp":        spacings,
	"punctuation": punctuations,
	"absent":      absences,
}

var generatedClasses = []string{"exact", "duplicate", "whitespace", "nbsp", "typo", "punctuation", "nfkc_case", "absent"}

// generatedFile makes a file of all classes, with a number of items of each. The same seed makes the
// same file.
func generatedFile(seed uint64, each int) caseFile {
	m := maker{rand.New(rand.NewPCG(seed, 0x65766964656e6365))}
	file := caseFile{Classes: generatedClasses}
	for i := range each * len(generatedClasses) {
		class := generatedClasses[i%len(generatedClasses)]
		v := pick(m, generators[class])
		message, quote, places := v.make(m)
		item := caseItem{
			ID: i, Class: class, Message: message, Quote: quote, Ambiguous: len(places) > 1,
			variant: v.name,
		}
		if class == "typo" {
			item.variant = fmt.Sprintf("%d edits", editsBetween(message[places[0].start:places[0].end], quote))
		}
		for _, x := range places {
			item.Truth = append(item.Truth, truthOf(message, x))
		}
		file.Items = append(file.Items, item)
	}
	return file
}

// truthOf counts a place in all the units of a case.
func truthOf(text string, x extent) caseTruth {
	wide, narrow := utf16.Encode([]rune(text[:x.start])), utf16.Encode([]rune(text[:x.end]))
	return caseTruth{
		UTF16: [2]int{len(wide), len(narrow)},
		Rune:  [2]int{utf8.RuneCountInString(text[:x.start]), utf8.RuneCountInString(text[:x.end])},
		Byte:  [2]int{x.start, x.end},
	}
}

// placesOf returns all the places of a stretch in a text.
func placesOf(text, stretch string) []extent {
	var places []extent
	for at := 0; ; {
		i := strings.Index(text[at:], stretch)
		if i < 0 {
			return places
		}
		at += i + len(stretch)
		places = append(places, extent{at - len(stretch), at})
	}
}

// editsBetween is the edit distance of two texts in characters.
func editsBetween(a, b string) int { return leastEdits([]rune(a), []rune(b), false) }

// similarityWithin is the similarity of a quote to the most similar stretch of a text.
func similarityWithin(text, quote string) float64 {
	q := []rune(quote)
	return 1 - float64(leastEdits(q, []rune(text), true))/float64(len(q))
}

// leastEdits is the edit distance of a text to another, or to the nearest stretch of it: the plain
// recurrence, unlike the code that it is a measure for.
func leastEdits(a, b []rune, anywhere bool) int {
	row := make([]int, len(a)+1)
	for i := range row {
		row[i] = i
	}
	least := row[len(a)]
	for j := range b {
		diagonal := row[0]
		if row[0] = j + 1; anywhere {
			row[0] = 0
		}
		for i := range a {
			substituted := diagonal
			if a[i] != b[j] {
				substituted++
			}
			diagonal = row[i+1]
			row[i+1] = min(substituted, diagonal+1, row[i]+1)
		}
		least = min(least, row[len(a)])
	}
	if anywhere {
		return least
	}
	return row[len(a)]
}

// spoilSpaces replaces a share of the plain spaces of a text, in percent.
func (m maker) spoilSpaces(text string, by []string, percent int) string {
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

// collapse makes one space of every run of white space, and drops what is not seen.
func collapse(text string) string {
	visible := strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, text)
	return strings.Join(strings.Fields(visible), " ")
}

// shuffled returns the words of a text in another order.
func (m maker) shuffled(text string) string {
	words := strings.Fields(text)
	m.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
	return strings.Join(words, " ")
}
