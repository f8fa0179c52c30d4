package erase

import (
	"context"
	"fmt"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/boundary"
	"axiommind/activities/eventlog"
	"axiommind/activities/table"
	"axiommind/schema"
)

// maxFound bounds the places that are told.
const maxFound = 100

// Found is what was found of what an erasure has erased.
type Found struct {
	// Left is where something of it is left. Elsewhere is where others have said the same: that stays. Each has 100 places at most.
	Left      []schema.Leftover `json:"left"`
	Elsewhere []schema.Leftover `json:"elsewhere"`
}

// FindInput says what to look for.
type FindInput struct {
	Input
	// Executions are those that Temporal had not deleted in time, and More counts those beyond them.
	Executions []Execution `json:"executions,omitempty"`
	More       int         `json:"more,omitempty"`
}

// FindErased looks for what was erased in every store: each event, each table, each object of the vector store, each file of a
// memory, and the ids of workflow executions, also of those that began since.
func (a *Activities) FindErased(ctx context.Context, in FindInput) (Found, error) {
	return boundary.Run(ctx, in, a.find)
}

func (a *Activities) find(ctx context.Context, in FindInput) (Found, error) {
	s, err := newSearch(ctx, a.log, in.ErasureID)
	if err != nil {
		return Found{}, err
	}
	if err := s.clickhouse(ctx, a.conn, in.ErasureScope); err != nil {
		return s.found, err
	}
	if err := a.weaviate.Walk(ctx, func(class, item, text string) { s.look("weaviate", class+" "+item, text) }); err != nil {
		return s.found, err
	}
	if err := a.root.Walk(ctx, func(path, text string) { s.look("files", path, text) }); err != nil {
		return s.found, err
	}
	if err := a.clearTemps(s); err != nil {
		return s.found, err
	}
	// What is too short for a fingerprint is known by what names it.
	plan, _, err := a.plan(ctx, in.Input)
	if err != nil {
		return s.found, err
	}
	for _, stream := range append(plan.Changed(), plan.Streams...) {
		s.add(&s.found.Left, "clickhouse", "events "+stream+" name it")
	}
	return s.found, a.findExecutions(ctx, in, s)
}

// findExecutions adds the executions that are left. A text is in none that can be known by its id.
func (a *Activities) findExecutions(ctx context.Context, in FindInput, s *search) error {
	for _, e := range in.Executions {
		status, err := a.status(ctx, e)
		if err != nil {
			return err
		}
		if status != 0 {
			s.leave(e.leftover())
		}
	}
	if in.More > 0 {
		s.add(&s.found.Left, "temporal", fmt.Sprintf("%d workflow executions more", in.More))
	}
	if in.Kind() == schema.EraseQuery {
		return nil
	}
	listed, err := a.holding(ctx, in.ErasureScope)
	for _, w := range listed {
		if !isQueue(w) || erases(in.ErasureScope, w.GetExecution().GetWorkflowId()) {
			s.leave(executionOf(w).leftover())
		}
	}
	return err
}

// search looks for fingerprints.
type search struct {
	prints *prints
	// others are the fingerprints that other sessions have, too.
	others map[uint64]bool
	found  Found
}

func newSearch(ctx context.Context, log *eventlog.Store, erasureID string) (*search, error) {
	stone, err := begun(ctx, log, erasureID)
	if err != nil {
		return nil, err
	}
	s := &search{prints: newPrints(stone.Salt), others: map[uint64]bool{}, found: Found{
		Left: []schema.Leftover{}, Elsewhere: []schema.Leftover{},
	}}
	events, err := log.GetMany(ctx, []string{schema.EventID(schema.ErasureKey(erasureID, schema.ErasurePrinted, 0))})
	if err != nil {
		return nil, err
	}
	for _, e := range events {
		p, err := schema.Decode[schema.ErasurePrintedPayload](e)
		if err != nil {
			return nil, err
		}
		s.prints.read(p.Prints)
	}
	return s, nil
}

// look looks at a text of a store.
func (s *search) look(store, place, text string) {
	for _, print := range s.prints.in(text) {
		if !s.others[print] {
			s.add(&s.found.Left, store, place)
			return
		}
	}
}

func (s *search) leave(l schema.Leftover) { s.add(&s.found.Left, l.Store, l.Place) }

func (s *search) add(to *[]schema.Leftover, store, place string) {
	l := schema.Leftover{Store: store, Place: place}
	for _, known := range *to {
		if known == l {
			return
		}
	}
	if len(*to) < maxFound {
		*to = append(*to, l)
	}
}

// saidTypes are the events that hold what people and tools have said.
var saidTypes = []string{
	schema.SessionIngested, schema.ContextEnqueued, schema.ContextHeld, schema.FactCreated, schema.FactUpdated, schema.ProfileUpdated, schema.ChangeProposed,
}

// ofScope reports whether the stream is of what is erased.
func ofScope(scope schema.ErasureScope, stream string) bool {
	o := ownerOf(schema.Event{Stream: stream})
	key, err := schema.ParseSessionStream(stream)
	switch scope.Kind() {
	case schema.EraseSession:
		return err == nil && key == scope.Session()
	case schema.EraseUser:
		return o.memory && o.user == scope.User
	case schema.EraseProject:
		return err == nil && key.Project == scope.Project
	default:
		return false
	}
}

// clickhouse looks at all events, and at all rows of all tables. What others have said is looked at first: what they say as well is
// theirs.
func (s *search) clickhouse(ctx context.Context, conn driver.Conn, scope schema.ErasureScope) error {
	err := table.Query(ctx, conn, func(rows driver.Rows) error {
		var stream, text string
		var seq uint64
		if err := rows.Scan(&stream, &seq, &text); err != nil {
			return err
		}
		if ofScope(scope, stream) {
			return nil
		}
		prints := s.prints.in(text)
		for _, print := range prints {
			s.others[print] = true
		}
		if len(prints) > 0 {
			s.add(&s.found.Elsewhere, "clickhouse", fmt.Sprintf("events %s at %d", stream, seq))
		}
		return nil
	}, `SELECT stream, seq, payload_json FROM events_raw WHERE event_type IN ?`, table.Set(saidTypes))
	if err != nil {
		return fmt.Errorf("search what others have said: %w", err)
	}
	err = table.Query(ctx, conn, func(rows driver.Rows) error {
		var stream, text string
		var seq uint64
		if err := rows.Scan(&stream, &seq, &text); err != nil {
			return err
		}
		s.look("clickhouse", fmt.Sprintf("events %s at %d", stream, seq), text)
		return nil
	}, `SELECT stream, seq, payload_json FROM events_raw WHERE NOT startsWith(stream, ?)`, schema.ErasurePrefix)
	if err != nil {
		return fmt.Errorf("search events: %w", err)
	}
	var tables []string
	err = table.Query(ctx, conn, func(rows driver.Rows) error {
		var name string
		err := rows.Scan(&name)
		tables = append(tables, name)
		return err
	}, `SELECT name FROM system.tables WHERE database = currentDatabase() AND engine LIKE '%MergeTree' AND name != 'events_raw' ORDER BY name`)
	if err != nil {
		return fmt.Errorf("list tables: %w", err)
	}
	for _, name := range tables {
		err := table.Query(ctx, conn, func(rows driver.Rows) error {
			var text string
			if err := rows.Scan(&text); err != nil {
				return err
			}
			s.look("clickhouse", name, text)
			return nil
		}, `SELECT formatRowNoNewline('TSVRaw', *) FROM `+eventlog.Identifier(name))
		if err != nil {
			return fmt.Errorf("search table %s: %w", name, err)
		}
	}
	return nil
}
