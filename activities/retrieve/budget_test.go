package retrieve

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/stretchr/testify/require"

	"axiommind/activities/task"
	"axiommind/schema"
)

// quiet is how long no request may come before those that wait are taken for a round.
const quiet = 150 * time.Millisecond

// rounds is a connection that asks all requests that don't wait for one another at once, round by round, and counts both.
type rounds struct {
	driver.Conn

	mu      sync.Mutex
	waiting []chan struct{}
	running int
	timer   *time.Timer
	// asked are the requests of each round.
	asked [][]string
}

func (c *rounds) Query(ctx context.Context, query string, args ...any) (driver.Rows, error) {
	c.enter(query)
	rows, err := c.Conn.Query(ctx, query, args...)
	if err != nil {
		c.leave()
		return nil, err
	}
	return &roundRows{Rows: rows, closed: sync.OnceFunc(c.leave)}, nil
}

// enter waits for the next round.
func (c *rounds) enter(query string) {
	c.mu.Lock()
	if len(c.waiting) == 0 {
		c.asked = append(c.asked, nil)
	}
	c.asked[len(c.asked)-1] = append(c.asked[len(c.asked)-1], strings.Join(strings.Fields(query), " "))
	turn := make(chan struct{})
	c.waiting = append(c.waiting, turn)
	c.schedule()
	c.mu.Unlock()
	<-turn
}

func (c *rounds) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.running--
	c.schedule()
}

// schedule begins the next round when it is quiet and the last one has ended.
func (c *rounds) schedule() {
	if c.timer != nil {
		c.timer.Stop()
	}
	if c.running > 0 || len(c.waiting) == 0 {
		return
	}
	c.timer = time.AfterFunc(quiet, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.running > 0 {
			return
		}
		for _, turn := range c.waiting {
			close(turn)
		}
		c.running, c.waiting = len(c.waiting), nil
	})
}

type roundRows struct {
	driver.Rows
	closed func()
}

func (r *roundRows) Close() error {
	defer r.closed()
	return r.Rows.Close()
}

// TestSearchBudget: after the index has answered, a search asks ClickHouse in two rounds. In each the kinds of hits read their
// rows at the same time. Entries take two requests in each round, messages one request, facts two and tasks four.
func TestSearchBudget(t *testing.T) {
	t.Parallel()
	b := newWholeBench(t)
	scope := schema.Scope{Project: "red", User: "ann", Agent: "a"}
	var list []schema.Entry
	for i := range 60 {
		list = append(list, schema.Entry{Scope: scope, SessionID: fmt.Sprint("s", i%3), Title: fmt.Sprintf("The invoice %d is paid in March", i/2)})
	}
	entries := b.add(t, append(list, schema.Entry{Scope: scope, SessionID: "s1", Type: schema.EntryTaskNote, Title: "TODO: pay the invoice of the plumber"})...)
	note, id := entries[60], schema.DerivedID("task", "red", "invoice")
	b.happen(t, schema.ProjectStream("red"), "red",
		schema.TaskCreatedPayload{Act: schema.Act{EntryID: note.ID}, TaskID: id, Title: "Pay the invoice", CanonicalKey: "pay the invoice"},
		schema.TaskObservedPayload{Act: schema.Act{EntryID: note.ID}, TaskID: id})
	b.happen(t, schema.MemoryStream(scope.User, "a"), "",
		schema.FactCreatedPayload{Act: schema.Act{RequestID: "1"}, FactID: "fact_1", Content: "Keeps each invoice for ten years", Category: "preference", Confidence: 1})
	b.say(t, sessionOf("red", "ann", "a", "s1"), "When is the invoice paid?", "In March.", "Who has the invoice of April?")
	b.project(t, task.NewProjector(b.conn))
	// The first two hits contest each other, and the third has another one in its place.
	b.graduate(t, start, "red",
		schema.ConflictDetectedPayload{Scope: scope, ConflictID: schema.DerivedID("conflict", "red"), OlderID: entries[0].ID, NewerID: entries[2].ID},
		schema.EntryRetiredPayload{Scope: scope, EntryID: entries[4].ID, Status: schema.StatusSuperseded, SupersededBy: entries[6].ID})

	for name, tt := range map[string]struct {
		query            Query
		requests, rounds int
	}{
		"all":      {Query{Limit: 20}, 11, 2},
		"entries":  {Query{Kinds: []Kind{KindEntry}, Limit: 20}, 4, 2},
		"messages": {Query{Kinds: []Kind{KindMessage}}, 1, 1},
		"facts":    {Query{Kinds: []Kind{KindFact}}, 2, 2},
		"tasks":    {Query{Kinds: []Kind{KindTask}}, 4, 2},
		// One round more finds the ids of the few entries with the status.
		"superseded": {Query{Kinds: []Kind{KindEntry}, Statuses: []schema.Status{schema.StatusSuperseded}}, 5, 3},
		"contested":  {Query{Kinds: []Kind{KindEntry}, Statuses: []schema.Status{schema.StatusContested}}, 5, 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conn := &rounds{Conn: b.conn}
			q := tt.query
			q.Text, q.Project, q.User = "when is the invoice paid", "red", "ann"
			r, err := NewSearcher(conn, b.client, b.embedder, Options{Now: func() time.Time { return start }}).Search(t.Context(), q)
			require.NoError(t, err)
			require.NotEmpty(t, r.Hits)
			for _, h := range r.Hits {
				require.Equal(t, h.Status == schema.StatusSuperseded, h.SupersededByTitle != "")
				require.Len(t, h.ContestedBy, h.Conflicts)
			}
			n := 0
			for _, requests := range conn.asked {
				n += len(requests)
			}
			require.LessOrEqual(t, len(conn.asked), tt.rounds, "%q", conn.asked)
			require.LessOrEqual(t, n, tt.requests, "%q", conn.asked)
		})
	}
}
