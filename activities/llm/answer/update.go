package answer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"axiommind/schema"
)

// ErrUnsafeUpdate is the error of [ReadUpdate], wrapped together with [ErrUnreadable], for an update that removes facts
// and has an unreadable new fact, which may be their replacement.
var ErrUnsafeUpdate = errors.New("unsafe partial update: it removes facts, and not all of its new facts can be read")

// Update is a change of memory as models write it: new facts, the ids of facts that no longer hold, and summaries of the
// sections of the profile.
type Update struct {
	Sections []UpdatedSection
	NewFacts []NewFact
	Removals []Removal
	// Rejected are the sections, facts and removals that can't be read, by their place in the update.
	Rejected []RejectedPart
}

// UpdatedSection is the summary of a section of the profile.
type UpdatedSection struct {
	// Section is one of [schema.ProfileSections].
	Section string
	// Summary has no white space around it, and may be empty.
	Summary string
	// ShouldUpdate is whether the summary is to take the place of the one before. An empty one never does.
	ShouldUpdate bool
}

// NewFact is a fact that an update brings.
type NewFact struct {
	Content string
	// Category is in lower case, and need not be one of [schema.FactCategories]. Without one it is
	// [schema.CategoryContext].
	Category string
	// Confidence is finite, and need not be within 0 to 1. Without one it is 0.5.
	Confidence  float64
	SourceError string
}

// Removal names a fact that no longer holds.
type Removal struct {
	ID, Reason string
	// Quote is the user's words about it, and MessageIndex their message. It is nil if the update has none.
	Quote        string
	MessageIndex *int
}

// RejectedPart is a part of an update that can't be read.
type RejectedPart struct {
	// Part is the list or section, and Index the place in a list, from 0.
	Part   string
	Index  int
	Reason string
}

// defaultConfidence is that of a fact without one.
const defaultConfidence = 0.5

// ReadUpdate reads an update of memory from a model's answer: an object with user, history and newFacts. The first such
// object counts, whatever prose, thoughts, code fences and other JSON surround it. The text may be the list of blocks
// that some servers return.
//
// Unreadable parts are left out with their reasons, except that a removal next to an unreadable fact is
// [ErrUnsafeUpdate]. Broken JSON is not mended, since its missing part is unknown: an answer without a whole update is
// [ErrUnreadable].
func ReadUpdate(text string) (Update, error) {
	if blocks, ok := blocksText(text); ok {
		text = blocks
	}
	raw, ok := findUpdate(text)
	if !ok {
		return Update{}, fmt.Errorf("%w: no memory update in it", ErrUnreadable)
	}
	var doc map[string]any
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if err := dec.Decode(&doc); err != nil {
		return Update{}, fmt.Errorf("%w: read memory update: %w", ErrUnreadable, err)
	}
	doc = folded(doc)
	var u Update
	u.readSections("user", doc["user"], schema.SectionWork, schema.SectionPersonal, schema.SectionTopOfMind)
	u.readSections("history", doc["history"], schema.SectionRecent, schema.SectionEarlier, schema.SectionBackground)
	malformed := u.readFacts(doc["newfacts"])
	u.readRemovals(doc["factstoremove"])
	if malformed && len(u.Removals) > 0 {
		return Update{}, fmt.Errorf("%w: %w", ErrUnreadable, ErrUnsafeUpdate)
	}
	return u, nil
}

// blocksText returns the text of a list of blocks. Bare strings are pieces of one text, and other blocks stand alone.
func blocksText(text string) (string, bool) {
	var blocks []any
	if !strings.HasPrefix(strings.TrimSpace(text), "[") || json.Unmarshal([]byte(text), &blocks) != nil {
		return "", false
	}
	var pieces []string
	bare := false
	for _, b := range blocks {
		switch b := b.(type) {
		case string:
			if bare {
				pieces[len(pieces)-1] += b
			} else {
				pieces = append(pieces, b)
			}
			bare = true
		case map[string]any:
			if said, ok := b["text"].(string); ok {
				pieces = append(pieces, said)
			}
			bare = false
		}
	}
	return strings.Join(pieces, "\n"), len(pieces) > 0
}

// folded returns the object by folded names. Of several spellings of a name camel case counts, which sorts first.
func folded(object map[string]any) map[string]any {
	names := make([]string, 0, len(object))
	for name := range object {
		names = append(names, name)
	}
	slices.Sort(names)
	out := make(map[string]any, len(object))
	for _, name := range names {
		key := foldKey(name)
		if _, taken := out[key]; !taken {
			out[key] = object[name]
		}
	}
	return out
}

func (u *Update) reject(part string, index int, format string, args ...any) {
	u.Rejected = append(u.Rejected, RejectedPart{part, index, fmt.Sprintf(format, args...)})
}

// readSections reads the summaries of one half of the profile. One that is no object has none.
func (u *Update) readSections(part string, v any, sections ...string) {
	object, ok := v.(map[string]any)
	if !ok {
		if v != nil {
			u.reject(part, 0, "it is no object")
		}
		return
	}
	names := make([]string, 0, len(object))
	for name := range object {
		names = append(names, name)
	}
	slices.Sort(names)
	found := map[string]UpdatedSection{}
	for _, name := range names {
		place := part + "." + name
		section, known := sectionOf(name)
		if !known || !slices.Contains(sections, section) {
			u.reject(place, 0, "it is no section of the profile")
			continue
		}
		fields, ok := object[name].(map[string]any)
		if !ok {
			u.reject(place, 0, "it is no object with a summary")
			continue
		}
		fields = folded(fields)
		summary, ok := fields["summary"].(string)
		if !ok && fields["summary"] != nil {
			u.reject(place, 0, "its summary is no text")
			continue
		}
		summary = tidyText(summary)
		found[section] = UpdatedSection{section, summary, summary != "" && truth(fields["shouldupdate"])}
	}
	for _, section := range sections {
		if s, ok := found[section]; ok {
			u.Sections = append(u.Sections, s)
		}
	}
}

// truth reports whether a model means yes.
func truth(v any) bool {
	switch v := v.(type) {
	case bool:
		return v
	case json.Number:
		f, _ := v.Float64()
		return f != 0
	case string:
		switch strings.ToLower(strings.TrimSpace(v)) {
		case "", "false", "no", "0", "null", "none":
			return false
		}
		return true
	default:
		return false
	}
}

// readFacts reports whether there is anything but facts where the new facts should be.
func (u *Update) readFacts(v any) (malformed bool) {
	list, ok := v.([]any)
	if !ok {
		u.reject("newFacts", 0, "it is no list")
		return true
	}
	for i, item := range list {
		f, err := readFact(item)
		if err != nil {
			u.reject("newFacts", i, "%v", err)
			malformed = true
			continue
		}
		u.NewFacts = append(u.NewFacts, f)
	}
	return malformed
}

func readFact(item any) (NewFact, error) {
	object, ok := item.(map[string]any)
	if !ok {
		return NewFact{}, errors.New("it is no object")
	}
	object = folded(object)
	content, _ := object["content"].(string)
	f := NewFact{Content: tidyText(content), Category: schema.CategoryContext, Confidence: defaultConfidence}
	if f.Content == "" {
		return NewFact{}, errors.New("it has no content")
	}
	if category, _ := object["category"].(string); tidyText(category) != "" {
		f.Category = strings.ToLower(tidyText(category))
	}
	if given, ok := object["confidence"]; ok {
		if f.Confidence, ok = number(given); !ok {
			return NewFact{}, fmt.Errorf("its confidence is %v, which is no number", given)
		}
	}
	mistake, _ := object["sourceerror"].(string)
	f.SourceError = tidyText(mistake)
	return f, nil
}

// number reads a finite number, which may be written as text.
func number(v any) (float64, bool) {
	var text string
	switch v := v.(type) {
	case json.Number:
		text = v.String()
	case string:
		text = strings.TrimSpace(v)
	}
	if strings.Trim(text, "+-.0123456789eE") != "" {
		return 0, false
	}
	f, err := strconv.ParseFloat(text, 64)
	return f, err == nil && !math.IsInf(f, 0)
}

// readRemovals reads ids, alone or in objects with a reason and a quote. An id that is no text removes nothing.
func (u *Update) readRemovals(v any) {
	list, ok := v.([]any)
	if !ok {
		if v != nil {
			u.reject("factsToRemove", 0, "it is no list")
		}
		return
	}
	for i, item := range list {
		object, ok := item.(map[string]any)
		if !ok {
			object = map[string]any{"id": item}
		}
		object = folded(object)
		text := func(names ...string) string {
			for _, name := range names {
				if t, _ := object[name].(string); tidyText(t) != "" {
					return tidyText(t)
				}
			}
			return ""
		}
		r := Removal{ID: text("id", "factid"), Reason: text("reason"), Quote: text("quote")}
		if r.ID == "" {
			u.reject("factsToRemove", i, "it has no id")
			continue
		}
		if f, ok := number(object["messageindex"]); ok && f == math.Trunc(f) && f >= 0 && f < 1<<31 {
			index := int(f)
			r.MessageIndex = &index
		}
		u.Removals = append(u.Removals, r)
	}
}

// tidyText drops NUL bytes, which no stored text may have, and the white space around the text.
func tidyText(text string) string { return strings.TrimSpace(strings.ReplaceAll(text, "\x00", "")) }
