package erase

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"axiommind/schema"
)

// A statement that took the place of another and left in the same version is nowhere but in the list of what was dropped.
// Its words go with its source from there too.
func TestReplacementThatLeftIsErased(t *testing.T) {
	t.Parallel()
	p := &pass{gone: newGone(schema.ErasureScope{User: "bob"})}
	p.begin()
	p.ids["s2"] = true
	e := schema.Event{Stream: schema.MemoryStream("ann", "")}
	v, err := p.judge(e, schema.CoreCommittedPayload{Version: 2, Parent: 1, Dropped: []schema.DroppedItem{
		{Text: "Likes tea.", From: schema.FromMemory, Reason: schema.DroppedMerged, By: "Likes tea. Has a cat.", Sources: []string{"s1"}},
		{Text: "Likes tea. Has a cat.", From: schema.FromMemory, Reason: schema.DroppedRoom, Sources: []string{"s1", "s2"}},
	}})
	require.NoError(t, err)
	require.True(t, v.changed)
	left, err := schema.Decode[schema.CoreCommittedPayload](schema.Event{Type: schema.CoreCommitted, Payload: v.payload})
	require.NoError(t, err)
	require.Equal(t, []schema.DroppedItem{
		{Text: "Likes tea.", From: schema.FromMemory, Reason: schema.DroppedMerged, Sources: []string{"s1"}},
	}, left.Dropped)
}

// A text that was copied from a list is found in the statement.
func TestWantedText(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]bool{
		"- call ZOE": true, "* call\nZoe": true, "## Call Zoe": true, "> - call zoe at": true, "call - zoe": false, "-rf": false, "#oe": false, "- at": false, "> > at noon": true, "- call zoe" + strings.Repeat(" ", 90) + "\t": true, " ": false,
	} {
		require.Equal(t, want, newGone(schema.ErasureScope{Project: "p", Query: query}).Contains("Call Zoe at noon."), query)
	}
	require.True(t, newGone(schema.ErasureScope{Project: "p", Query: "#"}).Contains("issue #7"))
}

// The remainder of a payload has nothing of the erased content, be it a text, an owner or an id, and a second erasure finds
// nothing more in it. Each field of all registered payloads is tried by itself. Other fields may contain the same characters:
// names and kinds mean something else.
func TestEveryPayloadSaysWhatRemains(t *testing.T) {
	t.Parallel()
	const mark = "forgotten zebra"
	scopes := map[string]schema.ErasureScope{
		"text": {Project: "p", Query: "Forgotten"}, "owner": {User: mark}, "id": {Project: "p", User: "u", SessionID: "s"},
	}
	fields := map[string][]string{
		"text": {
			"title", "content", "text", "quote", "summary", "reason", "detail", "because", "action", "diary", "record", "heading", "source_error", "raw",
			"error", "quarantined", "refused", "TaskTitleChangedPayload.from", "TaskTitleChangedPayload.to", "DroppedItem.by",
		},
		"owner": {"user", "by"},
		"id": {
			"entry_id", "fact_id", "task_id", "older_id", "newer_id", "original_id", "superseded_by", "decision_id", "conflict_id", "proposal_id", "sources",
			"gathered", "duplicate_of", "id",
		},
	}
	but := map[string][]string{
		"owner": {"DroppedItem.by", "Statement.by"}, // A text, and an agent's name.
		"id":    {"InlineMessage.id"},               // The sender's.
		"text":  {"DroppedItem.reason", "PassedOver.reason", "ContextEnqueuedPayload.refused"},
	}
	// Sessions are deleted with their owner, and no entry causes a version.
	never := map[string][]string{"owner": {schema.SessionIngested, schema.OriginalSealed}, "id": {schema.CoreCommitted + "Act.entry_id"}}
	for _, kind := range schema.EventTypes() {
		for n := 0; ; n++ {
			payload, typed := filled(kind, n, mark)
			if typed == "" {
				break
			}
			_, field, _ := strings.Cut(typed, ".")
			for name, scope := range scopes {
				require.NoError(t, scope.Validate())
				holds := (slices.Contains(fields[name], field) || slices.Contains(fields[name], typed)) && !slices.Contains(but[name], typed)
				if !holds && (name != "text" || textFields[field]) || slices.Contains(never[name], kind.Name) || slices.Contains(never[name], kind.Name+typed) {
					continue
				}
				t.Run(fmt.Sprintf("%s/%s/%s/%d", name, kind.Name, field, n), func(t *testing.T) {
					p := &pass{gone: newGone(scope), parts: map[string]*part{}, regraduate: map[string]bool{}}
					p.ids[mark] = name == "id"
					e := schema.Event{ID: "e", Type: kind.Name, Stream: streamOf(kind), Project: "p"}
					if kind.Name == schema.SessionIngested && field == "text" { // Its messages have been searched before.
						p.parts[e.Stream] = &part{indexes: map[int]bool{1: true}}
					}
					left := remainderOf(t, p, e, payload)
					if !holds {
						require.JSONEq(t, string(payload), string(left), "the field holds no such content")
						return
					}
					require.NotContains(t, string(left), mark)
					if left != nil {
						require.Equal(t, string(left), string(remainderOf(t, p, e, left)), "a second erasure finds nothing")
					}
				})
			}
		}
	}
}

// remainderOf returns the remainder of the payload, or nil if it is erased.
func remainderOf(t *testing.T, p *pass, e schema.Event, payload []byte) []byte {
	t.Helper()
	p.begin()
	if e.Type == schema.BatchReported {
		p.Note("searched 1", "") // By the list of its items.
	}
	e.Payload = payload
	decoded, err := schema.DecodePayload(e)
	require.NoError(t, err)
	v, err := p.judge(e, decoded)
	require.NoError(t, err)
	again, err := schema.DecodePayload(e)
	require.NoError(t, err)
	require.Equal(t, again, decoded, "the payload stays as it was")
	switch {
	case v.erased:
		return nil
	case v.changed:
		return v.payload
	}
	return payload
}

// streamOf returns the name of a stream with such events, of the user u and the project p.
func streamOf(kind schema.EventType) string {
	session := schema.SessionKey{Scope: schema.Scope{Project: "p", User: "u"}, SessionID: "other"}
	for _, name := range []string{session.Stream(), schema.MemoryStream("u", ""), schema.ProjectStream("p"), schema.GraduateStream("p"), schema.QueueStream("u", "")} {
		if strings.HasPrefix(name, kind.StreamPrefix) && kind.StreamPrefix != "" {
			return name
		}
	}
	return kind.StreamPrefix + "other"
}

// filled returns a payload in which the nth string is the text, and its type and field, as in Scope.user, or "" if there are
// fewer strings. Each list has an element, and numbers are 1.
func filled(kind schema.EventType, nth int, text string) (payload []byte, field string) {
	v := reflect.ValueOf(kind.NewPayload()).Elem()
	n := 0
	fill(v, "", func(name string) string {
		if n++; n-1 == nth {
			field = name
			return text
		}
		switch _, name, _ := strings.Cut(name, "."); name {
		case "user":
			return "u"
		case "project":
			return "p"
		case "role":
			return schema.RoleStatement
		}
		return "other"
	})
	payload, err := json.Marshal(v.Interface())
	if err != nil {
		panic(err)
	}
	return payload, field
}

func fill(v reflect.Value, field string, text func(field string) string) {
	switch {
	case v.Type() == reflect.TypeFor[schema.Stage]():
		v.SetString(string(schema.StageVerified)) // Decisions take no other evidence.
	case v.Type() == reflect.TypeFor[string]():
		v.SetString(text(field))
	case v.Type() == reflect.TypeFor[json.RawMessage]():
		v.SetBytes([]byte(`{"of the model": ` + strconv.Quote(text(field)) + `}`))
	case v.Kind() == reflect.Int:
		v.SetInt(1)
	case v.Kind() == reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), field, text)
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() != reflect.Uint8:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), field, text)
	case v.Kind() == reflect.Struct && v.Type() != reflect.TypeFor[time.Time]():
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() {
				name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
				fill(v.Field(i), v.Type().Name()+"."+name, text)
			}
		}
	}
}
