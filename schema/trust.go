package schema

import "cmp"

// Trust is the class of a text by its speaker, which decides whether it may prove something.
type Trust string

// Classes of trust. Only what the user or the assistant said may prove something.
const (
	TrustUser      Trust = "user"
	TrustAssistant Trust = "assistant"
	// TrustTool is the class of the arguments and results of tools, and of documents, quoted text and code in a user's
	// message.
	TrustTool Trust = "tool"
	// TrustSystem is the class of the harness's own text, and of thoughts, which are not spoken.
	TrustSystem Trust = "system"
	// TrustMemory is the class of memory that was put into the session.
	TrustMemory Trust = "memory"
	// TrustAgent is the class of statements by an agent. Any text that the agent has read may have prompted them.
	TrustAgent Trust = "agent"
)

// Proves reports whether a text of the class may prove something.
func (t Trust) Proves() bool { return t == TrustUser || t == TrustAssistant }

// TrustsProving returns the classes that may prove something.
func TrustsProving() []Trust { return []Trust{TrustUser, TrustAssistant} }

// Trust returns the class of the whole message, by its role and kind. A part of it may be trusted less. It is empty for
// an unknown role.
func (m Message) Trust() Trust {
	switch {
	case m.Kind == KindStatement:
		return TrustAgent
	case m.Role == RoleTool, m.Kind == KindToolCall, m.Kind == KindToolResult:
		return TrustTool
	case m.Role == RoleSystem, m.Kind == KindContext, m.Kind == KindThinking:
		return TrustSystem
	case m.Role == RoleUser:
		return TrustUser
	case m.Role == RoleAssistant:
		return TrustAssistant
	}
	return ""
}

// SaidBy returns the class of the speaker of the evidence: [TrustUser] if every found piece is the user's, else the
// class of the first piece that is not. A model may pair a sentence of the assistant with a "Yes." of the user, which
// does not say the same. The class is empty if nothing was found or no class is recorded.
func SaidBy(evidence []Evidence) Trust {
	by := Trust("")
	for _, e := range evidence {
		if by = cmp.Or(e.Trust, by); by != "" && by != TrustUser {
			return by
		}
	}
	return by
}

// SaidByAgent returns the name of the agent whose statement the evidence is, or "" if no piece is one.
func SaidByAgent(evidence []Evidence) string {
	for _, e := range evidence {
		if e.Trust == TrustAgent {
			return cmp.Or(e.By, "?")
		}
	}
	return ""
}

// Untrusted returns the class of the first piece of evidence whose text may prove nothing, or "" if there is none.
func Untrusted(evidence []Evidence) Trust {
	for _, e := range evidence {
		if e.Trust != "" && !e.Trust.Proves() {
			return e.Trust
		}
	}
	return ""
}
