package retrieve

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"axiommind/activities/vector"
	"axiommind/schema"
)

// ErrQuery is wrapped by every error about an invalid query. A retry fails too.
var ErrQuery = errors.New("invalid query")

// Query is a search in one user's memory.
type Query struct {
	// Text is the text to search for, in any language. It is required.
	Text string
	// Project is required. Only this project is searched.
	Project string
	// User is always compared. An empty one matches only entries without a user, never those of all users.
	User string
	// The zero value of each of the following fields restricts nothing.
	Kinds     []Kind
	Agent     string
	SessionID string
	Types     []schema.EntryType
	Stages    []schema.Stage
	// Statuses keeps the entries with one of these, believed or not.
	Statuses []schema.Status
	// Superseded includes entries that are no longer believed: those that another one took the place of, that a newer
	// extractor no longer states, or that were retired. They are left out otherwise.
	Superseded bool
	// AsOf asks for the beliefs at that time. Later statements are left out, and entries that were retired, restored,
	// contested or resolved later have their status of that time. Stages and evidence are those of today. Zero means
	// now.
	AsOf time.Time
	// From and To bound the time at which an entry's source was written. From is inclusive, To is exclusive. If To
	// or AsOf is set, recency is relative to it.
	From, To time.Time
	// Limit is the number of hits, up to MaxLimit. 0 means DefaultLimit.
	Limit int
	// Cursor is [Result.Next] of the same query, for the hits that follow. MaxLimit bounds all pages together.
	Cursor string
	// Expand is the number of messages to return before and after each hit, up to [MaxExpand].
	Expand int
	// Alpha is the weight of meaning against words, from 0 (words only) to 1 (meaning only). Nil means the searcher's
	// default.
	Alpha *float64
}

// validate returns an error if the query is invalid.
func (q Query) validate() error {
	switch {
	case q.Text == "":
		return fmt.Errorf("%w: text is empty", ErrQuery)
	case q.Project == "":
		return fmt.Errorf("%w: project is empty", ErrQuery)
	case q.Limit < 0 || q.Limit > MaxLimit:
		return fmt.Errorf("%w: limit %d is not in 1..%d", ErrQuery, q.Limit, MaxLimit)
	case q.Expand < 0 || q.Expand > MaxExpand:
		return fmt.Errorf("%w: expand %d is not in 0..%d", ErrQuery, q.Expand, MaxExpand)
	case q.Alpha != nil && !(*q.Alpha >= 0 && *q.Alpha <= 1):
		return fmt.Errorf("%w: alpha %v is not in 0..1", ErrQuery, *q.Alpha)
	case !q.From.IsZero() && !q.To.IsZero() && !q.From.Before(q.To):
		return fmt.Errorf("%w: from %s is not before to %s", ErrQuery,
			q.From.Format(time.RFC3339), q.To.Format(time.RFC3339))
	case !q.AsOf.IsZero() && q.From.After(q.AsOf):
		return fmt.Errorf("%w: from %s is after as-of %s", ErrQuery, q.From.Format(time.RFC3339), q.AsOf.Format(time.RFC3339))
	}
	return nil
}

// effectiveTo returns To, or the microsecond after AsOf if that is earlier: the times of entries are in microseconds.
func (q Query) effectiveTo() time.Time {
	if q.AsOf.IsZero() {
		return q.To
	}
	after := q.AsOf.Truncate(time.Microsecond).Add(time.Microsecond)
	if q.To.IsZero() || after.Before(q.To) {
		return after
	}
	return q.To
}

// now is the time to which recency is relative.
func (r *search) now() time.Time {
	if said := r.query.effectiveTo(); !said.IsZero() {
		return said
	}
	return r.from.At
}

// filter returns the part of the query that the vector store checks: the immutable properties of an entry. admits then
// checks the entry's row exactly, with its mutable properties.
func (q Query) filter() vector.Filter {
	types := make([]string, len(q.Types))
	for i, t := range q.Types {
		types[i] = string(t)
	}
	return vector.Filter{
		Kinds: q.items(), User: q.User, Agent: q.Agent, SessionID: q.SessionID, Types: types,
		From: q.From, To: q.effectiveTo(),
	}
}

// admits reports whether the entry matches the query and belongs to its user.
func (q Query) admits(e schema.Entry) bool {
	if len(q.Statuses) > 0 {
		return q.matches(e) && slices.Contains(q.Statuses, e.Status)
	}
	return q.matches(e) && (q.Superseded || !ended(e.Status))
}

// ended reports whether entries of the status are no longer believed.
func ended(s schema.Status) bool { return s == schema.StatusSuperseded || s == schema.StatusDeprecated }

// matches is admits for entries of any status.
func (q Query) matches(e schema.Entry) bool {
	before := q.effectiveTo()
	return e.Project == q.Project && e.User == q.User &&
		(q.Agent == "" || e.Agent == q.Agent) &&
		(q.SessionID == "" || e.SessionID == q.SessionID) &&
		(len(q.Types) == 0 || slices.Contains(q.Types, e.Type)) &&
		(len(q.Stages) == 0 || slices.Contains(q.Stages, e.Stage)) &&
		(q.From.IsZero() || !e.OccurredAt.Before(q.From)) &&
		(before.IsZero() || e.OccurredAt.Before(before))
}
