package answer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"axiommind/schema"
)

// listKeys are the folded names under which models put the list of entries.
var listKeys = map[string]bool{
	"entries": true, "memories": true, "items": true, "memoryentries": true, "extractedentries": true,
}

// aliases maps folded names to the schema's, for each object of an entry.
var (
	entryKeys = map[string]string{
		"entryid": "entryId", "id": "entryId", "type": "type", "entrytype": "type", "title": "title", "summary": "title",
		"content": "content", "details": "content", "category": "category", "confidence": "confidence",
		"task": "task", "evidence": "evidence", "evidences": "evidence", "quotes": "evidence",
		"evidencespans": "evidence", "section": "section", "profilesection": "section", "sourceerror": "sourceError",
		"mistake": "sourceError",
	}
	taskKeys = map[string]string{
		"title": "title", "status": "status", "priority": "priority", "blockedby": "blockedBy",
		"blockers": "blockedBy",
	}
	quoteKeys = map[string]string{
		"messageindex": "messageIndex", "msgindex": "messageIndex", "index": "messageIndex",
		"message": "messageIndex", "quote": "quote", "text": "quote",
	}
	statusNames = map[string]string{
		"todo": "pending", "open": "pending", "not_started": "pending", "started": "in_progress",
		"doing": "in_progress", "inprogress": "in_progress", "waiting": "blocked", "complete": "done",
		"completed": "done", "finished": "done", "closed": "done", "canceled": "cancelled",
	}
	typeNames = map[string]string{
		"task": "task_note", "tasknote": "task_note", "todo": "task_note", "profile": "fact", "user_profile": "fact",
		"profile_section": "fact", "profile_summary": "fact",
	}
	// sectionNames maps folded names to sections of the profile.
	sectionNames = map[string]string{
		"work": schema.SectionWork, "workcontext": schema.SectionWork,
		"personal": schema.SectionPersonal, "personalcontext": schema.SectionPersonal,
		"topofmind": schema.SectionTopOfMind, "currentfocus": schema.SectionTopOfMind,
		"recent": schema.SectionRecent, "recentmonths": schema.SectionRecent, "recentcontext": schema.SectionRecent,
		"earlier": schema.SectionEarlier, "earliercontext": schema.SectionEarlier,
		"background": schema.SectionBackground, "longtermbackground": schema.SectionBackground,
	}
)

// entrySchema is the schema of one item of the list, without the condition that a fact has a category and a confidence: one
// that has neither is a memory all the same, and package fact skips the fact with its reason.
var entrySchema = sync.OnceValues(func() (*jsonschema.Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema.ExtractionSchema))
	if err != nil {
		return nil, fmt.Errorf("read extraction schema: %w", err)
	}
	const url = "urn:axiommind:" + schema.SchemaVersion
	c := jsonschema.NewCompiler()
	if err := c.AddResource(url, doc); err != nil {
		return nil, fmt.Errorf("add extraction schema: %w", err)
	}
	s, err := c.Compile(url + "#/properties/entries/items")
	if s != nil {
		s.If, s.Then = nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("compile extraction schema: %w", err)
	}
	return s, nil
})

// readEntry reads one item: names and shapes first, then the schema. The error names the mistake and its place.
func readEntry(raw json.RawMessage) (schema.ExtractedEntry, error) {
	var item map[string]any
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if err := dec.Decode(&item); err != nil || item == nil {
		return schema.ExtractedEntry{}, errors.New("item is not an object")
	}
	tidied := tidyEntry(item)
	s, err := entrySchema()
	if err != nil {
		return schema.ExtractedEntry{}, err
	}
	if err := s.Validate(tidied); err != nil {
		return schema.ExtractedEntry{}, errors.New(explain(err))
	}
	var entry schema.ExtractedEntry
	data, err := json.Marshal(tidied)
	if err == nil {
		err = json.Unmarshal(data, &entry)
	}
	if err != nil {
		return schema.ExtractedEntry{}, fmt.Errorf("read item: %w", err)
	}
	return entry, nil
}

// tidyEntry gives an item the names and shapes of the schema where its meaning is beyond doubt. It drops fields that
// the schema does not have; it never makes up a value.
func tidyEntry(item map[string]any) map[string]any {
	out := tidyObject(item, entryKeys)
	if label, ok := out["entryId"].(json.Number); ok {
		out["entryId"] = label.String()
	}
	tidyName(out, "type", typeNames)
	tidyName(out, "category", nil)
	tidyNumber(out, "confidence")
	tidyFact(out)
	if task, ok := out["task"].(map[string]any); ok {
		task = tidyObject(task, taskKeys)
		tidyName(task, "status", statusNames)
		tidyName(task, "priority", nil)
		tidyList(task, "blockedBy")
		out["task"] = task
	} else if title, ok := out["task"].(string); ok {
		out["task"] = map[string]any{"title": title}
	}
	if out["type"] != string(schema.EntryTaskNote) {
		delete(out, "task")
	} else if out["task"] == nil {
		out["task"] = map[string]any{} // The note's title names it.
	}
	tidyList(out, "evidence")
	if quotes, ok := out["evidence"].([]any); ok {
		for i, q := range quotes {
			if object, ok := q.(map[string]any); ok {
				object = tidyObject(object, quoteKeys)
				tidyNumber(object, "messageIndex")
				quotes[i] = object
			}
		}
	}
	return out
}

// tidyFact keeps fields of facts in facts alone. A type that names a section is a fact with that section. A fact of an
// unknown section becomes an ordinary one: it quotes the user all the same, and a rejection would lose it for a name. A
// summary has no category, and nothing but a correction corrects a mistake.
func tidyFact(entry map[string]any) {
	name, _ := entry["type"].(string)
	if section, ok := sectionOf(name); ok {
		entry["type"] = string(schema.EntryFact)
		if _, taken := entry["section"]; !taken {
			entry["section"] = section
		}
	}
	if entry["type"] != string(schema.EntryFact) {
		delete(entry, "category")
		delete(entry, "section")
	}
	name, _ = entry["section"].(string)
	if section, ok := sectionOf(name); ok {
		entry["section"] = section
		delete(entry, "category")
	} else {
		delete(entry, "section")
	}
	if _, ok := entry["sourceError"].(string); !ok || entry["category"] != schema.CategoryCorrection {
		delete(entry, "sourceError")
	}
}

// sectionOf returns the section of the profile that a model means by the name, which may include a path, as in
// "user.workContext".
func sectionOf(name string) (string, bool) {
	section, ok := sectionNames[foldKey(name[strings.LastIndexAny(name, "./:")+1:])]
	return section, ok
}

// tidyObject keeps known names, in the schema's spelling. The schema's own spelling wins over an
// alias; null and blank text are as good as absent.
func tidyObject(in map[string]any, names map[string]string) map[string]any {
	keys := make([]string, 0, len(in))
	for k := range in {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	out := make(map[string]any, len(in))
	for _, k := range keys {
		name, known := names[foldKey(k)]
		v := in[k]
		if text, ok := v.(string); ok {
			text = strings.TrimSpace(strings.ReplaceAll(text, "\x00", ""))
			if text == "" {
				continue
			}
			v = text
		}
		if !known || v == nil {
			continue
		}
		if _, taken := out[name]; !taken || k == name {
			out[name] = v
		}
	}
	return out
}

var joints = strings.NewReplacer("_", "", "-", "", " ", "")

func foldKey(k string) string { return joints.Replace(strings.ToLower(k)) }

func tidyName(object map[string]any, key string, names map[string]string) {
	text, ok := object[key].(string)
	if !ok {
		return
	}
	text = strings.NewReplacer(" ", "_", "-", "_").Replace(strings.ToLower(text))
	if name, ok := names[text]; ok {
		text = name
	}
	object[key] = text
}

// tidyNumber turns "3" and 3.0 into 3.
func tidyNumber(object map[string]any, key string) {
	var text string
	switch v := object[key].(type) {
	case string:
		text = v
	case json.Number:
		text = v.String()
	default:
		return
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return
	}
	if f == math.Trunc(f) && math.Abs(f) < 1<<31 {
		object[key] = json.Number(strconv.FormatInt(int64(f), 10))
		return
	}
	object[key] = json.Number(strconv.FormatFloat(f, 'g', -1, 64))
}

// tidyList wraps a single value in a list and drops blank members of it.
func tidyList(object map[string]any, key string) {
	v, ok := object[key]
	if !ok {
		return
	}
	list, ok := v.([]any)
	if !ok {
		object[key] = []any{v}
		return
	}
	if key == "blockedBy" {
		list = slices.DeleteFunc(list, func(v any) bool {
			text, ok := v.(string)
			return v == nil || ok && strings.TrimSpace(text) == ""
		})
		if len(list) == 0 {
			delete(object, key)
			return
		}
	}
	object[key] = list
}

var english = message.NewPrinter(language.English)

// explain lists the schema's errors, each with its place.
func explain(err error) string {
	ve, ok := errors.AsType[*jsonschema.ValidationError](err)
	if !ok {
		return err.Error()
	}
	var lines []string
	var walk func(*jsonschema.ValidationError)
	walk = func(e *jsonschema.ValidationError) {
		if len(e.Causes) == 0 {
			line := e.ErrorKind.LocalizedString(english)
			if long, ok := e.ErrorKind.(*kind.MaxLength); ok {
				line = fmt.Sprintf("has %d characters, more than the %d of the longest quote: a quote is a few whole sentences", long.Got, long.Want)
			}
			if len(e.InstanceLocation) > 0 {
				line = strings.Join(e.InstanceLocation, "/") + ": " + line
			}
			lines = append(lines, line)
		}
		for _, c := range e.Causes {
			walk(c)
		}
	}
	walk(ve)
	slices.Sort(lines)
	return strings.Join(slices.Compact(lines), "; ")
}
