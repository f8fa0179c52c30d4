package session

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"axiommind/activities/text"
	"axiommind/schema"
)

// Scheduled reports whether a message is one that the harness scheduled, or belongs to one: all up to the next message of a
// person does. before says so of the message before it.
func Scheduled(before bool, m schema.Message) bool {
	if m.Role != schema.RoleUser || m.Kind != schema.KindText || blank(m.Text) {
		return before
	}
	return strings.HasPrefix(strings.TrimSpace(m.Text), schema.ScheduledMark)
}

// passing tells which messages of a conversation pass and leave nothing to remember: a turn in which the user only
// acknowledges, or only uploads files, and the agent's next message, unless that asks something or the agent goes to work
// before it. An acknowledgement stays if the agent's last message asked something, because then it is an answer. What a
// harness scheduled passes too.
//
// It goes through the messages in order. After a message that a window shows, all it knows follows from that message
// alone. So it may begin at any message that a window shows and judges those after it the same.
type passing struct {
	// asked says that the agent's last message asked something. What it was is in answer, and is read only if that matters.
	asked  bool
	answer string
	// said says that the user has said something in this turn already.
	said bool
	// reply says that what the agent says next answers a turn that passes.
	reply bool
	// scheduled says that no person has spoken since the harness sent a scheduled message.
	scheduled bool
}

// midway is the state before a message of which it is not known what comes before it. Nothing passes there.
var midway = passing{asked: true, said: true}

// passes reports whether the next message passes.
func (p *passing) passes(m schema.Message) bool {
	if p.scheduled = Scheduled(p.scheduled, m); p.scheduled {
		*p = passing{asked: true, said: true, scheduled: true} // What was scheduled may ask a person.
		return true
	}
	switch {
	case m.Kind == schema.KindToolCall, m.Kind == schema.KindToolResult:
		*p = midway // A tool may ask the user.
	case m.Acts():
		*p = midway // A window shows it.
	case blank(m.Text):
	case m.Role == schema.RoleUser && m.Kind == schema.KindContext:
		p.reply = p.reply || !p.said && isUpload(m.Text)
	case !m.Extractable():
	case m.Role == schema.RoleUser:
		if !p.said && m.CallID == "" && text.Trivial(m.Text) && !p.mayAsk() {
			p.reply = true
			return true
		}
		p.said, p.reply = true, false
	default:
		reply := p.reply
		*p = passing{answer: m.Text}
		return reply && !p.mayAsk()
	}
	return false
}

// mayAsk reports whether the agent's last message may have asked something.
func (p *passing) mayAsk() bool { return p.asked || asks(p.answer) }

// isUpload reports whether an injected text lists files that the user uploaded.
func isUpload(text string) bool {
	text = strings.ToLower(strings.TrimSpace(text))
	return strings.HasPrefix(text, "<uploaded_files>") || strings.HasPrefix(text, "<current_uploads>")
}

// askingEnds end sentences that ask without a question mark, in languages that ask by a last word.
var askingEnds = []string{"吗", "嗎", "呢", "么", "か", "かな", "까", "까요", "나요", "가요", "을지", "ไหม", "หรือไม่"}

// askingWords ask for an answer without a question mark.
var askingWords = []string{
	"let me know which", "let me know what", "let me know whether", "let me know how", "tell me which", "tell me what", "please confirm", "please choose", "shall i", "should i", "do you want", "would you like",
	"告诉我", "告訴我", "请确认", "請確認", "教えてください", "ご確認ください", "알려 주세요", "알려주세요", "확인해 주세요",
}

// asks reports whether a message may ask something. It errs on the side of a question.
func asks(s string) bool {
	for i, r := range s {
		switch r {
		case '?':
			next, _ := utf8.DecodeRuneInString(s[i+1:])
			if i+1 == len(s) || !unicode.IsLetter(next) && !unicode.IsDigit(next) && next != '=' {
				return true
			}
		case '？', '؟', '⁇', '⁈', '⁉', '⸮', '՞', '፧', '\u037e':
			return true
		}
	}
	folded := strings.ToLower(s)
	for _, words := range askingWords {
		if strings.Contains(folded, words) {
			return true
		}
	}
	for _, sentence := range strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune("。.!！\n\r", r) }) {
		sentence = strings.TrimRightFunc(sentence, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsPunct(r) })
		for _, end := range askingEnds {
			if strings.HasSuffix(sentence, end) {
				return true
			}
		}
	}
	return false
}
