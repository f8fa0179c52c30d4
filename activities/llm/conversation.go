package llm

import (
	"regexp"
	"strings"

	"axiommind/schema"
)

const (
	// maxLineRunes is the length in code points from which on ConversationText cuts a message, and keptEnd the length that
	// it keeps at each end.
	maxLineRunes = 1000
	keptEnd      = 500
	cutMark      = "\n...[truncated]...\n"
)

// uploads are the blocks in which a harness lists the files of a message. Their paths mean nothing later.
var uploads = regexp.MustCompile(`(?is)<uploaded_files>.*?</uploaded_files>\n*|<current_uploads>.*?</current_uploads>\n*`)

// angles keeps a message from closing its block of the prompt.
var angles = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// ConversationText returns the texts of people and the agent for a model to read, as blocks that begin with "User: " or
// "Assistant: ". The parts of one message are joined by a space. A message over 1000 code points is cut in the middle,
// because its beginning has its topic and its end its conclusion. Angle brackets and ampersands come out as entities,
// so that a quote from this text must be unescaped before it is looked up. It is for questions about a conversation.
// Questions that need evidence use [RenderWindow], which leaves nothing out.
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

// block returns the block of one message, or "" if it is empty.
func block(role schema.Role, text string) string {
	name := "Assistant: "
	if role == schema.RoleUser {
		name, text = "User: ", uploads.ReplaceAllLiteralString(text, "")
	}
	text = strings.TrimSpace(text)
	if text == "" {
		return ""
	}
	if runes := []rune(text); len(runes) > maxLineRunes {
		text = string(runes[:keptEnd]) + cutMark + string(runes[len(runes)-keptEnd:])
	}
	return name + angles.Replace(text)
}
