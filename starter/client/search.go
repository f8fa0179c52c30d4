package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"axiommind/activities/graduate"
	"axiommind/activities/projection"
	"axiommind/activities/retrieve"
	"axiommind/activities/vector"
	"axiommind/schema"
)

// Types of results. They are aliases, so that a program imports this package and, for constants, schema.
type (
	// Hit is a statement that was found, with its score, its sessions and its evidence.
	Hit = retrieve.Hit
	// Kind is the kind of a hit.
	Kind = retrieve.Kind
	// Statement is one entry that states the same as a hit.
	Statement = retrieve.Statement
	// Explain explains a score.
	Explain = retrieve.Explain
	// Found is the answer to a query.
	Found = retrieve.Result
)

// Defaults and bounds of a search.
const (
	DefaultLimit = retrieve.DefaultLimit
	MaxLimit     = retrieve.MaxLimit
)

// Query is a search in the memory of a user.
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
	// AsOf searches the beliefs of that time. Zero means now.
	AsOf time.Time
	// From and To bound the time at which the source was written. From is inclusive, To is exclusive.
	From, To time.Time
	// Limit is the number of hits, by default [DefaultLimit], and Offset the number of the best hits to skip. Together
	// they are [MaxLimit] at most.
	Limit, Offset int
	// Cursor is the Next of an earlier result, and selects the hits that follow. It is an alternative to Offset: even if
	// memories are added meanwhile, no hit is repeated or skipped.
	Cursor string
	// Expand is the number of messages before and after each hit to return with it.
	Expand int
	// Alpha is the weight of meaning against words, 0 to 1. Nil means the default.
	Alpha *float64
}

// SearchResult is the result of a search.
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
	finder, err := get(ctx, c, &c.finder, c.openFinder)
	if err != nil {
		return SearchResult{}, err
	}
	r, err := c.find(ctx, finder, scope, retrieve.Query{
		Text: q.Text, Project: scope.Project, User: scope.User, Agent: scope.Agent, SessionID: q.Session, Kinds: q.Kinds, Types: q.Types, Stages: q.Stages, Statuses: q.Statuses,
		Superseded: q.Superseded, AsOf: q.AsOf, From: q.From, To: q.To, Limit: q.Offset + limit, Cursor: q.Cursor, Alpha: q.Alpha, Expand: q.Expand,
	})
	switch {
	case errors.Is(err, retrieve.ErrQuery):
		return SearchResult{}, invalid(err)
	case err != nil:
		return SearchResult{}, err
	}
	r.Hits = r.Hits[min(q.Offset, len(r.Hits)):]
	r.More = r.Next != ""
	c.note(ctx, schema.RetrievedBySearch, map[schema.Scope][]string{scope: idsOf(r.Hits)})
	return r, nil
}

// find searches, and meanwhile counts what is not indexed yet.
func (c *Client) find(ctx context.Context, finder *retrieve.Finder, scope schema.Scope, q retrieve.Query) (r SearchResult, err error) {
	conn, err := c.askClickHouse(ctx)
	if err != nil {
		return r, err
	}
	searcher, err := finder.Searcher(ctx)
	if err != nil {
		return r, err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		r.Found, err = searcher.Search(ctx, q)
		return err
	})
	group.Go(func() (err error) {
		r.NotIndexed, err = vector.Waiting(ctx, conn, searcher.Embedder(), scope.User, scope.Project)
		return err
	})
	err = group.Wait()
	return r, err
}

func scopeOf(project, user, agent string) schema.Scope {
	return schema.Scope{Project: cmp.Or(project, defaultName), User: cmp.Or(user, defaultName), Agent: agent}
}

// defaultName is the name of a project and a user that have none. defaultActor is the actor if none is given.
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

// note records which entries were returned, unless usage notes are off. It runs in the background, and a missing note
// is no failure.
func (c *Client) note(ctx context.Context, by schema.Retrieval, returned map[schema.Scope][]string) {
	if c.service.NoUsage {
		return
	}
	log, conn, err := c.log(ctx)
	if err != nil {
		return // There is nothing to note then.
	}
	request, now := uuid.NewString(), time.Now().UTC()
	c.notes.Lock()
	defer c.notes.Unlock()
	for scope, ids := range returned {
		c.notes.waiting = append(c.notes.waiting, graduate.Retrieved{
			Scope: scope, RequestID: request, By: by, EntryIDs: ids, At: now, Actor: c.actor(ctx),
		})
	}
	if !c.notes.writing && len(c.notes.waiting) > 0 {
		c.notes.writing = true
		ctx = context.WithoutCancel(ctx)
		c.noting.Go(func() { c.record(ctx, log, conn) })
	}
}

// notes are those that are not written yet.
type notes struct {
	sync.Mutex
	waiting []graduate.Retrieved
	// writing is true while a goroutine writes them.
	writing bool
}

// record writes notes until there are none. It waits for others to come, as one request writes them all.
func (c *Client) record(ctx context.Context, log *projection.Store, conn driver.Conn) {
	for {
		select {
		case <-c.closed.Done():
		case <-time.After(usagePause):
		}
		c.notes.Lock()
		requests := c.notes.waiting
		c.notes.waiting = nil
		c.notes.writing = len(requests) > 0
		c.notes.Unlock()
		if len(requests) == 0 {
			return
		}
		of := map[string][]graduate.Retrieved{}
		for _, r := range requests {
			of[r.Project] = append(of[r.Project], r)
		}
		for project, requests := range of { // One that fails does not take the time of the others.
			inTime, cancel := context.WithTimeout(ctx, usageTimeout)
			err := graduate.RecordRetrieved(inTime, log, conn, c.writer, requests...)
			cancel()
			if err != nil {
				c.logger.Debug("it is not noted which memories were returned", "project", project, "reason", err)
			}
		}
	}
}
