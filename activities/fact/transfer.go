package fact

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"axiommind/activities/llm/answer"
	"axiommind/schema"
)

// Document is a memory in the form that several tools read and write.
type Document struct {
	Version string `json:"version"`
	// LastUpdated is when the memory changed last, or empty if it is empty.
	LastUpdated string          `json:"lastUpdated"`
	User        DocumentUser    `json:"user"`
	History     DocumentHistory `json:"history"`
	Facts       []DocumentFact  `json:"facts"`
}

// DocumentUser sums up who the user is.
type DocumentUser struct {
	WorkContext     DocumentSection `json:"workContext"`
	PersonalContext DocumentSection `json:"personalContext"`
	TopOfMind       DocumentSection `json:"topOfMind"`
}

// DocumentHistory summarizes the past.
type DocumentHistory struct {
	RecentMonths       DocumentSection `json:"recentMonths"`
	EarlierContext     DocumentSection `json:"earlierContext"`
	LongTermBackground DocumentSection `json:"longTermBackground"`
}

// DocumentSection is a section of the profile. Both fields are empty if there is no summary.
type DocumentSection struct {
	Summary   string `json:"summary"`
	UpdatedAt string `json:"updatedAt"`
}

// DocumentFact is a fact. Source is as of [Fact.Source].
type DocumentFact struct {
	ID          string  `json:"id"`
	Content     string  `json:"content"`
	Category    string  `json:"category"`
	Confidence  float64 `json:"confidence"`
	CreatedAt   string  `json:"createdAt"`
	Source      string  `json:"source"`
	SourceError string  `json:"sourceError,omitempty"`
}

const documentVersion = "1.0"

// NewDocument returns the facts and the sections as a document.
func NewDocument(facts []Fact, sections []Section) Document {
	d := Document{Version: documentVersion, Facts: []DocumentFact{}}
	var last time.Time
	for _, f := range facts {
		d.Facts = append(d.Facts, DocumentFact{
			ID: f.ID, Content: f.Content, Category: f.Category, Confidence: f.Confidence,
			CreatedAt: stamp(f.CreatedAt), Source: f.Source(), SourceError: f.SourceError,
		})
		last = later(last, f.UpdatedAt)
	}
	for _, s := range sections {
		if place := d.section(s.Name); place != nil {
			*place = DocumentSection{s.Summary, stamp(s.UpdatedAt)}
		}
		last = later(last, s.UpdatedAt)
	}
	if !last.IsZero() {
		d.LastUpdated = stamp(last)
	}
	return d
}

func (d *Document) section(name string) *DocumentSection {
	return map[string]*DocumentSection{
		schema.SectionWork: &d.User.WorkContext, schema.SectionPersonal: &d.User.PersonalContext,
		schema.SectionTopOfMind: &d.User.TopOfMind, schema.SectionRecent: &d.History.RecentMonths,
		schema.SectionEarlier: &d.History.EarlierContext, schema.SectionBackground: &d.History.LongTermBackground,
	}[name]
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// sectionPlaces says where a document has each section of the profile.
var sectionPlaces = []struct{ group, field, section string }{
	{"user", "workContext", schema.SectionWork},
	{"user", "personalContext", schema.SectionPersonal},
	{"user", "topOfMind", schema.SectionTopOfMind},
	{"history", "recentMonths", schema.SectionRecent},
	{"history", "earlierContext", schema.SectionEarlier},
	{"history", "longTermBackground", schema.SectionBackground},
}

// NotTaken is a part of a document that was not taken because it has the wrong type.
type NotTaken struct {
	// Where is the place in the document, such as "facts[2].confidence", and Why is the reason.
	Where string `json:"where"`
	Why   string `json:"why"`
}

// ErrDocument is wrapped by the error for a text that is no JSON object.
var ErrDocument = errors.New("not a memory")

// ReadDocument returns the items of a document to import: the sections of its profile, then its facts. Parts of the wrong
// type are left out and reported, a field of a fact alone where the fact can do without it. A summary may be given for its
// section, a confidence may be a numeral in a string, and a time may lack its zone, which is UTC then. A document with
// newFacts is an update of memory as models write it.
func ReadDocument(raw []byte) ([]Item, []NotTaken, error) {
	raw = bytes.TrimPrefix(raw, []byte("\ufeff"))
	if !utf8.Valid(raw) {
		return nil, nil, fmt.Errorf("%w: it is not UTF-8", ErrDocument)
	}
	var fields object
	if err := json.Unmarshal(raw, &fields); err != nil {
		return nil, nil, fmt.Errorf("%w: want a JSON object: %w", ErrDocument, err)
	}
	if fields == nil {
		return nil, nil, fmt.Errorf("%w: want a JSON object, not null", ErrDocument)
	}
	r := documentReader{}
	if fields["newFacts"] != nil && fields["facts"] == nil {
		err := r.update(string(raw))
		return r.items, r.not, err
	}
	groups := map[string]object{}
	for _, group := range []string{"user", "history"} {
		groups[group], _ = read[object](&r, group, fields[group], "want an object")
	}
	for _, p := range sectionPlaces {
		r.section(p.group+"."+p.field, p.section, groups[p.group][p.field])
	}
	facts, _ := read[[]json.RawMessage](&r, "facts", fields["facts"], "want a list")
	for n, fact := range facts {
		r.fact(fmt.Sprintf("facts[%d]", n), fact)
	}
	return r.items, r.not, nil
}

type documentReader struct {
	items []Item
	not   []NotTaken
}

func (r *documentReader) leave(where, format string, args ...any) {
	r.not = append(r.not, NotTaken{where, fmt.Sprintf(format, args...)})
}

// read decodes the value, and reports whether there is one. One of another type is named. Null is none.
func read[T any](r *documentReader, where string, raw json.RawMessage, want string) (value T, ok bool) {
	if len(raw) == 0 || string(raw) == "null" {
		return value, false
	}
	if json.Unmarshal(raw, &value) != nil {
		r.leave(where, "%s", want)
		var zero T
		return zero, false
	}
	return value, true
}

// update reads a document that is an update of memory as models write it. It applies no removals: only a person who names
// a fact deletes it.
func (r *documentReader) update(text string) error {
	u, err := answer.ReadUpdate(text)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrDocument, err)
	}
	r.items = ItemsOf(u)
	for _, part := range u.Rejected {
		r.leave(fmt.Sprintf("%s[%d]", part.Part, part.Index), "%s", part.Reason)
	}
	for n, removal := range u.Removals {
		r.leave(fmt.Sprintf("factsToRemove[%d]", n), "an import removes nothing: starter facts delete %q does", removal.ID)
	}
	return nil
}

func (r *documentReader) section(where, name string, raw json.RawMessage) {
	var summary string
	if json.Unmarshal(raw, &summary) != nil {
		fields, _ := read[object](r, where, raw, "want an object with a summary")
		summary, _ = read[string](r, where+".summary", fields["summary"], "want a text")
	}
	if strings.TrimSpace(summary) != "" {
		r.items = append(r.items, Item{Section: name, Content: summary})
	}
}

func (r *documentReader) fact(where string, raw json.RawMessage) {
	noted := len(r.not)
	fields, ok := read[object](r, where, raw, "want an object")
	content, _ := read[string](r, where+".content", fields["content"], "want a text")
	switch {
	case len(r.not) > noted:
		return
	case !ok:
		r.leave(where, "want an object")
		return
	case strings.TrimSpace(content) == "":
		r.leave(where+".content", "it says nothing")
		return
	}
	item := Item{Content: content, Confidence: r.confidence(where+".confidence", fields["confidence"])}
	item.Category, _ = read[string](r, where+".category", fields["category"], "want a text")
	item.SourceError, _ = read[string](r, where+".sourceError", fields["sourceError"], "want a text")
	item.Since = r.time(where+".createdAt", fields["createdAt"])
	r.items = append(r.items, item)
}

func (r *documentReader) confidence(where string, raw json.RawMessage) *float64 {
	var c float64
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	if json.Unmarshal(raw, &c) == nil {
		return &c
	}
	c, err := strconv.ParseFloat(strings.TrimSpace(lenient[string](raw)), 64)
	if err != nil || c-c != 0 { // NaN and infinities are in no JSON, which a command is sent as.
		r.leave(where, "want a number")
		return nil
	}
	return &c
}

// documentTimes are the forms of times in documents.
var documentTimes = []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999", time.DateOnly}

func (r *documentReader) time(where string, raw json.RawMessage) time.Time {
	text, _ := read[string](r, where, raw, "want a time")
	if strings.TrimSpace(text) == "" {
		return time.Time{}
	}
	for _, layout := range documentTimes {
		if t, err := time.Parse(layout, strings.TrimSpace(text)); err == nil && t.Year() > 1970 && t.Year() < 2200 {
			return t.UTC()
		}
	}
	r.leave(where, "want a time")
	return time.Time{}
}

// Chunks divides the items into commands, none of which is too large.
func Chunks(items []Item) [][]Item {
	var out [][]Item
	first, size := 0, 0
	for i, item := range items {
		if i > first && (i-first >= MaxImportItems || size+item.Bytes() > MaxImportBytes) {
			out = append(out, items[first:i])
			first, size = i, 0
		}
		size += item.Bytes()
	}
	if first < len(items) {
		out = append(out, items[first:])
	}
	return out
}

// TooLong returns why the item is too long for any command, or "".
func (i Item) TooLong() string {
	for _, part := range []struct{ name, text string }{{"content", i.Content}, {"sourceError", i.SourceError}} {
		if len(part.text) > MaxContentBytes {
			return fmt.Sprintf("its %s has %d bytes, want at most %d", part.name, len(part.text), MaxContentBytes)
		}
	}
	if i.Bytes() > MaxImportBytes {
		return fmt.Sprintf("it has %d bytes, want at most %d", i.Bytes(), MaxImportBytes)
	}
	return ""
}

type object = map[string]json.RawMessage

// lenient decodes the value, or returns the zero value if that fails.
func lenient[T any](raw json.RawMessage) T {
	var v T
	if len(raw) == 0 || json.Unmarshal(raw, &v) != nil {
		var zero T
		return zero
	}
	return v
}
