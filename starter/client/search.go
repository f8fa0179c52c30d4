package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"axiommind/activities/eventlog"
	"axiommind/activities/graduate"
	"axiommind/activities/retrieve"
	"axiommind/activities/vector"
	"axiommind/schema"
)

// Types of what is found. They are aliases, so that a program imports this package and, for constants, schema.
type (
	// Hit is a statement that was found, with its score, its sessions and its evidence.
	Hit = retrieve.Hit
	// Kind is what a hit is.
	Kind = retrieve.Kind
	// Saying is one entry that says what a hit says.
	Saying = retrieve.Saying
	// Explain says where a score comes from.
	Explain = retrieve.Explain
	// Found is the answer to a query.
	Found = retrieve.Result
)

// Defaults and bounds of a search.
const (
	DefaultLimit = retrieve.DefaultLimit
	MaxLimit     = retrieve.MaxLimit
)

// Query is what to search for, and in whose memory.
type Query struct {
	// Text is the text to search for, in any language. It is required.
	Text string
	// Project and User are by default "default". Only theirs is searched.
	Project, User string
	// The zero value of each of the following fields restricts nothing. Session is a session's whole id.
	Agent, Session string
	Kinds          []Kind
	Types          []schema.EntryType
	Stages         []schema.Stage
	Statuses       []schema.Status
	// Superseded includes entries that are no longer believed.
	Superseded bool
	// AsOf asks for what was believed at that time. Zero means now.
	AsOf time.Time
	// From and To bound the time at which the source was written. From is inclusive, To is exclusive.
	From, To time.Time
	// Limit is the number of hits, by default [DefaultLimit]; Offset is how many of the best to leave out. Together they
	// are [MaxLimit] at most.
	Limit, Offset int
	// Cursor is the Next of what was found before, for the hits that follow. It is another way to ask for them than Offset:
	// whatever is remembered meanwhile, none comes twice and none is passed over.
	Cursor string
	// Expand is how many messages before and after each hit are to be returned with it.
	Expand int
	// Alpha is the weight of meaning against words, 0 to 1. Nil means the default.
	Alpha *float64
}

// SearchResult is what was found.
type SearchResult struct {
	Found
	// More is true if there are hits after these.
	More bool `json:"more"`
	// NotIndexed counts the items of the project, and the facts that people entered about the user, that can't be found yet.
	NotIndexed int `json:"not_indexed"`
}

// Search returns the memories that are related to the query, the best first. Those that say the same are one hit.
func (c *Client) Search(ctx context.Context, q Query) (SearchResult, error) {
	limit := cmp.Or(q.Limit, DefaultLimit)
	switch {
	case q.Limit < 0 || q.Offset < 0 || limit+q.Offset > MaxLimit:
		return SearchResult{}, invalid(fmt.Errorf("limit %d, offset %d: want 0 or more, together %d at most", q.Limit, q.Offset, MaxLimit))
	case q.Cursor != "" && q.Offset > 0:
		return SearchResult{}, invalid(errors.New("a cursor and an offset: give one of them"))
	case strings.TrimSpace(q.Text) == "":
		return SearchResult{}, invalid(errors.New("the text of the query is empty"))
	}
	scope := scopeOf(q.Project, q.User, q.Agent)
	finder, err := get(ctx, c, &c.finder)
	if err != nil {
		return SearchResult{}, err
	}
	found, err := finder.Search(ctx, retrieve.Query{
		Text: q.Text, Project: scope.Project, User: scope.User, Agent: scope.Agent, SessionID: q.Session, Kinds: q.Kinds, Types: q.Types, Stages: q.Stages, Statuses: q.Statuses,
		Superseded: q.Superseded, AsOf: q.AsOf, From: q.From, To: q.To, Limit: q.Offset + limit, Cursor: q.Cursor, Alpha: q.Alpha, Expand: q.Expand,
	})
	switch {
	case errors.Is(err, retrieve.ErrQuery):
		return SearchResult{}, invalid(err)
	case err != nil:
		return SearchResult{}, err
	}
	r := SearchResult{Found: found}
	conn, err := get(ctx, c, &c.clickHouse)
	if err == nil {
		r.NotIndexed, err = vector.Waiting(ctx, conn, found.Embedder, scope.User, scope.Project)
	}
	if err != nil {
		return SearchResult{}, err
	}
	r.Hits = r.Hits[min(q.Offset, len(r.Hits)):]
	r.More = r.Next != ""
	c.note(ctx, schema.RetrievedBySearch, map[schema.Scope][]string{scope: idsOf(r.Hits)})
	return r, nil
}

func scopeOf(project, user, agent string) schema.Scope {
	return schema.Scope{Project: cmp.Or(project, defaultName), User: cmp.Or(user, defaultName), Agent: agent}
}

// defaultName is the name of a project and a user that have none. defaultActor is who asks if nobody says.
const (
	defaultName  = "default"
	defaultActor = "client"
)

// idsOf are the entries of hits that are not weak, those of other sessions included.
func idsOf(hits []Hit) []string {
	var ids []string
	for _, h := range hits {
		if h.Kind != retrieve.KindEntry || h.Weak {
			continue
		}
		ids = append(ids, h.ID)
		for _, s := range h.Sessions {
			ids = append(ids, s.EntryID)
		}
	}
	return ids
}

// note notes which entries were returned, unless that is not wanted. Nobody waits for it, and that something is not noted
// is no failure.
func (c *Client) note(ctx context.Context, by schema.Retrieval, returned map[schema.Scope][]string) {
	if c.service.NoUsage {
		return
	}
	log, conn, err := c.log(ctx)
	if err != nil {
		return // There is nothing to note then.
	}
	ctx = context.WithoutCancel(ctx)
	c.noting.Go(func() { c.record(ctx, log, conn, by, returned) })
}

func (c *Client) record(
	ctx context.Context, log *eventlog.Store, conn driver.Conn, by schema.Retrieval, returned map[schema.Scope][]string,
) {
	ctx, cancel := context.WithTimeout(ctx, usageTimeout)
	defer cancel()
	request, now := uuid.NewString(), time.Now().UTC()
	var group errgroup.Group
	for scope, ids := range returned {
		group.Go(func() error {
			return graduate.RecordRetrieved(ctx, log, conn, graduate.Retrieved{
				Scope: scope, RequestID: request, By: by, EntryIDs: ids, At: now, Actor: cmp.Or(c.cfg.Actor, defaultActor),
			})
		})
	}
	if err := group.Wait(); err != nil {
		c.logger.Debug("it is not noted which memories were returned", "reason", err)
	}
}
