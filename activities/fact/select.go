package fact

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"axiommind/activities/clickhouse"
)

// Selection selects facts of a memory to list. The user is required.
type Selection struct {
	User, Agent string
	// Project selects the facts that were stated in it, and those of no project. It is required unless AllProjects is set.
	Project     string
	AllProjects bool
	// Category does not filter if it is empty.
	Category string
	// Gone selects facts that were deleted or evicted, too.
	Gone bool
	// Limit is the maximum number of facts, after skipping the first Offset facts.
	Limit, Offset int
}

// Select returns the selected facts in the order of their creation.
func (t *Tables) Select(ctx context.Context, s Selection) ([]Fact, error) {
	where, args := "1", []any{}
	if !s.Gone {
		where += " AND status = 'active'"
	}
	if !s.AllProjects {
		if err := clickhouse.Required("project", s.Project); err != nil {
			return nil, fmt.Errorf("list facts: %w", err)
		}
		stated, of := inProject(s.User, s.Agent, s.Project)
		where, args = where+" AND "+stated, append(args, of...)
	}
	if s.Category != "" {
		where, args = where+" AND category = ?", append(args, s.Category)
	}
	facts, err := t.query(ctx, ofMemory(s.User, s.Agent), where+" ORDER BY created_seq LIMIT ? OFFSET ?", append(args, s.Limit, s.Offset)...)
	if err != nil || s.AllProjects {
		return facts, err
	}
	return facts, t.setOrigin(ctx, s.User, s.Agent, s.Project, facts)
}

// Named returns up to limit facts whose ids begin with the prefix, deleted and evicted ones included, the newest first.
func (t *Tables) Named(ctx context.Context, user, agent, prefix string, limit int) ([]Fact, error) {
	return t.named(ctx, ofMemory(user, agent), prefix, limit)
}

func (t *Tables) named(ctx context.Context, of rowFilter, prefix string, limit int) ([]Fact, error) {
	return t.query(ctx, of, "startsWith(fact_id, ?) ORDER BY created_seq DESC LIMIT ?", prefix, limit)
}

// idMark is the prefix of every id of a fact.
const idMark = "fact_"

// IsID reports whether the text is like the id of a fact, or the beginning of one.
func IsID(text string) bool { return strings.HasPrefix(text, idMark) && len(text) > len(idMark) }

// Resolve returns the fact that a person names by the beginning of its id, with or without the prefix of all ids. The
// fact may be deleted or evicted. Errors are [ErrFactNotFound] and [clickhouse.ErrAmbiguous].
func (t *Tables) Resolve(ctx context.Context, user, agent, given string) (Fact, error) {
	return t.resolve(ctx, quoteOwner(user, agent), given, ofMemory(user, agent))
}

// ResolveOfUser is [Tables.Resolve] over the memories of all agents of the user.
func (t *Tables) ResolveOfUser(ctx context.Context, user, given string) (Fact, error) {
	return t.resolve(ctx, strconv.Quote(user)+", of all agents", given, ofAllAgents(user))
}

func (t *Tables) resolve(ctx context.Context, owner, given string, of rowFilter) (Fact, error) {
	p := clickhouse.Prefix{What: "fact", Where: "the memory of user " + owner, Given: given, NotFound: ErrFactNotFound}
	digits := strings.TrimPrefix(p.Text(), idMark)
	if len(digits) < clickhouse.MinPrefix {
		return Fact{}, p.Missing("")
	}
	found, err := t.named(ctx, of, idMark+digits, clickhouse.MostPrefixed)
	if err != nil {
		return Fact{}, err
	}
	byID := map[string]Fact{}
	for _, f := range found {
		if of, ok := byID[f.ID]; !ok || of.Status != Active {
			byID[f.ID] = f // Two agents may have the same fact: an active one is preferred.
		}
	}
	id, err := p.Pick(slices.Sorted(maps.Keys(byID)))
	return byID[id], err
}

func quoteOwner(user, agent string) string {
	if agent == "" {
		return strconv.Quote(user)
	}
	return fmt.Sprintf("%q, agent %q", user, agent)
}
