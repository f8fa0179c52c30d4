package eval

import (
	"context"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// Kind is the kind of a result.
type Kind string

// The kinds.
const (
	KindEntry   Kind = "entry"
	KindTask    Kind = "task"
	KindFact    Kind = "fact"
	KindMessage Kind = "message"
)

// Found is one result.
type Found struct {
	Kind Kind
	// ID is that of the entry, task or fact.
	ID string
	// Session and Messages are where it was said: the message itself, or those that it quotes.
	Session  string
	Messages []int
	// Text is the text of the result, its quotes included.
	Text  string
	Score float64
	// Weak is true for a result that the retriever itself doubts.
	Weak bool
	// Also are other entries with the same statement, if the retriever returns them as one result.
	Also []Found
}

// Retriever is the system under test.
type Retriever interface {
	// Retrieve returns up to limit results, the best first.
	Retrieve(ctx context.Context, q Question, limit int) ([]Found, error)
}

// ranksOf returns for each reference the rank, from 1, of the first result that satisfies it, or 0.
func ranksOf(refs []Ref, found []Found) []int {
	ranks := make([]int, len(refs))
	for at, f := range found {
		parts := append([]Found{f}, f.Also...)
		for i := range parts {
			parts[i].Text = normal(parts[i].Text)
		}
		for i, r := range refs {
			if ranks[i] == 0 && slices.ContainsFunc(parts, func(f Found) bool { return f.satisfies(r) }) {
				ranks[i] = at + 1
			}
		}
	}
	return ranks
}

// satisfies reports whether the reference names the result, whose text is normal.
func (f Found) satisfies(r Ref) bool {
	named := true
	switch {
	case r.Entry != "":
		named = f.Kind == KindEntry && f.ID == r.Entry
	case r.Task != "":
		named = f.Kind == KindTask && f.ID == r.Task
	case r.Fact != "":
		named = f.Kind == KindFact && f.ID == r.Fact
	case r.Session != "":
		named = f.Session == r.Session && (r.Message == nil || slices.Contains(f.Messages, *r.Message))
	}
	return named && strings.Contains(f.Text, normal(r.Text))
}

// normal returns the text in lower case and NFC, with single spaces: references ignore these differences.
func normal(text string) string {
	return strings.Join(strings.Fields(strings.ToLower(norm.NFC.String(text))), " ")
}
