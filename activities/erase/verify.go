package erase

import (
	"context"
	"fmt"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/boundary"
	"axiommind/activities/clickhouse"
	"axiommind/schema"
)

// maxFound bounds the reported places.
const maxFound = 100

// Found is the result of a search for erased content.
type Found struct {
	// Left lists the places with leftovers. Elsewhere lists the places where others said the same, which stay. Each has
	// 100 places at most.
	Left      []schema.Leftover `json:"left"`
	Elsewhere []schema.Leftover `json:"elsewhere"`
	// NamesOnly is true if texts were not looked for, because their fingerprints were destroyed after an earlier check.
	NamesOnly bool `json:"names_only,omitempty"`
}

// FindInput is the input of [Activities.FindErased].
type FindInput struct {
	Input
	// Executions are those that Temporal had not deleted in time, and More counts the rest.
	Executions []Execution `json:"executions,omitempty"`
	More       int         `json:"more,omitempty"`
}

// FindErased looks for erased content in every store: each event, each table, each object of the vector store, each
// file of a memory, and the ids of workflow executions, including those that began since.
func (a *Activities) FindErased(ctx context.Context, in FindInput) (Found, error) {
	return boundary.Run(ctx, in, signed(a, a.find))
}

func (a *Activities) find(ctx context.Context, in FindInput) (Found, error) {
	secrets, err := a.secrets(ctx, in.ErasureID)
	if err != nil {
		return Found{}, err
	}
	secret, known := secrets[in.ErasureID]
	s := newSearch(secret, in.ErasureScope)
	s.found.NamesOnly = !known
	if err := s.clickhouse(ctx, a.conn); err != nil {
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
	// Texts that are too short for a fingerprint are found by the names of their owners.
	plan, err := a.plan(ctx, in.Input, nil)
	if err != nil {
		return s.found, err
	}
	for _, stream := range append(plan.Changed(), plan.Streams...) {
		s.add(&s.found.Left, "clickhouse", "events "+stream+" name it")
	}
	if err := a.findExecutions(ctx, in, s); err != nil {
		return s.found, err
	}
	if len(s.found.Left) == 0 { // Also if the secret is already deleted: an attempt may have died before all disks were clean.
		err = a.destroySecret(ctx, in.ErasureID)
	}
	return s.found, err
}

// findExecutions adds the remaining executions. For a query none can be recognized by its id.
func (a *Activities) findExecutions(ctx context.Context, in FindInput, s *search) error {
	for _, e := range in.Executions {
		status, err := a.status(ctx, e)
		if err != nil {
			return err
		}
		if status != 0 {
			s.addLeftover(e.leftover())
		}
	}
	if in.More > 0 {
		s.add(&s.found.Left, "temporal", fmt.Sprintf("%d workflow executions more", in.More))
	}
	if err := a.deleteEndedErasures(ctx); err != nil {
		return err
	}
	if in.Kind() == schema.EraseQuery {
		return nil
	}
	schedules, err := a.schedules(ctx, in.ErasureScope)
	for _, id := range schedules {
		s.addLeftover(schema.Leftover{Store: "temporal", Place: "schedule " + id})
	}
	if err != nil {
		return err
	}
	listed, err := a.affectedExecutions(ctx, in.ErasureScope)
	for _, w := range listed {
		if !isQueue(w) || erases(in.ErasureScope, w.GetExecution().GetWorkflowId()) {
			s.addLeftover(executionOf(w).leftover())
		}
	}
	return err
}

// search looks for fingerprints of the erased texts, and for a query itself.
type search struct {
	scope        schema.ErasureScope
	fingerprints *fingerprints
	query        string
	// others are the fingerprints that texts of others share.
	others map[uint64]bool
	found  Found
}

func newSearch(secret secret, scope schema.ErasureScope) *search {
	s := &search{
		scope: scope, fingerprints: newFingerprints(secret.key), query: lettersOf(scope.Query), others: map[uint64]bool{},
		found: Found{Left: []schema.Leftover{}, Elsewhere: []schema.Leftover{}},
	}
	s.fingerprints.read(secret.fingerprints)
	return s
}

// look searches a text of a store.
func (s *search) look(store, place, text string) {
	for _, print := range s.fingerprints.in(text) {
		if !s.others[print] {
			s.add(&s.found.Left, store, place)
			return
		}
	}
	if s.query != "" && strings.Contains(lettersOf(text), s.query) {
		s.add(&s.found.Left, store, place)
	}
}

func (s *search) addLeftover(l schema.Leftover) { s.add(&s.found.Left, l.Store, l.Place) }

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

// textTypes are the events that contain the texts of people and tools.
var textTypes = []string{
	schema.SessionIngested, schema.ContextEnqueued, schema.ContextHeld, schema.FactCreated, schema.FactUpdated, schema.ProfileUpdated, schema.ChangeProposed,
}

// ofScope reports whether the stream belongs to the scope.
func ofScope(scope schema.ErasureScope, stream string) bool {
	o := ownerOf(schema.Event{Stream: stream})
	key, ok := sessionOf(stream)
	switch scope.Kind() {
	case schema.EraseSession:
		return ok && key == scope.Session()
	case schema.EraseUser:
		return o.memory && o.user == scope.User
	case schema.EraseProject:
		return ok && key.Project == scope.Project
	default:
		return false
	}
}

// clickhouse searches all events and all rows of all tables, also of databases that a rebuild or a replay left. It
// reads the texts of others first, because a text that they share is no leftover.
func (s *search) clickhouse(ctx context.Context, conn driver.Conn) error {
	err := clickhouse.Query(ctx, conn, func(rows driver.Rows) error {
		var stream, text string
		var seq uint64
		if err := rows.Scan(&stream, &seq, &text); err != nil {
			return err
		}
		if ofScope(s.scope, stream) {
			return nil
		}
		prints := s.fingerprints.anywhereIn(text)
		for _, print := range prints {
			s.others[print] = true
		}
		says := s.query != "" && !s.inQueryScope(stream) && strings.Contains(lettersOf(text), s.query)
		if says {
			s.query = ""
		}
		if len(prints) > 0 || says {
			s.add(&s.found.Elsewhere, "clickhouse", fmt.Sprintf("events %s at %d", stream, seq))
		}
		return nil
	}, `SELECT stream, seq, payload_json FROM events_raw WHERE event_type IN ?`, clickhouse.Set(textTypes))
	if err != nil {
		return fmt.Errorf("search the events of other streams: %w", err)
	}
	err = clickhouse.Query(ctx, conn, func(rows driver.Rows) error {
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
	databases := []string{""}
	scratches, err := clickhouse.Scratches(ctx, conn)
	if err != nil {
		return err
	}
	for _, scratch := range scratches {
		databases = append(databases, scratch.Database)
	}
	for _, database := range databases {
		if err := s.tables(ctx, conn, database); err != nil {
			return err
		}
	}
	return nil
}

// tables searches all rows of the tables of a database, or of the current one if it is empty.
func (s *search) tables(ctx context.Context, conn driver.Conn, database string) error {
	var tables []string
	err := clickhouse.Query(ctx, conn, clickhouse.Column(&tables), `SELECT `+clickhouse.TableName+` AS name FROM system.tables
		WHERE database = if($1 = '', currentDatabase(), $1) AND engine LIKE '%MergeTree' AND name NOT IN ($2, if($1 = '', 'events_raw', '')) ORDER BY name`, database, secretsTable)
	if err != nil {
		return fmt.Errorf("list tables: %w", err)
	}
	for _, name := range tables {
		place, from := name, clickhouse.Identifier(name)
		if database != "" {
			place, from = database+"."+name, clickhouse.Identifier(database)+"."+from
		}
		err := clickhouse.Query(ctx, conn, func(rows driver.Rows) error {
			var text string
			if err := rows.Scan(&text); err != nil {
				return err
			}
			s.look("clickhouse", place, text)
			return nil
		}, `SELECT formatRowNoNewline('TSVRaw', *) FROM `+from)
		if err != nil {
			return fmt.Errorf("search table %s: %w", place, err)
		}
	}
	return nil
}

// inQueryScope reports whether a query erases texts of the stream.
func (s *search) inQueryScope(stream string) bool {
	o := ownerOf(schema.Event{Stream: stream})
	return (s.scope.User == "" || o.user == s.scope.User) && (s.scope.Project == "" || o.project == s.scope.Project)
}
