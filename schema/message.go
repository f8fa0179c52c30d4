package schema

import "time"

// Role is the speaker of a message.
type Role string

// Roles of a message. A tool result has RoleTool, whatever role the agent's harness gave it.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleSystem    Role = "system"
	RoleTool      Role = "tool"
)

// Kind is the kind of content in a message. Extraction uses it to skip content that is not conversation.
type Kind string

// Kinds of a message.
const (
	KindText       Kind = "text"
	KindThinking   Kind = "thinking"
	KindToolCall   Kind = "tool_call"
	KindToolResult Kind = "tool_result"
	// KindContext is text that the harness injected: instructions, summaries of a compacted session, retrieved
	// memory. It is data, never a statement of the user.
	KindContext Kind = "context"
	// KindStatement is a statement that an agent makes through a tool, and no conversation. Author names the agent.
	KindStatement Kind = "statement"
	// KindPlan is a plan that the agent showed and the user approved.
	KindPlan Kind = "plan"
	// KindTodo, KindCommit and KindRule are acts of an agent: the content of a tool call that did not fail. A todo is a
	// change of the to-do list, as a Markdown list. Its marks are "[ ]", "[/]" for an item in progress, "[x]", "[-]"
	// for a dropped item, and "[!]" for a blocked one. A commit is the text of a commit, a pull request or an issue. A
	// rule is lines of instructions, or of the agent's memory.
	KindTodo   Kind = "todo"
	KindCommit Kind = "commit"
	KindRule   Kind = "rule"
)

// Message is one part of a session. If a harness's message mixes text, tool calls and tool results, it becomes
// several Messages, in order. Text is valid UTF-8 without NUL bytes, and the spans of evidence are offsets into it.
type Message struct {
	// Index is the position in the session, from 0. It never changes once ingested.
	Index int  `json:"index"`
	Role  Role `json:"role"`
	Kind  Kind `json:"kind"`
	// Author is the speaker's name, if the source gives one.
	Author string `json:"author,omitempty"`
	Text   string `json:"text"`
	// Tool is the tool's name, for tool calls and, if it is known, for their results. An agent may speak, ask the user
	// or show a plan by a tool call. Its message and the user's answer then have the Tool and CallID of the call.
	Tool   string `json:"tool,omitempty"`
	CallID string `json:"call_id,omitempty"`
	// At is the time at which the message was written, in UTC. It is zero if the source does not say.
	At time.Time `json:"at,omitzero"`
	// SourceID is the harness's own id for the message.
	SourceID string `json:"source_id,omitempty"`
	// Line is the 1-based line of the source at which the message starts, or 0 if the source has no lines.
	Line int `json:"line,omitempty"`
	// Key identifies the message in its session: see [MessageKeys].
	Key string `json:"key,omitempty"`
	// Removed contains the parts that redaction removed from Text, if they are kept. It is never encoded.
	TakenOut Removed `json:"-"`
}

// ScheduledMark is the prefix of a message that the agent's harness sent in the user's name.
const ScheduledMark = "[SCHEDULED]"

// Extractable reports whether the message is conversation, that is, something that a person or an agent said. Tool
// results, thoughts and injected text are not.
func (m Message) Extractable() bool {
	return (m.Kind == KindText || m.Kind == KindPlan) && (m.Role == RoleUser || m.Role == RoleAssistant)
}

// Acts reports whether the message is an act of an agent: of the kinds todo, commit and rule.
func (m Message) Acts() bool {
	return m.Kind == KindTodo || m.Kind == KindCommit || m.Kind == KindRule
}

// Skipped is a part of a source that could not be read. The rest of the source was read.
type Skipped struct {
	// Line is 1-based, or 0 if the source has no lines.
	Line   int    `json:"line,omitempty"`
	Reason string `json:"reason"`
	// Count is the number of places that the entry represents, if it lists none of them.
	Count int `json:"count,omitempty"`
}

// CountSkipped returns the number of places that the entries represent.
func CountSkipped(skipped []Skipped) int {
	n := 0
	for _, s := range skipped {
		n += max(1, s.Count)
	}
	return n
}
