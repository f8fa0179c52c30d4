package erase

import (
	"encoding/json"

	"axiommind/activities/session"
	"axiommind/activities/tier"
	"axiommind/schema"
)

// verdict is the outcome for an event.
type verdict struct {
	erased  bool
	changed bool
	// payload is the remainder of a changed event.
	payload json.RawMessage
	// answers are the keys of the model answers that the event depends on, if it is erased or changed.
	answers []string
}

// pass is one pass over the log.
type pass struct {
	*gone
	// parts are the lost messages of sessions that lose only some, by stream.
	parts map[string]*part
	// event is the current one, and owner that of its stream. searched is true if the text to erase is looked for in it.
	event    schema.Event
	owner    owner
	searched bool
	// texts knows the text to erase, and nothing else that is erased.
	texts *gone
	// notes are those of the current stream's payloads.
	notes map[string]string
	// regraduate are the projects that lost a result of graduation. Graduation then considers all their sessions again.
	regraduate map[string]bool
}

// part is the part of a session that is erased.
type part struct {
	key schema.SessionKey
	// indexes and keys are those of its erased messages.
	indexes map[int]bool
	keys    map[string]bool
}

// begin begins a stream.
func (p *pass) begin() { p.notes = map[string]string{} }

// judge returns the verdict on an event of a stream that is not erased as a whole.
func (p *pass) judge(e schema.Event, payload any) (v verdict, err error) {
	p.event, p.owner = e, ownerOf(e)
	p.searched = p.searches(p.owner, payload)
	ofErased := p.ofErased()
	if ofErased {
		v.erased = true
	} else if v, err = p.remains(e, payload); err != nil {
		return verdict{}, err
	}
	if v.erased {
		v.changed = false
		if x, ok := payload.(schema.Losing); ok {
			x.Lost(p)
		}
		if project, err := schema.ParseGraduateStream(e.Stream); err == nil && !ofErased && e.Type != schema.SessionGraduated {
			p.regraduate[project] = true
		}
	}
	if v.erased || v.changed {
		v.answers = append(v.answers, answersOf(payload)...)
	}
	return v, nil
}

// ofErased reports whether the columns of the current event name the erased project or an erased session.
func (p *pass) ofErased() bool {
	e, o := p.event, p.owner
	return p.scope.Kind() == schema.EraseProject && e.Project == p.scope.Project ||
		o.memory && e.SessionID != "" && p.OwnsSession(schema.SessionKey{
			Scope: schema.Scope{Project: e.Project, User: o.user, Agent: o.agent}, SessionID: e.SessionID,
		})
}

// remains returns the verdict by the payload's own rule, the general one, or both.
func (p *pass) remains(e schema.Event, payload any) (v verdict, err error) {
	left := schema.Remainder{General: true}
	if x, ok := payload.(schema.Remaining); ok {
		left = x.Remains(p)
	}
	v = verdict{erased: left.Erased, changed: left.Payload != nil, answers: left.Answers}
	if v.changed {
		if v.payload, err = json.Marshal(left.Payload); err != nil {
			return v, err
		}
		e.Payload = v.payload
	}
	if !left.General {
		return v, nil
	}
	general, erased, changed, err := p.reduce(p.owner, e, p.searched)
	if changed {
		v.payload, v.changed = general, true
	}
	v.erased = v.erased || erased
	return v, err
}

// Says implements [schema.Forgetting], as the following methods do.
func (p *pass) Says(text string) bool { return p.searched && p.Contains(text) }

// SaysIn reports the same for the fields of a value that hold text. One that can't be read counts as such.
func (p *pass) SaysIn(v any) bool {
	if !p.searched {
		return false
	}
	data, err := json.Marshal(v)
	if err != nil {
		return true
	}
	if p.texts == nil {
		p.texts = newGone(p.scope)
	}
	_, says, parts, err := p.texts.reduce(owner{}, schema.Event{Payload: data}, true)
	return says || parts || err != nil
}

// Names reports whether the id is that of erased content. Ids of facts are those of the event's memory.
func (p *pass) Names(id string) bool { return p.named(p.owner, id) }

// Owns reports whether the scope belongs to the erased user or project.
func (p *pass) Owns(s schema.Scope) bool {
	switch p.scope.Kind() {
	case schema.EraseUser:
		return s.User == p.scope.User
	case schema.EraseProject:
		return s.Project == p.scope.Project
	default:
		return false
	}
}

// OwnsMessages reports whether a message of a session is erased that loses only some.
func (p *pass) OwnsMessages(stream string, first, last int) bool {
	if stream == "" {
		stream = p.event.Stream
	}
	part := p.parts[stream]
	if part == nil {
		return false
	}
	for index := range part.indexes {
		if index >= first && index <= last {
			return true
		}
	}
	return false
}

// OwnsMessage reports the same for a key of the event's session.
func (p *pass) OwnsMessage(key string) bool {
	part := p.parts[p.event.Stream]
	return part != nil && part.keys[key]
}

// Condition returns the condition that takes the place of a task.
func (p *pass) Condition(taskID string) string { return p.conditions[taskID] }

// Regraduates reports whether graduation lost a result in the project.
func (p *pass) Regraduates(project string) bool { return p.regraduate[project] }

// Note keeps a value until the end of the stream.
func (p *pass) Note(key, value string) { p.notes[key] = value }

// Noted returns a value of [pass.Note].
func (p *pass) Noted(key string) (string, bool) {
	value, ok := p.notes[key]
	return value, ok
}

// Tokens estimates the tokens of the messages.
func (*pass) Tokens(messages []schema.Message) int { return session.Tokens(messages) }

// CoreText returns the text of a version of core memory.
func (*pass) CoreText(items []schema.CoreItem) string { return tier.RenderCore(items) }

// CoreDiff returns the diff of a version of core memory.
func (*pass) CoreDiff(before string, x schema.CoreCommittedPayload) string {
	return tier.Diff(before, x.Text, tier.VersionName(x.Parent), tier.VersionName(x.Version))
}

// answersOf returns the keys of the model answers from which the payload was made.
func answersOf(payload any) []string {
	if x, ok := payload.(schema.Answering); ok {
		return x.AnswerKeys()
	}
	return nil
}

// wordsOf calls f with the texts of people and tools in an erased event.
func wordsOf(payload any, f func(string)) {
	if x, ok := payload.(schema.Speaking); ok {
		x.Words(f)
	}
}

// declares returns the id that the event gives to a thing, apart from its own, or "".
func declares(payload any) (id string, inMemory bool) {
	if x, ok := payload.(schema.Declaring); ok {
		return x.Declares()
	}
	return "", false
}
