package client_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enums "go.temporal.io/api/enums/v1"
	temporal "go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"axiommind/activities/eventlog"
	"axiommind/activities/projection"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
	"axiommind/starter/client"
)

func TestMain(m *testing.M) { stacktest.Main(m) }

// nowhere has the addresses of servers that do not run.
func nowhere() client.Config {
	return client.Config{Servers: client.Servers{
		TemporalAddress: "127.0.0.1:1", ClickHouseDSN: "http://127.0.0.1:1/default", WeaviateURL: "http://127.0.0.1:1",
		ConnectTimeout: 200 * time.Millisecond,
	}}
}

func open(t *testing.T, cfg client.Config) *client.Client {
	t.Helper()
	c, err := client.Open(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	return c
}

func says(words ...string) []client.Message {
	var out []client.Message
	for i, w := range words {
		out = append(out, client.Message{Role: []string{"user", "assistant"}[i%2], Content: w})
	}
	return out
}

const hard = `한 "q" \ / 'x' ` + "\u202e"

// Invalid requests are reported before any server is asked, and differ from unavailable servers.
func TestErrors(t *testing.T) {
	t.Parallel()
	c := open(t, nowhere())
	transcript := filepath.Join(t.TempDir(), "two.jsonl")
	line := `{"type":"user","uuid":"u","sessionId":%q,"timestamp":"2026-03-01T09:00:00Z","message":{"role":"user","content":"Hello."}}` + "\n"
	require.NoError(t, os.WriteFile(transcript, []byte(fmt.Sprintf(line, "a")+fmt.Sprintf(line, "b")), 0o600))
	for says, conversation := range map[string]client.Conversation{
		"there is nothing to remember":                 {Thread: "t"},
		"messages or a file, not both":                 {Thread: "t", File: "x", Messages: says("a")},
		`message 1: role "robot" is not user`:          {Thread: "t", Messages: []client.Message{{Role: "User"}, {Role: "robot"}}},
		"session":                                      {Messages: says("a")},
		"messages hold 1048577 bytes":                  {Thread: "t", Messages: says(strings.Repeat("x", schema.MaxHeldBytes+1))},
		`format "text": messages have none`:            {Thread: "t", Format: "text", Messages: says("a")},
		"id has 201 bytes":                             {ID: strings.Repeat("i", 201), Thread: "t", Messages: says("a")},
		"debounce -1s":                                 {Thread: "t", Messages: says("a"), Debounce: -time.Second},
		"max_wait 25h0m0s":                             {Thread: "t", Messages: says(strings.Repeat("x", 9000)), MaxWait: 25 * time.Hour},
		`flush "whim"`:                                 {Thread: "t", Messages: says("a"), Flush: "whim"},
		"a statement has none":                         {Thread: "t", Messages: says("a"), Statement: &schema.Statement{Type: schema.EntryInsight}},
		"the statement holds more than":                {Messages: says(strings.Repeat("x", 5000)), Statement: &schema.Statement{Type: schema.EntryInsight}},
		"control character":                            {Thread: "a\nb", Messages: says("a")},
		"no such file":                                 {File: "/no/such/file"},
		`holds 2 sessions, none with the id ""`:        {File: transcript},
		`holds 2 sessions, none with the id "another"`: {File: transcript, Thread: "another"},
	} {
		done, err := c.Enqueue(t.Context(), conversation)
		require.ErrorIs(t, err, client.ErrInvalid, says)
		require.ErrorContains(t, err, says)
		require.NotErrorIs(t, err, client.ErrUnavailable)
		require.NotEmpty(t, done.ID)
	}
	_, err := c.Search(t.Context(), client.Query{Text: " "})
	require.ErrorIs(t, err, client.ErrInvalid)
	_, err = c.Search(t.Context(), client.Query{Text: "x", Limit: 100, Offset: 101})
	require.ErrorIs(t, err, client.ErrInvalid)
	_, err = c.Context(t.Context(), client.ContextRequest{Counter: "fingers"})
	require.ErrorIs(t, err, client.ErrInvalid)
	_, err = client.Open(t.Context(), client.Config{Servers: client.Servers{ConnectTimeout: -1}})
	require.ErrorIs(t, err, client.ErrInvalid)
	unknown := nowhere()
	unknown.Embedder.Provider = "bert"
	_, err = open(t, unknown).Search(t.Context(), client.Query{Text: "x"})
	require.ErrorIs(t, err, client.ErrInvalid)

	for what, do := range map[string]func() error{
		"temporal at 127.0.0.1:1": func() error {
			done, err := c.Enqueue(t.Context(), client.Conversation{ID: "mine", Thread: "a", File: transcript})
			require.Equal(t, "mine", done.ID)
			return err
		},
		"store the messages: connect to clickhouse at": func() error {
			_, err := c.Enqueue(t.Context(), client.Conversation{Thread: "a", Messages: says(strings.Repeat("x", 5000))})
			return err
		},
		"connect to clickhouse at": func() error {
			_, err := c.Search(t.Context(), client.Query{Text: "x"})
			return err
		},
		"clickhouse at": func() error {
			_, err := c.Context(t.Context(), client.ContextRequest{})
			return err
		},
	} {
		err := do()
		require.ErrorIs(t, err, client.ErrUnavailable, what)
		require.NotErrorIs(t, err, client.ErrInvalid)
		require.ErrorContains(t, err, what)
	}

	off := nowhere()
	off.NoQueue = true
	_, err = open(t, off).Enqueue(t.Context(), client.Conversation{})
	require.ErrorIs(t, err, client.ErrDisabled)
	ended, err := client.Open(t.Context(), nowhere())
	require.NoError(t, err)
	require.NoError(t, ended.Close())
	_, err = ended.Context(t.Context(), client.ContextRequest{})
	require.ErrorIs(t, err, client.ErrClosed)
}

// spool is a list.
type spool struct {
	mu   sync.Mutex
	kept []schema.QueuedContext
	err  error
}

func (s *spool) Put(q schema.QueuedContext) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept = append(s.kept, q)
	return s.err
}

// While Temporal is away, a spool keeps conversations whole.
func TestSpooled(t *testing.T) {
	t.Parallel()
	kept := &spool{}
	cfg := nowhere()
	cfg.Spool = kept
	c := open(t, cfg)
	at := time.Date(2026, 3, 1, 9, 0, 0, 0, time.FixedZone("", 3600))
	done, err := c.Enqueue(t.Context(), client.Conversation{
		ID: hard, Project: "p", User: hard, Agent: "a/1", Thread: "t", At: at, MaxWait: time.Minute,
		Messages: []client.Message{{Role: "User", Content: "That's wrong.\x00\xff", ID: "m1", At: at}},
	})
	require.NoError(t, err)
	require.Equal(t, client.Enqueued{ID: hard, Thread: "t", Latest: at.UTC().Add(time.Minute), Spooled: true}, done)
	require.Equal(t, []schema.QueuedContext{{
		ID: hard, Scope: schema.Scope{Project: "p", User: hard, Agent: "a/1"}, Thread: "t", At: at.UTC(), MaxWait: time.Minute,
		Messages: []client.Message{{Role: "user", Content: "That's wrong.\uFFFD", ID: "m1", At: at.UTC()}}, Correction: true,
	}}, kept.kept)

	said := says("Write a page.", "Here it is.", "Perfect.")
	for want, shown := range map[string]*client.Signals{"found": nil, "given": {Correction: true}, "none": {}} {
		_, err = c.Enqueue(t.Context(), client.Conversation{Thread: want, Messages: said, Signals: shown, Now: true})
		require.NoError(t, err)
		q := kept.kept[len(kept.kept)-1]
		require.Equal(t, []bool{want == "given", want == "found"}, []bool{q.Correction, q.Reinforcement}, want)
		require.Equal(t, schema.Scope{Project: "default", User: "default"}, q.Scope)
	}
	_, err = c.Enqueue(t.Context(), client.Conversation{Messages: says("Tea is served at four."), Statement: &schema.Statement{Type: schema.EntryInsight}})
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(kept.kept[len(kept.kept)-1].Thread, "statement-"))

	kept.err = os.ErrPermission
	_, err = c.Enqueue(t.Context(), client.Conversation{Thread: "t", Messages: said})
	require.ErrorIs(t, err, client.ErrUnavailable)
	require.ErrorIs(t, err, os.ErrPermission)
	before := len(kept.kept)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = c.Enqueue(ctx, client.Conversation{Thread: "t", Messages: said})
	require.Error(t, err, "who gave up keeps nothing")
	require.Len(t, kept.kept, before)
}

// A conversation arrives at its queue as it was given: in the signal, or by the hash of messages that are stored once.
// The same conversation given again has the same id.
func TestEnqueueSends(t *testing.T) {
	t.Parallel()
	dsn := stacktest.MigratedDatabase(t)
	conn := stacktest.Connect(t, dsn)
	cfg := client.Config{Servers: client.Servers{TemporalAddress: stacktest.Temporal(t), ClickHouseDSN: dsn, ConnectTimeout: 20 * time.Second}}
	c := open(t, cfg)
	user := fmt.Sprintf("%s %d", hard, time.Now().UnixNano())
	long := says(strings.Repeat("가\"", 2000), "Noted.")
	many := make([]client.Message, 600)
	for i := range many {
		many[i] = client.Message{Role: "user", Content: fmt.Sprint(i % 10)}
	}
	var ids []string
	for _, messages := range [][]client.Message{says("Short."), long, long, many} {
		done, err := c.Enqueue(t.Context(), client.Conversation{User: user, Thread: "t", Messages: messages, Debounce: time.Second})
		require.NoError(t, err)
		require.WithinDuration(t, time.Now().Add(schema.DefaultMaxWait), done.Latest, time.Minute)
		ids = append(ids, done.ID)
	}
	_, err := c.Enqueue(t.Context(), client.Conversation{ID: ids[0], User: user, Thread: "t", Messages: says("Short.")})
	require.NoError(t, err)

	var got []schema.QueuedContext
	server, err := temporal.Dial(temporal.Options{HostPort: cfg.TemporalAddress})
	require.NoError(t, err)
	defer server.Close()
	events := server.GetWorkflowHistory(t.Context(), schema.WorkflowID(schema.QueueStream(user, "")), "", false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		event, err := events.Next()
		require.NoError(t, err)
		if s := event.GetWorkflowExecutionSignaledEventAttributes(); s != nil {
			var q schema.QueuedContext
			require.NoError(t, converter.GetDefaultDataConverter().FromPayloads(s.GetInput(), &q))
			require.NoError(t, q.Validate())
			got = append(got, q)
		}
	}
	require.Len(t, got, 5)
	require.Equal(t, says("Short."), got[0].Messages)
	require.Equal(t, got[0].ID, got[4].ID)
	require.NotEqual(t, got[1].ID, got[2].ID, "given twice, it is enqueued twice")
	require.Equal(t, []string{client.HashMessages(long), client.HashMessages(long), client.HashMessages(many)}, []string{got[1].Held, got[2].Held, got[3].Held})
	log := projection.New(conn, eventlog.Options{})
	for n, want := range map[int][]client.Message{1: long, 3: many} {
		var held []client.Message
		events := 0
		for event, err := range log.Stream(t.Context(), schema.ContextStream(got[n].Key(), got[n].Held), eventlog.StreamOptions{}) {
			require.NoError(t, err)
			p, err := schema.Decode[schema.ContextHeldPayload](event)
			require.NoError(t, err)
			held, events = append(held, p.Messages...), events+1
		}
		require.Equal(t, 1, events)
		require.Equal(t, want, held)
	}
}

// The hash of messages distinguishes their fields and the boundaries between them.
func TestHashMessages(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	at := time.Date(2026, 3, 1, 0, 0, 0, 1, time.UTC)
	for _, messages := range [][]client.Message{
		says("a"), says("a", ""), says("ab"), says("a", "b"), says("b", "a"), {{Role: "user", Content: "a", ID: "1"}},
		{{Role: "user", Content: "a", At: at}}, {{Role: "user", Content: "a", At: at.Add(time.Nanosecond)}}, {{Role: "assistant", Content: "a"}},
	} {
		hash := client.HashMessages(messages)
		require.False(t, seen[hash], messages)
		seen[hash] = true
	}
	require.True(t, seen[client.HashMessages([]client.Message{{Role: "user", Content: "a", At: at.In(time.FixedZone("", 3600))}})], "a time is one in all zones")
}

// The file and the variables are those of the command line.
func TestLoadConfig(t *testing.T) {
	path := filepath.Join(t.TempDir(), "axiommind.yaml")
	require.NoError(t, os.WriteFile(path, []byte("temporal-address: file:1\nclickhouse-dsn: http://file:1/db\n"), 0o600))
	t.Setenv("AXIOMMIND_CONFIG", path)
	t.Setenv("AXIOMMIND_CLICKHOUSE_DSN", "http://env:1/db")
	t.Setenv("AXIOMMIND_NO_QUEUE", "true")
	t.Setenv("WEAVIATE_API_KEY", "key")
	cfg, err := client.LoadConfig()
	require.NoError(t, err)
	require.Equal(t, []any{"file:1", "http://env:1/db", true, "key", "hash"},
		[]any{cfg.TemporalAddress, cfg.ClickHouseDSN, cfg.NoQueue, cfg.WeaviateAPIKey, cfg.Embedder.Provider})
	secured := map[string]*string{
		"PAYLOAD_KEY_FILE": &cfg.PayloadKeyFile, "TLS_CA": &cfg.TLSCA, "TEMPORAL_TLS_CERT": &cfg.TemporalTLSCert,
		"TEMPORAL_TLS_KEY": &cfg.TemporalTLSKey, "TEMPORAL_TLS_SERVER_NAME": &cfg.TemporalTLSServerName,
	}
	for name := range secured {
		t.Setenv("AXIOMMIND_"+name, name)
	}
	cfg, err = client.LoadConfig()
	require.NoError(t, err)
	for name, value := range secured {
		require.Equal(t, name, *value)
	}
	// A missing key is reported, and not left out.
	t.Setenv("AXIOMMIND_TEMPORAL_ADDRESS", "127.0.0.1:1")
	cfg, err = client.LoadConfig()
	require.NoError(t, err)
	cfg.NoQueue = false
	_, err = open(t, cfg).Enqueue(t.Context(), client.Conversation{User: "u", Thread: "t", Messages: says("a")})
	require.ErrorIs(t, err, client.ErrInvalid)
	require.ErrorContains(t, err, "read payload keys")
	t.Setenv("AXIOMMIND_NO_USAGE", "perhaps")
	_, err = client.LoadConfig()
	require.ErrorIs(t, err, client.ErrInvalid)
}
