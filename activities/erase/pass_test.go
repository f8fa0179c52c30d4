package erase

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

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

// What a payload says of its remainder must leave nothing of the erased content, be it a text, an owner or an id. All
// registered payloads are asked, with every field that can hold such content filled.
func TestEveryPayloadSaysWhatRemains(t *testing.T) {
	t.Parallel()
	const mark = "the-zebra-of-ann"
	texts := []string{
		"title", "content", "text", "quote", "summary", "reason", "detail", "because", "action", "diary", "record", "heading", "source_error", "raw", "error",
	}
	ids := []string{
		"entry_id", "fact_id", "task_id", "older_id", "newer_id", "original_id", "superseded_by", "decision_id", "conflict_id", "proposal_id", "sources",
		"gathered", "duplicate_of", "id",
	}
	for name, c := range map[string]struct {
		scope  schema.ErasureScope
		fields []string
		// but are types of events that have other values in such fields, or whose streams are deleted as a whole.
		but []string
	}{
		"text": {schema.ErasureScope{Query: mark}, texts, nil},
		"owner": {schema.ErasureScope{User: mark}, []string{"user", "by"}, []string{
			schema.SessionIngested, schema.OriginalSealed, schema.CoreCommitted, schema.DreamFinished,
		}},
		"id": {schema.ErasureScope{Project: "p", User: "u", SessionID: "s"}, ids, []string{schema.BatchListed}},
	} {
		for _, kind := range schema.EventTypes() {
			if slices.Contains(c.but, kind.Name) {
				continue
			}
			t.Run(name+"/"+kind.Name, func(t *testing.T) {
				t.Parallel()
				payload := reflect.New(reflect.TypeOf(kind.NewPayload()).Elem())
				fields := c.fields
				if kind.Name == schema.CoreCommitted { // No entry causes a version.
					fields = slices.DeleteFunc(slices.Clone(fields), func(f string) bool { return f == "entry_id" })
				}
				fill(payload.Elem(), "", mark, fields)
				data, err := json.Marshal(payload.Interface())
				require.NoError(t, err)
				if !strings.Contains(string(data), mark) {
					t.Skip("it has no such field")
				}
				p := &pass{gone: newGone(c.scope), parts: map[string]*part{}, regraduate: map[string]bool{}}
				p.begin()
				e := schema.Event{ID: "e", Type: kind.Name, Stream: kind.StreamPrefix + "p/u", Payload: data}
				switch name {
				case "text":
					p.parts[e.Stream] = &part{indexes: map[int]bool{filled: true}, keys: map[string]bool{}}
				case "id":
					p.ids[mark] = true
				}
				decoded, err := schema.DecodePayload(e)
				require.NoError(t, err)
				v, err := p.judge(e, decoded)
				require.NoError(t, err)
				left := string(data)
				if v.changed {
					left = string(v.payload)
				}
				if !v.erased {
					require.NotContains(t, left, mark)
				}
			})
		}
	}
}

// filled is the value of all numbers.
const filled = 1

// fill gives the fields with the names the text, lists an element and numbers [filled].
func fill(v reflect.Value, field, text string, fields []string) {
	switch v.Kind() {
	case reflect.String:
		if v.Type() == reflect.TypeFor[schema.Stage]() {
			v.SetString(string(schema.StageVerified)) // Decisions take no other evidence.
		} else if v.Type() == reflect.TypeFor[string]() {
			v.SetString("other")
			if slices.Contains(fields, field) {
				v.SetString(text)
			}
		}
	case reflect.Int:
		v.SetInt(filled)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), field, text, fields)
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), field, text, fields)
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() {
				name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
				fill(v.Field(i), name, text, fields)
			}
		}
	}
}
