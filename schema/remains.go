package schema

import "encoding/json"

// What an erasure leaves of an event is for its payload to say. The interfaces of this file are those that it may
// implement. For all others one rule holds: lists lose the elements that name erased content, and a payload that names
// such content elsewhere is erased.

// Remaining is a payload with a rule of its own.
type Remaining interface {
	// Remains returns what an erasure leaves of the payload. It may change the payload's slices.
	Remains(f Forgetting) Remainder
}

// Remainder is what an erasure leaves of a payload.
type Remainder struct {
	// Payload is what is left if that differs from the payload, and nil otherwise.
	Payload any
	Erased  bool
	// General is true if the rule for all payloads applies to the remainder as well.
	General bool
	// Answers are keys of model answers that are erased even if all of the payload is left.
	Answers []string
}

// remainder returns the payload as what is left, if it has changed.
func remainder(payload any, changed bool) Remainder {
	if !changed {
		return Remainder{}
	}
	return Remainder{Payload: payload}
}

// Forgetting is an erasure, as the payloads of a stream ask about it in the order of their events.
type Forgetting interface {
	// Says reports whether a text of the event contains the one to erase.
	Says(text string) bool
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

// ForgottenName replaces the name of an erased user, and ForgottenText an erased text, where an event needs one.
const ForgottenName = "forgotten"

// ForgottenText is the marker of an erased text.
var ForgottenText = Redacted(ForgottenName)

// Noting is a payload whose loss matters to later events of its stream.
type Noting interface {
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
	// Succeeds returns what the payload knows of the things, by their ids.
	Succeeds() map[string]Succession
}

// Succession is what a remaining event knows of a thing that an erased one declared.
type Succession struct {
	// Waits is true if the event only says that something waits for a task. The task then becomes a condition, because no
	// remaining event is about it.
	Waits bool
	// Text is the event's text for a thing that a task waits for.
	Text string
	// SaidBy is who says so in the session, if the event is about a fact.
	SaidBy Trust
}

// Heritable is a declaration that a [Succeeding] payload can take over.
type Heritable interface {
	// Inherit returns the declaration in the words of the payload.
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

// saysAny reports whether a string of the JSON of v contains the text to erase. Text that can't be read counts as such.
func saysAny(f Forgetting, v any) bool {
	data, err := json.Marshal(v)
	found := err != nil
	EachString(data, func(s string) { found = found || f.Says(s) })
	return found
}
