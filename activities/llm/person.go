package llm

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"axiommind/activities/llm/prose"
	"axiommind/activities/text"
	"axiommind/schema"
)

// person takes the statement of a person or an agent as it is. It takes the place of a model, so that all that follows works
// the same way.
type person struct{ schema.Statement }

// asPerson returns the activities with the person in place of the model. A statement fits into one window, whatever the
// worker's size of windows.
func (a *Activities) asPerson(s schema.Statement) *Activities {
	b := *a
	b.model, b.windowBytes = person{s}, schema.MaxStatementBytes
	return &b
}

// Identity implements [Model].
func (p person) Identity() ModelIdentity {
	x := p.Extractor()
	return ModelIdentity{x.Provider, x.Model}
}

// Local implements [Local].
func (person) Local() {}

// Generate implements [Model]. It answers with each message of the window as one entry.
func (p person) Generate(_ context.Context, req Request) (Response, error) {
	answer, confidence := schema.Extraction{Entries: []schema.ExtractedEntry{}}, statedConfidence
	for i, m := range req.Window {
		e := schema.ExtractedEntry{
			EntryID: fmt.Sprintf("ent_%d", i+1), Type: p.Type, Category: p.Category,
			Evidence: []schema.Quote{{MessageIndex: m.Index, Quote: strings.TrimSpace(m.Text)}},
		}
		if p.Type == schema.EntryFact {
			e.Category, e.Confidence = cmp.Or(p.Category, schema.CategoryContext), &confidence
		}
		e.Title, e.Content = statedTitle(m.Text)
		answer.Entries = append(answer.Entries, e)
	}
	raw, err := json.Marshal(answer)
	if err != nil {
		return Response{}, fmt.Errorf("render statement: %w", err)
	}
	return readRules(raw)
}

// correct adds which entry the statement corrects. It is no part of an answer: a model has no say in it.
func (p person) correct(entries []schema.ExtractedEntry) {
	for i := range entries {
		entries[i].Corrects = p.Corrects
	}
}

// statedConfidence is the confidence of a fact that is stated. Its author gives none.
const statedConfidence float64 = 0.5

// maxStatedTitle is the number of runes up to which a statement of one line is its own title.
const maxStatedTitle = 200

// statedTitle returns the title of a statement: all of it or, of a long one, its first sentence. Then the content is all
// of it.
func statedTitle(statement string) (title, content string) {
	statement = strings.TrimSpace(statement)
	if short(statement) {
		return statement, ""
	}
	title = statement
	for start, end := range text.NewBoundaries(statement).Sentences() {
		if strings.ContainsFunc(statement[start:end], schema.Worded) {
			title = statement[start:end]
			break
		}
	}
	if !short(title) {
		title = prose.Title(title)
	}
	return title, statement
}

// short reports whether the text can be a title as it is.
func short(s string) bool {
	return utf8.RuneCountInString(s) <= maxStatedTitle && !strings.ContainsFunc(s, func(r rune) bool {
		return unicode.IsControl(r) || unicode.In(r, unicode.Zl, unicode.Zp)
	})
}
