package eval

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Question is a question of a gold set. The package's documentation describes the fields.
type Question struct {
	ID, Query            string
	Project, User, Agent string
	Category, Language   string
	// AsOf is zero for now.
	AsOf     time.Time
	Relevant []Ref
	Abstain  bool
}

// Ref names an answer to a question.
type Ref struct {
	Entry   string `json:"entry,omitempty"`
	Task    string `json:"task,omitempty"`
	Fact    string `json:"fact,omitempty"`
	Session string `json:"session,omitempty"`
	// Message is an index in Session. Nil means any message.
	Message *int   `json:"message,omitempty"`
	Text    string `json:"text,omitempty"`
}

// MessageRef returns a reference to a message.
func MessageRef(session string, message int) Ref { return Ref{Session: session, Message: &message} }

func (r Ref) key() string {
	text, err := json.Marshal(r)
	if err != nil {
		panic(err) // Strings and a number are always JSON.
	}
	return string(text)
}

func (r Ref) validate() error {
	var kinds []string
	for _, k := range []struct{ name, id string }{{"entry", r.Entry}, {"task", r.Task}, {"fact", r.Fact}, {"session", r.Session}} {
		if k.id != "" {
			kinds = append(kinds, k.name)
		}
	}
	switch {
	case len(kinds) > 1:
		return fmt.Errorf("names %s: make it one reference for each", strings.Join(kinds, " and "))
	case r.Message != nil && r.Session == "":
		return errors.New("has a message without a session: add the session")
	case r.Message != nil && *r.Message < 0:
		return fmt.Errorf("message is %d: count from 0", *r.Message)
	case len(kinds) == 0 && strings.TrimSpace(r.Text) == "":
		return errors.New("names nothing: give an entry, task, fact, session or text")
	case r.Text != "" && strings.TrimSpace(r.Text) == "":
		return errors.New("has a text of spaces: leave it out")
	}
	return nil
}

// fieldError is a mistake in a field of a question.
type fieldError struct {
	field string
	error
}

func (e fieldError) Error() string { return e.field + " " + e.error.Error() }
func (e fieldError) Unwrap() error { return e.error }

func wrong(field, format string, args ...any) error {
	return fieldError{field, fmt.Errorf(format, args...)}
}

func (q Question) validate() error {
	switch {
	case strings.TrimSpace(q.ID) == "":
		return wrong("id", "is empty: give the question a name of its own")
	case strings.TrimSpace(q.Query) == "":
		return wrong("query", "is empty: give the text to search for")
	case q.Abstain && len(q.Relevant) > 0:
		return wrong("relevant", "is given for a question to abstain from: leave out relevant or abstain")
	case !q.Abstain && len(q.Relevant) == 0:
		return wrong("relevant", `is empty: give the answers, or add "abstain":true if there are none`)
	}
	seen := map[string]int{}
	for i, r := range q.Relevant {
		field := fmt.Sprintf("relevant[%d]", i)
		if err := r.validate(); err != nil {
			return fieldError{field, err}
		}
		if first, twice := seen[r.key()]; twice {
			return wrong(field, "repeats relevant[%d]: leave it out", first)
		}
		seen[r.key()] = i
	}
	return nil
}

// wireQuestion is a question as a gold set holds it.
type wireQuestion struct {
	ID       string `json:"id"`
	Query    string `json:"query"`
	Project  string `json:"project,omitempty"`
	User     string `json:"user,omitempty"`
	Agent    string `json:"agent,omitempty"`
	Category string `json:"category,omitempty"`
	Language string `json:"lang,omitempty"`
	AsOf     string `json:"as_of,omitempty"`
	Relevant []Ref  `json:"relevant,omitempty"`
	Abstain  bool   `json:"abstain,omitempty"`
}

func (w wireQuestion) question() (Question, error) {
	q := Question{
		ID: w.ID, Query: w.Query, Project: w.Project, User: w.User, Agent: w.Agent,
		Category: w.Category, Language: w.Language, Relevant: w.Relevant, Abstain: w.Abstain,
	}
	var err error
	if q.AsOf, err = parseAsOf(w.AsOf); err != nil {
		return Question{}, fieldError{"as_of", err}
	}
	return q, q.validate()
}

func (q Question) wire() wireQuestion {
	w := wireQuestion{
		ID: q.ID, Query: q.Query, Project: q.Project, User: q.User, Agent: q.Agent,
		Category: q.Category, Language: q.Language, Relevant: q.Relevant, Abstain: q.Abstain,
	}
	if !q.AsOf.IsZero() {
		w.AsOf = q.AsOf.UTC().Format(time.RFC3339Nano)
	}
	return w
}

// parseAsOf reads a time, or a day, which means its end.
func parseAsOf(value string) (time.Time, error) {
	if value == "" {
		return time.Time{}, nil
	}
	if day, err := time.Parse(time.DateOnly, value); err == nil {
		return day.AddDate(0, 0, 1).Add(-time.Microsecond), nil
	}
	at, err := time.Parse(time.RFC3339Nano, value)
	if err != nil {
		return time.Time{}, fmt.Errorf("is %q: want a day like 2006-01-02 or a time like 2006-01-02T15:04:05Z", value)
	}
	return at.UTC(), nil
}

// Hash identifies a gold set. The order of the questions and of their references makes no difference.
func Hash(questions []Question) string {
	sorted := slices.SortedFunc(slices.Values(questions), func(a, b Question) int { return cmp.Compare(a.ID, b.ID) })
	h := sha256.New()
	for _, q := range sorted {
		q.Relevant = slices.SortedFunc(slices.Values(q.Relevant), func(a, b Ref) int { return cmp.Compare(a.key(), b.key()) })
		text, err := json.Marshal(q.wire())
		if err != nil {
			panic(err) // Strings and numbers are always JSON.
		}
		h.Write(append(text, '\n'))
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}

// Half is a part of the questions. A setting can be chosen on one half and reported on the other.
type Half string

// The parts of a gold set.
const (
	HalfAll  Half = "all"
	HalfOdd  Half = "odd"
	HalfEven Half = "even"
)

// Halves are all values of [Half].
func Halves() []Half { return []Half{HalfAll, HalfOdd, HalfEven} }

// Has reports whether the question is in the half. It depends on a hash of the id alone, so that adding questions moves none.
func (h Half) Has(id string) bool {
	sum := sha256.Sum256([]byte(id))
	switch h {
	case HalfOdd:
		return sum[0]%2 == 1
	case HalfEven:
		return sum[0]%2 == 0
	}
	return true
}

// Of returns the questions of the half.
func (h Half) Of(questions []Question) []Question {
	return slices.DeleteFunc(slices.Clone(questions), func(q Question) bool { return !h.Has(q.ID) })
}
