package schema

import "time"

// Role says who speaks in a message.
type Role string

// Roles of a message. A tool result has RoleTool whatever role the harness filed it under.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleSystem    Role = "system"
	RoleTool      Role = "tool"
)

// Kind says what a message is, so that extraction can leave out what is not conversation.
type Kind string

// Kinds of a message.
const (
	KindText       Kind = "text"
	KindThinking   Kind = "thinking"
	KindToolCall   Kind = "tool_call"
	KindToolResult Kind = "tool_result"
	// KindContext is text that the harness injected: instructions, summaries of a compacted
	// session, retrieved memory. It is data and never a statement of the user.
	KindContext Kind = "context"
)

// Message is one part of a session. A harness's message that mixes text, tool calls and tool
// results becomes several of them, in order. Text is valid UTF-8 without NUL bytes; evidence spans
// are offsets into it.
type Message struct {
	// Index is the position in the session, from 0. It never changes once ingested.
	Index int  `json:"index"`
	Role  Role `json:"role"`
	Kind  Kind `json:"kind"`
	// Author is the speaker's name where the source gives one.
	Author string `json:"author,omitempty"`
	Text   string `json:"text"`
	// Tool is the tool's name, for tool calls and, where known, their results.
	Tool   string `json:"tool,omitempty"`
	CallID string `json:"call_id,omitempty"`
	// At is when the message was written, in UTC; zero when the source does not say.
	At time.Time `json:"at,omitzero"`
	// SourceID is the harness's own id of the message.
	SourceID string `json:"source_id,omitempty"`
	// Line is the 1-based line of the source the message starts at, 0 when the source has no lines.
	Line int `json:"line,omitempty"`
	// Key identifies the message in its session: see [MessageKeys].
	Key string `json:"key,omitempty"`
}

// Extractable reports whether the message is conversation: what a person or an agent said, as
// opposed to what a tool returned, an agent thought or a harness injected.
func (m Message) Extractable() bool {
	return m.Kind == KindText && (m.Role == RoleUser || m.Role == RoleAssistant)
}

// Skipped is a piece of a source that could not be read. The rest of the source was.
type Skipped struct {
	// Line is 1-based; 0 when the source has no lines.
	Line   int    `json:"line,omitempty"`
	Reason string `json:"reason"`
}
