package worth

import (
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"axiommind/activities/llm/prose"
	"axiommind/activities/text"
	"axiommind/schema"
)

const (
	// buckets is the number of hashed features. The features of form come after them.
	buckets = 1 << 15
	// maxTokens bounds the tokens of a line that count.
	maxTokens = 60
	// lexical is the length of the vector of hashed features. Those of form are between 0 and 1 each.
	lexical = 3
)

// feature is a dimension of a line's vector that is not 0.
type feature struct {
	at    uint32
	value float32
}

// line is a candidate for an entry: the sentences of a line of text, which need each other, or one sentence of a line that is
// longer than lineMax. It ends where words of others begin.
type line struct {
	// Sentence is from the start of the first of the parts to the end of the last.
	prose.Sentence
	parts []prose.Sentence
	m     *schema.Message
	// message is the place of the message in the window, of messages that the window has. n is the line's place in
	// its message, of the message's lines.
	message, messages, n, of int
	// work is from 0 to 1: how much of the window speaks of files and code. An assistant's explanation is worth more there than in a chat.
	work float64
	// handedOver is true for a user's message where it hands over words of others: a letter, or text that is pasted.
	handedOver bool
}

func (l *line) text() string { return l.m.Text[l.Start:l.End] }

// last is the last sentence.
func (l *line) last() prose.Sentence { return l.parts[len(l.parts)-1] }

func (l *line) asks() bool {
	bare := strings.TrimRight(l.text(), "*_\"'`) ")
	return strings.HasSuffix(bare, "?") || strings.HasSuffix(bare, "？")
}

// split returns the lines of the messages that are conversation, in order. Works is true where an agent works: see package rules.
func split(window []schema.Message, works bool) []line {
	sentences := make([][]prose.Sentence, len(window))
	said, technical := 0, 0
	for i := range window {
		m := &window[i]
		if !m.Extractable() {
			continue
		}
		sentences[i] = prose.Sentences(m.Text)
		for _, s := range sentences[i] {
			said++
			if t := m.Text[s.Start:s.End]; strings.Contains(t, "`") || path(t) {
				technical++
			}
		}
	}
	const much = 0.25
	work := min(1, float64(technical)/much/float64(max(1, said)))
	var out []line
	for i := range window {
		m, from, own := &window[i], len(out), math.MaxInt
		if m.Role == schema.RoleUser && len(sentences[i]) > 0 {
			own = prose.OwnWords(m.Text, works || work == 1)
		}
		long, at := false, -1
		for _, s := range sentences[i] {
			if s.LineStart != at {
				at, long = s.LineStart, utf8.RuneCountInString(m.Text[s.LineStart:s.LineEnd]) > lineMax
			}
			handedOver := s.Start >= own
			if n := len(out); n > from && out[n-1].LineStart == s.LineStart && out[n-1].handedOver == handedOver && !long {
				out[n-1].End, out[n-1].parts = s.End, append(out[n-1].parts, s)
				continue
			}
			out = append(out, line{
				Sentence: s, parts: []prose.Sentence{s}, m: m, message: i, messages: len(window), n: len(out) - from, work: work, handedOver: handedOver,
			})
		}
		for n := from; n < len(out); n++ {
			out[n].of = len(out) - from
		}
	}
	return out
}

// path reports whether a text names a file or directory.
func path(t string) bool { return strings.Contains(strings.ReplaceAll(t, "://", ""), "/") }

// The features of form, each alone and with the speaker.
const (
	formBias = iota
	formLength
	formShort
	formMiddle
	formLong
	formBullet
	formHeading
	formBox
	formQuestion
	formColon
	formCode
	formBold
	formDigit
	formURL
	formPath
	formCapitals
	formMark
	formPlace
	formFirstMessage
	formLastMessage
	formMessageLength
	formLongMessage
	formShortMessage
	formDepth
	formFirst
	formLast
	formWhole
	formAfterColon
	formAfterHeading
	formWork
	formChat
	forms
)

// dimensions is the length of a line's vector.
const dimensions = buckets + 2*forms

// features returns the vector of line i: the words, and how and where they are said.
func features(all []line, i int) []feature {
	s := &all[i]
	t := s.text()
	assistant := s.m.Role == schema.RoleAssistant
	out := make([]feature, 0, 128)
	form := func(which int, value float64) {
		if value == 0 {
			return
		}
		out = append(out, feature{uint32(buckets + which), float32(value)})
		if assistant {
			out = append(out, feature{uint32(buckets + forms + which), float32(value)})
		}
	}
	is := func(which int, holds bool) {
		if holds {
			form(which, 1)
		}
	}
	runes, bare := utf8.RuneCountInString(t), strings.TrimRight(t, "*_\"'`) ")
	form(formBias, 1)
	form(formLength, min(math.Log(float64(runes)+1)/6, 1.2))
	is(formShort, runes < 25)
	is(formMiddle, runes >= 40 && runes <= 300)
	is(formLong, runes > 400)
	is(formBullet, s.Bullet)
	is(formHeading, s.Heading)
	is(formBox, s.Box)
	is(formQuestion, s.asks())
	is(formColon, strings.HasSuffix(bare, ":") || strings.HasSuffix(bare, "："))
	is(formCode, strings.Count(t, "`") > 1)
	is(formBold, strings.Contains(t, "**"))
	is(formDigit, strings.ContainsFunc(t, unicode.IsDigit))
	is(formURL, strings.Contains(t, "://"))
	is(formPath, path(t))
	form(formWork, s.work)
	form(formChat, 1-s.work)
	is(formCapitals, capitals(t))
	is(formMark, strings.ContainsFunc(t, func(r rune) bool { return r > 0x2000 && unicode.IsSymbol(r) }))
	form(formPlace, float64(s.message)/float64(max(1, s.messages-1)))
	is(formFirstMessage, s.message == 0)
	is(formLastMessage, s.message >= s.messages-2)
	form(formMessageLength, math.Log(float64(len(s.m.Text))+1)/10)
	is(formLongMessage, len(s.m.Text) > 4000)
	is(formShortMessage, len(s.m.Text) < 300)
	form(formDepth, float64(s.Start)/float64(max(1, len(s.m.Text))))
	is(formFirst, s.n == 0)
	is(formLast, s.n == s.of-1)
	is(formWhole, 5*(s.End-s.Start) >= 4*len(s.m.Text))
	if s.n > 0 {
		before := &all[i-1]
		is(formAfterColon, strings.HasSuffix(strings.TrimRight(before.text(), "* "), ":"))
		is(formAfterHeading, before.Heading)
	}
	return words(out, t, assistant)
}

// capitals reports whether two capital letters are adjacent.
func capitals(t string) bool {
	before := false
	for _, r := range t {
		upper := unicode.IsUpper(r)
		if upper && before {
			return true
		}
		before = upper
	}
	return false
}

// words appends the hashed features: each word, alone and with the speaker, each pair of words, and how the line begins.
func words(out []feature, t string, assistant bool) []feature {
	tokens := tokens(t)
	found := make([]uint32, 0, 3*len(tokens)+2)
	add := func(kind byte, parts ...string) { found = append(found, bucket(kind, parts...)) }
	speaker := byte('u')
	if assistant {
		speaker = 'a'
	}
	for n, w := range tokens {
		add('w', w)
		add(speaker, w)
		if n > 0 {
			add('b', tokens[n-1], w)
		}
	}
	if len(tokens) > 0 {
		add('s', tokens[0])
		add('S', tokens[:min(2, len(tokens))]...)
	}
	slices.Sort(found)
	found = slices.Compact(found)
	value := float32(lexical / math.Sqrt(float64(max(1, len(found)))))
	for _, at := range found {
		out = append(out, feature{at, value})
	}
	return out
}

// bucket is the 32-bit FNV-1a hash of the parts, folded to the number of buckets.
func bucket(kind byte, parts ...string) uint32 {
	const offset, prime = 2166136261, 16777619
	h := (uint32(offset) ^ uint32(kind)) * prime
	for _, p := range parts {
		for i := range len(p) {
			h = (h ^ uint32(p[i])) * prime
		}
		h = (h ^ 0xff) * prime
	}
	return (h>>16 ^ h) % buckets
}

// tokens returns the words of a text in lower case, marks, and 0 for each number. Scripts without spaces give pairs of letters.
func tokens(t string) []string {
	var out []string
	var word strings.Builder
	pieces := []rune{}
	flush := func() {
		if word.Len() > 0 {
			out = append(out, word.String())
			word.Reset()
		}
		if len(pieces) == 1 {
			out = append(out, string(pieces))
		}
		for i := 1; i < len(pieces); i++ {
			out = append(out, string(pieces[i-1:i+1]))
		}
		pieces = pieces[:0]
	}
	number := false
	for _, r := range t {
		if len(out) >= maxTokens {
			break
		}
		digit := unicode.IsDigit(r)
		switch {
		case digit && !number:
			flush()
			out = append(out, "0")
		case digit:
		case text.InPieces(r):
			if word.Len() > 0 {
				flush()
			}
			pieces = append(pieces, unicode.ToLower(r))
		case unicode.IsLetter(r), unicode.IsMark(r), (r == '\'' || r == '’') && word.Len() > 0:
			if len(pieces) > 0 {
				flush()
			}
			if r == '’' {
				r = '\''
			}
			word.WriteRune(unicode.ToLower(r))
		default:
			flush()
			if !unicode.IsSpace(r) {
				out = append(out, string(r))
			}
		}
		number = digit
	}
	flush()
	return out[:min(len(out), maxTokens)]
}
