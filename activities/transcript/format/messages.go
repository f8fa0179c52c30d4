package format

import (
	"axiommind/schema"

	"github.com/tidwall/gjson"
)

// messages reads records with a role and content in the shapes of OpenAI, Anthropic, Gemini and ShareGPT, and Claude's
// export. Field names and times vary; see turn.
var messages = Format{
	Name: "messages", Title: "messages", Files: "with role and content (JSON or JSONL), also wrapped or nested",
	Reference: "the interfaces of OpenAI, Anthropic and Gemini",
	Dirs:      nowhere,
	isRecord:  isMessages, reader: messagesReader, lists: true, anonymous: true,
	sameNames: []string{"messages"},
}

func isMessages(rec gjson.Result) bool {
	if rec.IsArray() {
		return isMessages(rec.Get("0"))
	}
	return isTurn(rec) || isTurn(turnsOf(rec).Get("0"))
}

// messagesReader reads messages: one a line or element, lists of them, or conversations that wrap
// such a list.
//
// A list may be a snapshot that repeats an earlier list of the source and continues it. Only the continuation of such a
// list is read, so that a session logged after each turn is read once.
func messagesReader() recordFunc {
	seen := make(map[string]bool)
	return func(b *builder, line int, rec gjson.Result) {
		turns := turnsOf(rec)
		switch {
		case rec.IsArray():
			b.snapshot(line, flatten(rec, 0), seen)
		case isTurn(rec):
			b.turn(line, rec)
		case turns.Exists():
			b.conversation(line, rec, turns)
		case rec.IsObject() && (rec.Get("type").Str != "" || firstOf(rec, "session_id", "sessionId").Exists()):
			b.header(line, rec)
		default:
			b.skip(line, reasonNoRecord)
		}
	}
}

// minIDLen is how long a field called "id" must be to be taken for unique beyond its source.
const minIDLen = 16

// conversation reads a wrapped list as a session of its own.
func (b *builder) conversation(line int, rec, turns gjson.Result) {
	id := firstOf(rec, "sessionId", "session_id", "conversation_id", "conversationId").String()
	if other := firstOf(rec, "id", "uuid").String(); id == "" && len(other) >= minIDLen {
		id = other
	}
	if id != "" {
		b.useSession(id)
	} else {
		b.startSession("")
	}
	b.describe(line, rec)
	turns.ForEach(func(_, turn gjson.Result) bool {
		if isTurn(turn) {
			b.turn(line, turn)
		} else {
			b.skip(line, reasonNoRecord)
		}
		return true
	})
}

// flatten returns the objects of nested lists, in order.
func flatten(list gjson.Result, depth int) []gjson.Result {
	var out []gjson.Result
	list.ForEach(func(_, v gjson.Result) bool {
		if v.IsArray() && depth < 4 {
			out = append(out, flatten(v, depth+1)...)
		} else {
			out = append(out, v)
		}
		return true
	})
	return out
}

// snapshot reads the turns after the longest prefix that an earlier snapshot began with.
func (b *builder) snapshot(line int, turns []gjson.Result, seen map[string]bool) {
	prefix := ""
	known := true
	for _, t := range turns {
		prefix = schema.HashParts(prefix, t.Raw)
		if known = known && seen[prefix]; known {
			continue
		}
		seen[prefix] = true
		switch {
		case isTurn(t):
			b.turn(line, t)
		case isTurn(turnsOf(t).Get("0")):
			b.conversation(line, t, turnsOf(t))
		default:
			b.skip(line, reasonNoRecord)
		}
	}
}
