package erase

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"axiommind/activities/text"
	"axiommind/schema"
)

// gone is the erased content, as other events may name it.
type gone struct {
	scope schema.ErasureScope
	// query is the text to erase, in the form in which texts are compared.
	query string
	// sessions are the erased sessions, by their ids.
	sessions map[string][]schema.SessionKey
	// ids are the ids of erased events, entries, tasks and all else with an id that is unique in the log. Messages are
	// included, by the ids of their items in the vector store.
	ids map[string]bool
	// facts are the ids of erased facts by the streams of their memories, because other memories may use the same ids.
	facts map[string]map[string]bool
	// ownEntries are the entries of the sessions in which the text to erase is looked for. A query erases nothing derived
	// from other entries.
	ownEntries map[string]bool
	// conditions are the ids of the conditions that replace blocking tasks, by the ids of these tasks.
	conditions map[string]string
}

func newGone(scope schema.ErasureScope) *gone {
	return &gone{
		scope: scope, query: wanted(scope.Query), sessions: map[string][]schema.SessionKey{}, ids: map[string]bool{},
		facts: map[string]map[string]bool{}, ownEntries: map[string]bool{}, conditions: map[string]string{},
	}
}

// listMarks are marks before a statement that is copied from a list.
var listMarks = regexp.MustCompile(`^(?:(?:[-*+>]|#{1,6}) )+`)

// wanted returns the text to erase as it is compared, without list marks at its beginning, unless too little is left.
func wanted(query string) string {
	whole := comparable(query)
	if text := listMarks.ReplaceAllString(whole, ""); len(text) >= schema.MinEraseQuery {
		return text
	}
	return whole
}

// comparable returns the form in which the text to erase is compared. Case, width and white space do not count.
func comparable(s string) string { return strings.Join(strings.Fields(text.Caseless(s)), " ") }

// Contains reports whether the text contains the one to erase.
func (g *gone) Contains(s string) bool {
	return g.query != "" && len(s) >= min(len(g.scope.Query), len(g.query))/4 && strings.Contains(comparable(s), g.query)
}

func (g *gone) addSession(key schema.SessionKey) {
	if !g.OwnsSession(key) {
		g.sessions[key.SessionID] = append(g.sessions[key.SessionID], key)
	}
}

// OwnsSession reports whether the session is erased as a whole.
func (g *gone) OwnsSession(key schema.SessionKey) bool {
	return slices.Contains(g.sessions[key.SessionID], key)
}

func (g *gone) addFact(memory, id string) {
	if g.facts[memory] == nil {
		g.facts[memory] = map[string]bool{}
	}
	g.facts[memory][id] = true
}

// size returns the number of erased items. It grows until a pass over the log finds nothing more.
func (g *gone) size() int {
	n := len(g.ids) + len(g.conditions)
	for _, facts := range g.facts {
		n += len(facts)
	}
	return n
}

// owner is the owner of an event's stream, as far as the stream's name contains it.
type owner struct {
	project, user, agent string
	// memory is true if user and agent are known, and with them the stream of the memory.
	memory bool
}

func ownerOf(e schema.Event) owner {
	if key, ok := sessionOf(e.Stream); ok {
		return owner{key.Project, key.User, key.Agent, true}
	}
	if user, agent, err := schema.ParseMemoryStream(e.Stream); err == nil {
		return owner{e.Project, user, agent, true}
	}
	if user, agent, err := schema.ParseQueueStream(e.Stream); err == nil {
		return owner{e.Project, user, agent, true}
	}
	return owner{project: e.Project}
}

// sessionOf returns the session of a stream of messages.
func sessionOf(stream string) (schema.SessionKey, bool) {
	key, err := schema.ParseSessionStream(stream)
	if err != nil {
		key, _, err = schema.ParseContextStream(stream)
	}
	return key, err == nil
}

func (o owner) stream() string { return schema.MemoryStream(o.user, o.agent) }

// Searches reports whether the text to erase is looked for in content of the owner.
func (g *gone) Searches(owner schema.Scope) bool {
	return g.query != "" && (g.scope.Project == "" || owner.Project == g.scope.Project) && (g.scope.User == "" || owner.User == g.scope.User)
}

// searches reports whether the text to erase is looked for in an event of the owner. It is if the event belongs to the user and
// the project of the scope.
func (g *gone) searches(o owner, payload any) bool {
	if g.query == "" {
		return false
	}
	user, project := g.scope.User, g.scope.Project
	if project != "" && o.project != project {
		return false
	}
	if user == "" {
		return true
	}
	if o.memory {
		return o.user == user
	}
	if owned, ok := payload.(interface{ Owner() schema.Scope }); ok {
		return owned.Owner().User == user
	}
	return g.ownEntries[causeOf(payload)]
}

// textFields are the fields of payloads with text that people or models wrote. Other fields contain names, kinds and
// ids, in which the text to erase has no meaning.
var textFields = map[string]bool{
	"title": true, "content": true, "text": true, "quote": true, "summary": true, "reason": true, "detail": true, "because": true,
	"action": true, "diary": true, "record": true, "heading": true, "source_error": true, "sourceError": true, "raw": true, "error": true,
	"canonical_key": true, "aliases": true, "blockedBy": true,
}

// named reports whether the string is the id of an erased item.
func (g *gone) named(o owner, s string) bool {
	if g.ids[s] || o.memory && g.facts[o.stream()][s] {
		return true
	}
	event, _, ok := strings.Cut(s, "/") // A message of an event.
	return ok && g.ids[event]
}

// walk reduces a JSON value to its remainder.
type walk struct {
	*gone
	owner
	// searched is true if the walk looks for the text to erase.
	searched bool
	changed  bool
}

// reduce returns the remainder of a payload: lists lose the elements that name erased content. isGone is true if the
// payload names erased content outside of a list, and changed if a remainder differs from the payload.
//
// A list of evidence is kept or erased as a whole, because a statement that depends on an erased piece has no support.
func (g *gone) reduce(o owner, e schema.Event, searched bool) (payload json.RawMessage, isGone, changed bool, err error) {
	decoder := json.NewDecoder(bytes.NewReader(e.Payload))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, false, false, fmt.Errorf("read event %q: %w", e.ID, err)
	}
	w := &walk{gone: g, owner: o, searched: searched}
	value, isGone = w.value("", value)
	if isGone || !w.changed {
		return nil, isGone, false, nil
	}
	payload, err = json.Marshal(value)
	return payload, false, true, err
}

// value returns the remainder of the value of the field.
func (w *walk) value(field string, v any) (left any, isGone bool) {
	switch v := v.(type) {
	case string:
		return v, w.named(w.owner, v) || w.searched && textFields[field] && w.Contains(withoutKeyPrefix(field, v))
	case map[string]any:
		return w.object(v)
	case []any:
		return w.list(field, v), false
	default:
		return v, false
	}
}

// withoutKeyPrefix returns the text of a field without the prefix of a canonical key, which contains the project's name.
func withoutKeyPrefix(field, text string) string {
	if field == "canonical_key" || field == "aliases" {
		if parts := strings.SplitN(text, ":", 3); len(parts) == 3 {
			return parts[2]
		}
	}
	return text
}

func (w *walk) list(field string, values []any) any {
	left := make([]any, 0, len(values))
	for _, v := range values {
		if v, isGone := w.value(field, v); !isGone {
			left = append(left, v)
		}
	}
	if len(left) == len(values) {
		return left
	}
	w.changed = true
	return left
}

func (w *walk) object(o map[string]any) (left any, isGone bool) {
	if w.isOwned(o) || w.quotesErased(o) {
		return o, true
	}
	for name, v := range o {
		pieces := piecesOf(v)
		v, gone := w.value(name, v)
		if gone || pieces > 0 && len(v.([]any)) < pieces {
			return o, true
		}
		if by, ok := v.(string); ok && name == "by" {
			v = w.Rename(by)
			w.changed = w.changed || v != by
		}
		o[name] = v
	}
	return o, false
}

// Rename returns the name, or another one in place of the erased user's.
func (g *gone) Rename(name string) string {
	if g.scope.Kind() == schema.EraseUser && name == g.scope.User {
		return schema.ForgottenName
	}
	return name
}

// piecesOf returns the length of a list of pieces of evidence, and 0 for anything else.
func piecesOf(v any) int {
	list, ok := v.([]any)
	if !ok || len(list) == 0 {
		return 0
	}
	piece, ok := list[0].(map[string]any)
	if _, indexed := piece["message_index"]; !ok || !indexed {
		return 0
	}
	return len(list)
}

// isOwned reports whether the object's fields name the erased scope or an erased session as its owner.
func (w *walk) isOwned(o map[string]any) bool {
	field := func(name string) (string, bool) {
		s, ok := o[name].(string)
		return s, ok
	}
	user, hasUser := field("user")
	project, hasProject := field("project")
	switch w.scope.Kind() {
	case schema.EraseUser:
		if hasUser && user == w.scope.User {
			return true
		}
	case schema.EraseProject:
		if hasProject && project == w.scope.Project {
			return true
		}
	}
	id, ok := field("session_id")
	if !ok {
		if id, ok = field("thread"); !ok {
			return false
		}
	}
	agent, hasAgent := field("agent")
	for _, key := range w.sessions[id] {
		sameProject := hasProject && project == key.Project || !hasProject && w.project == key.Project
		sameUser := hasUser && user == key.User || !hasUser && (!w.memory || w.user == key.User)
		sameAgent := hasAgent && agent == key.Agent || !hasAgent && (hasUser && key.Agent == "" || !hasUser && (!w.memory || w.agent == key.Agent))
		if sameProject && sameUser && sameAgent {
			return true
		}
	}
	return false
}

// quotesErased reports whether the object is a piece of evidence from an erased message.
func (w *walk) quotesErased(o map[string]any) bool {
	event, ok := o["event_id"].(string)
	if !ok {
		return false
	}
	index, ok := o["message_index"].(json.Number)
	if !ok {
		return false
	}
	n, err := index.Int64()
	return err == nil && w.ids[messageID(event, int(n))]
}

// messageID returns the id of a message's item in the vector store.
func messageID(event string, index int) string { return fmt.Sprintf("%s/%08d", event, index) }
