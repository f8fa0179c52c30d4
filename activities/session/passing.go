package session

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"axiommind/activities/text"
	"axiommind/schema"
)

// Scheduled reports whether a message was scheduled by the harness or follows one that was, before the next message of a
// person. before is the result for the previous message.
func Scheduled(before bool, m schema.Message) bool {
	if m.Role != schema.RoleUser || m.Kind != schema.KindText || blank(m.Text) {
		return before
	}
	return strings.HasPrefix(strings.TrimSpace(m.Text), schema.ScheduledMark)
}

// passing decides which messages of a conversation pass, because they leave nothing to remember. These are turns in which
// the user only acknowledges, or only uploads files, and the agent's next message, unless that asks something or the agent
// goes to work before it. An acknowledgement stays if the agent's last message asked something, because then it is an
// answer. Messages that a harness scheduled pass too.
//
// It goes through the messages in order. After a message that a window shows, its state depends on that message alone. So
// it may begin at any message that a window shows and judges those after it the same.
type passing struct {
	// asked is true if the last message may have asked something. Otherwise answer is the agent's last message, which is
	// examined only if needed.
	asked  bool
	answer string
	// said is true if the user has already said something in this turn.
	said bool
	// reply is true if the agent's next message answers a turn that passes.
	reply bool
	// scheduled is true if no person has spoken since the harness sent a scheduled message.
	scheduled bool
}

// unknownState is the state before a message whose predecessors are unknown. Nothing passes there.
var unknownState = passing{asked: true, said: true}

// passes reports whether the next message passes.
func (p *passing) passes(m schema.Message) bool {
	if p.scheduled = Scheduled(p.scheduled, m); p.scheduled {
		*p = passing{asked: true, said: true, scheduled: true} // A scheduled message may ask a person.
		return true
	}
	switch {
	case m.Kind == schema.KindToolCall, m.Kind == schema.KindToolResult:
		*p = unknownState // A tool may ask the user.
	case m.Acts():
		*p = unknownState // A window shows it.
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
