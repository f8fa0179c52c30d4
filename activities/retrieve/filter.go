package retrieve

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"axiommind/activities/vector"
	"axiommind/schema"
)

// ErrQuery is wrapped by every refusal of a query that no retry would mend.
var ErrQuery = errors.New("invalid query")

// Query says what is looked for, and whose.
type Query struct {
	// Text is in any language; it is required.
	Text string
	// Project is required. Nothing of another project is found.
	Project string
	// User is always compared: an empty one finds the memory of no user, never that of all.
	User string
	// The zero value of what follows restricts nothing.
	Agent     string
	SessionID string
	Types     []schema.EntryType
	Stages    []schema.Stage
	// From and To bound when an entry's source was written: From is inclusive, To is not. With To
	// set, recency counts from it.
	From, To time.Time
	// Limit is the number of hits; 0 means DefaultLimit, and MaxLimit is the most.
	Limit int
	// Alpha weighs meaning against words, from 0 (words only) to 1 (meaning only); nil means the
	// searcher's.
	Alpha *float64
}

// validate refuses what cannot be searched for.
func (q Query) validate() error {
	switch {
	case q.Text == "":
		return fmt.Errorf("%w: text is empty", ErrQuery)
	case q.Project == "":
		return fmt.Errorf("%w: project is empty", ErrQuery)
	case q.Limit < 0 || q.Limit > MaxLimit:
		return fmt.Errorf("%w: limit %d is not in 1..%d", ErrQuery, q.Limit, MaxLimit)
	case q.Alpha != nil && !(*q.Alpha >= 0 && *q.Alpha <= 1):
		return fmt.Errorf("%w: alpha %v is not in 0..1", ErrQuery, *q.Alpha)
	case !q.From.IsZero() && !q.To.IsZero() && !q.From.Before(q.To):
		return fmt.Errorf("%w: from %s is not before to %s", ErrQuery,
			q.From.Format(time.RFC3339), q.To.Format(time.RFC3339))
	}
	return nil
}

// filter is the part of the query that the vector store may judge by: what never changes of an
// entry. admits judges by the row again, exactly, and by what changes.
func (q Query) filter() vector.Filter {
	types := make([]string, len(q.Types))
	for i, t := range q.Types {
		types[i] = string(t)
	}
	return vector.Filter{
		Kind: schema.ItemEntry, User: q.User, Agent: q.Agent, SessionID: q.SessionID, Types: types,
		From: q.From, To: q.To,
	}
}

// admits reports whether the entry is one that the query may see and asks for.
func (q Query) admits(e schema.Entry) bool {
	return e.Project == q.Project && e.User == q.User &&
		(q.Agent == "" || e.Agent == q.Agent) &&
		(q.SessionID == "" || e.SessionID == q.SessionID) &&
		(len(q.Types) == 0 || slices.Contains(q.Types, e.Type)) &&
		(len(q.Stages) == 0 || slices.Contains(q.Stages, e.Stage)) &&
		(q.From.IsZero() || !e.OccurredAt.Before(q.From)) &&
		(q.To.IsZero() || e.OccurredAt.Before(q.To))
}
