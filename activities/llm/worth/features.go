package worth

import (
	"math"
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
	// maxTokens bounds the tokens of a sentence that count.
	maxTokens = 60
	// lexical is the length of the vector of hashed features. Those of form are between 0 and 1 each.
	lexical = 3
)

// feature is a dimension of a sentence's vector that is not 0.
type feature struct {
	at    uint32
	value float32
}

// sentence is a sentence of a window with its place in it.
type sentence struct {
	prose.Sentence
	m *schema.Message
	// message is the place of the message in the window, of messages that the window has. n is the sentence's place in
	// its message, of the message's sentences.
	message, messages, n, of int
	// work is from 0 to 1: how much of the window speaks of files and code. An assistant's explanation is worth more there than in a chat.
	work float64
	// handedOver is true for a user's message where it hands over words of others: a letter, or text that is pasted.
	handedOver bool
}

func (s *sentence) text() string { return s.m.Text[s.Start:s.End] }

func (s *sentence) asks() bool {
	bare := strings.TrimRight(s.text(), "*_\"'`) ")
	return strings.HasSuffix(bare, "?") || strings.HasSuffix(bare, "？")
}

// split returns the sentences of the messages that are conversation, in order. Works is true where an agent works: see package rules.
func split(window []schema.Message, works bool) []sentence {
	var out []sentence
	for i := range window {
		m := &window[i]
		if !m.Extractable() {
			continue
		}
		found := prose.Sentences(m.Text)
		for n, s := range found {
			out = append(out, sentence{Sentence: s, m: m, message: i, messages: len(window), n: n, of: len(found)})
		}
	}
	technical := 0
	for i := range out {
		if t := out[i].text(); strings.Contains(t, "`") || path(t) {
			technical++
		}
	}
	const much = 0.25
	own := map[*schema.Message]int{}
	for i := range out {
		s := &out[i]
		s.work = min(1, float64(technical)/much/float64(len(out)))
		if s.m.Role == schema.RoleUser && own[s.m] == 0 {
			own[s.m] = prose.OwnWords(s.m.Text, works || s.work == 1) + 1
		}
		s.handedOver = s.m.Role == schema.RoleUser && s.Start+1 >= own[s.m]
	}
	return out
}

// path reports whether a sentence names a file or directory.
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

// dimensions is the length of a sentence's vector.
const dimensions = buckets + 2*forms

// features returns the vector of sentence i: the words, and how and where they are said.
func features(all []sentence, i int) []feature {
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

// words appends the hashed features: each word, alone and with the speaker, each pair of words, and how the sentence begins.
func words(out []feature, t string, assistant bool) []feature {
	from := len(out)
	tokens := tokens(t)
	seen := make(map[uint32]bool, 4*len(tokens))
	add := func(kind byte, parts ...string) {
		at := bucket(kind, parts...)
		if !seen[at] {
			seen[at] = true
			out = append(out, feature{at, 1})
		}
	}
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
	value := float32(lexical / math.Sqrt(float64(max(1, len(out)-from))))
	for i := from; i < len(out); i++ {
		out[i].value = value
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

// tokens returns the words of a sentence in lower case, marks, and 0 for each number. Scripts without spaces give pairs of letters.
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
