package llm

import (
	"regexp"
	"strings"

	"axiommind/schema"
)

const (
	// maxSaid is the length in code points from which ConversationText cuts a message, and saidEnd what it keeps of
	// each end.
	maxSaid = 1000
	saidEnd = 500
	cutMark = "\n...[truncated]...\n"
)

// uploads are the blocks in which a harness lists the files of a message. Their paths mean nothing later.
var uploads = regexp.MustCompile(`(?is)<uploaded_files>.*?</uploaded_files>\n*|<current_uploads>.*?</current_uploads>\n*`)

// angles keeps a message from closing a block of the prompt that it stands in.
var angles = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// ConversationText returns the conversation for a model to read: what people and the agent said, as blocks that begin
// with "User: " or "Assistant: ". The parts of one message are joined by a space. A message over 1000 code points is cut
// in the middle, because its beginning says what it is about and its end what follows from it. Angle brackets and
// ampersands come out as entities, so that a quote from this text has to be unescaped before it is looked up. It is for
// questions about a conversation: what is to be proven is asked with [RenderWindow], which leaves nothing out.
func ConversationText(messages []schema.Message) string {
	var blocks []string
	var open schema.Message
	var parts []string
	flush := func() {
		if block := block(open.Role, strings.Join(parts, " ")); block != "" {
			blocks = append(blocks, block)
		}
		parts = parts[:0]
	}
	for _, m := range messages {
		if !m.Extractable() {
			continue
		}
		if !sameMessage(open, m) {
			flush()
		}
		open, parts = m, append(parts, m.Text)
	}
	flush()
	return strings.Join(blocks, "\n\n")
}

// sameMessage reports whether the harness wrote both as parts of one message.
func sameMessage(a, b schema.Message) bool {
	return a.Role == b.Role && a.SourceID != "" && a.SourceID == b.SourceID && a.Line == b.Line
}

// block returns what one message says, or "" if that is nothing.
func block(role schema.Role, text string) string {
	name := "Assistant: "
	if role == schema.RoleUser {
		name, text = "User: ", uploads.ReplaceAllLiteralString(text, "")
	}
	text = strings.TrimSpace(text)
	if text == "" {
		return ""
	}
	if runes := []rune(text); len(runes) > maxSaid {
		text = string(runes[:saidEnd]) + cutMark + string(runes[len(runes)-saidEnd:])
	}
	return name + angles.Replace(text)
}
