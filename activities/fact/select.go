package fact

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"axiommind/activities/table"
)

// Selection selects facts of a memory to list. Empty fields do not filter.
type Selection struct {
	User, Agent       string
	Project, Category string
	// Gone selects facts that were deleted or evicted, too.
	Gone bool
	// Limit is the maximum number of facts, after skipping the first Offset facts.
	Limit, Offset int
}

// Select returns the selected facts in the order of their creation.
func (t *Tables) Select(ctx context.Context, s Selection) ([]Fact, error) {
	where, args := "user = ? AND agent = ?", []any{s.User, s.Agent}
	if !s.Gone {
		where += " AND status = 'active'"
	}
	if s.Project != "" {
		where, args = where+" AND project = ?", append(args, s.Project)
	}
	if s.Category != "" {
		where, args = where+" AND category = ?", append(args, s.Category)
	}
	return t.query(ctx, where+" ORDER BY created_seq LIMIT ? OFFSET ?", append(args, s.Limit, s.Offset)...)
}

// Named returns up to limit facts whose ids begin with the prefix, deleted and evicted ones included, the newest first.
func (t *Tables) Named(ctx context.Context, user, agent, prefix string, limit int) ([]Fact, error) {
	return t.query(ctx, "user = ? AND agent = ? AND startsWith(fact_id, ?) ORDER BY created_seq DESC LIMIT ?", user, agent, prefix, limit)
}

// idMark is what every id of a fact begins with.
const idMark = "fact_"

// IsID reports whether the text is like the id of a fact, or the beginning of one.
func IsID(text string) bool { return strings.HasPrefix(text, idMark) && len(text) > len(idMark) }

// Resolve returns the fact that a person names by the beginning of its id, with or without what all ids begin with. The
// fact may be deleted or evicted. Errors are [ErrFactNotFound] and [table.ErrAmbiguous].
func (t *Tables) Resolve(ctx context.Context, user, agent, given string) (Fact, error) {
	p := table.Prefix{What: "fact", Where: "the memory of user " + quoteOwner(user, agent), Given: given, NotFound: ErrFactNotFound}
	digits := strings.TrimPrefix(p.Text(), idMark)
	if len(digits) < table.MinPrefix {
		return Fact{}, p.Missing("")
	}
	found, err := t.Named(ctx, user, agent, idMark+digits, table.MostPrefixed)
	if err != nil {
		return Fact{}, err
	}
	ids := make([]string, len(found))
	for i, f := range found {
		ids[i] = f.ID
	}
	id, err := p.Pick(ids)
	for _, f := range found {
		if err == nil && f.ID == id {
			return f, nil
		}
	}
	return Fact{}, err
}

func quoteOwner(user, agent string) string {
	if agent == "" {
		return strconv.Quote(user)
	}
	return fmt.Sprintf("%q, agent %q", user, agent)
}
