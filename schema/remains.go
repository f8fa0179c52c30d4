package schema

import "encoding/json"

// Each payload defines its remainder after an erasure, by the interfaces of this file. For all others one rule holds: lists
// lose the elements that name erased content, and a payload that names such content elsewhere is erased.

// Remaining is a payload with a rule of its own.
type Remaining interface {
	// Remains returns the remainder of the payload, which it does not change. A second call changes nothing.
	Remains(f Forgetting) Remainder
}

// Remainder is the part of a payload that an erasure leaves.
type Remainder struct {
	// Payload is the remainder, or nil if it equals the payload.
	Payload any
	// Erased is true if nothing remains.
	Erased bool
	// General is true if the rule for all payloads applies to the remainder as well.
	General bool
	// Answers are keys of model answers that are erased even if all of the payload is left.
	Answers []string
}

// remainder returns a remainder that differs from the payload if changed is true.
func remainder(payload any, changed bool) Remainder {
	if !changed {
		return Remainder{}
	}
	return Remainder{Payload: payload}
}

// Forgetting answers the questions of payloads about an erasure. The payloads of a stream ask in the order of their events.
type Forgetting interface {
	// Says reports whether a text of the event contains the one to erase. It is false if the event belongs to another owner
	// than the one that the erasure names.
	Says(text string) bool
	// SaysIn is [Forgetting.Says] for all texts in the JSON of a value.
	SaysIn(v any) bool
	// Searches reports whether a text of the owner may be one to erase, and Contains whether it contains the one to erase,
	// for payloads with content of several owners.
	Searches(owner Scope) bool
	Contains(text string) bool
	// Names reports whether the id is that of an erased event, message, entry, task, fact, or anything else with an id.
	Names(id string) bool
	// Owns reports whether the scope belongs to the erased user or project.
	Owns(scope Scope) bool
	// OwnsSession reports whether the session is erased as a whole.
	OwnsSession(key SessionKey) bool
	// OwnsMessages reports whether any of the messages from first to last is erased, in the session with the stream. The
	// event's own stream may be given as "".
	OwnsMessages(stream string, first, last int) bool
	// OwnsMessage is the same for the message of the event's session with the key.
	OwnsMessage(key string) bool
	// Rename returns the name, or [ForgottenName] in place of the erased user's.
	Rename(name string) string
	// Condition returns the id of the condition that takes the place of an erased task, or "".
	Condition(taskID string) string
	// Regraduates reports whether graduation lost a result in the project, and so has to consider all sessions again.
	Regraduates(project string) bool
	// Note keeps a value for the payloads of later events of the stream, and Noted returns it.
	Note(key, value string)
	Noted(key string) (value string, ok bool)

	// Tokens estimates the tokens of the messages. CoreText and CoreDiff return the text of a version of core memory with
	// the items, and the diff from its parent's text.
	Tokens(messages []Message) int
	CoreText(items []CoreItem) string
	CoreDiff(before string, version CoreCommittedPayload) string
}

// ForgottenName takes the place of an erased name where an event needs one.
const ForgottenName = "forgotten"

// ForgottenText takes the place of an erased text.
var ForgottenText = Redacted(ForgottenName)

// Losing is a payload whose loss matters to later events of its stream.
type Losing interface {
	// Lost is called if the payload is erased.
	Lost(f Forgetting)
}

// Answering is a payload that was made from answers of a model. They are erased with it, or with a part of it.
type Answering interface {
	// AnswerKeys are the keys of the answers. Some may be empty.
	AnswerKeys() []string
}

// Speaking is a payload with texts of people and tools. Texts derived by a model or a rule are left out, because the same
// text may also have been derived from another person's words.
type Speaking interface {
	// Words calls f with each of the texts.
	Words(f func(text string))
}

// Declaring is a payload that gives a thing its id. An event that names the thing names erased content if all events
// about it are erased.
type Declaring interface {
	// Declares returns the id. It is unique in the log, or, if inMemory is true, in its memory only.
	Declares() (id string, inMemory bool)
}

// Succeeding is a payload that can take over the declaration of a thing that it names, if the declaring event is erased.
type Succeeding interface {
	// Succeeds describes the things, by their ids. Words that are erased themselves take over nothing.
	Succeeds(f Forgetting) map[string]Succession
}

// Succession describes a thing that an erased event declared, in the words of a remaining one.
type Succession struct {
	// Waits is true if the event only says that something waits for a task. The task then becomes a condition, because no
	// remaining event is about it.
	Waits bool
	// Text is the event's text for a thing that a task waits for.
	Text string
	// SaidBy is who says so in the session. The erasure sets it, for facts alone.
	SaidBy Trust
}

// Heritable is a declaration that a [Succeeding] payload can take over.
type Heritable interface {
	// Inherit returns the declaration in the words of the payload, or nil if the payload is not about the thing.
	Inherit(by any, s Succession) any
}

// ActOf returns the act that the payload belongs to, which is zero for most payloads.
func ActOf(payload any) Act {
	if x, ok := payload.(interface{ Cause() Act }); ok {
		return x.Cause()
	}
	return Act{}
}

// EachString calls f with each string value of the JSON, but not with its keys.
func EachString(data []byte, f func(string)) {
	var v any
	if json.Unmarshal(data, &v) == nil {
		eachString(v, f)
	}
}

func eachString(v any, f func(string)) {
	switch v := v.(type) {
	case string:
		f(v)
	case []any:
		for _, item := range v {
			eachString(item, f)
		}
	case map[string]any:
		for _, item := range v {
			eachString(item, f)
		}
	}
}
