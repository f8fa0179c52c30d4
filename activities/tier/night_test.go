package tier

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"axiommind/activities/clickhouse"
	"axiommind/activities/eventlog"
	"axiommind/activities/projection"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
)

// night is a log whose clock the test sets.
type night struct {
	conn driver.Conn
	log  *projection.Store
	now  time.Time
	*Activities
}

func newNight(t *testing.T) *night {
	t.Helper()
	zone, err := time.LoadLocation("Asia/Seoul")
	require.NoError(t, err)
	n := &night{conn: stacktest.Migrated(t), now: time.Date(2026, 6, 7, 3, 30, 0, 0, zone)}
	n.log = projection.New(n.conn, eventlog.Options{Now: func() time.Time { return n.now }})
	n.Activities = &Activities{log: n.log, conn: n.conn, opts: Options{Zone: zone}}
	return n
}

// record appends an event to a stream.
func (n *night) record(t *testing.T, stream, kind, key string) string {
	t.Helper()
	appended, err := n.log.Append(t.Context(), stream, []schema.Event{{
		Type: kind, TS: n.now.UTC(), Actor: "test", DedupeKey: kind + "/" + stream + "/" + key, Payload: json.RawMessage(`{}`),
	}})
	require.NoError(t, err)
	return appended.Events[0].ID
}

func (n *night) flush(t *testing.T, m Memory, key string) {
	t.Helper()
	n.record(t, schema.MemoryStream(m.User, m.Agent), schema.ContextFlushed, key)
}

// dream gathers now, and ends in a moment. Its date is the first of the days that it reads, or else today.
func (n *night) dream(t *testing.T, m Memory, ordinal int, status schema.DreamStatus, days ...string) {
	t.Helper()
	key := fmt.Sprint(m, ordinal)
	gathered := n.record(t, schema.DreamStream(schema.HashText(key)), schema.DreamGathered, key)
	n.now = n.now.Add(time.Minute)
	if status == schema.DreamCommitted {
		n.record(t, schema.MemoryStream(m.User, m.Agent), schema.CoreCommitted, key)
	}
	n.record(t, schema.MemoryStream(m.User, m.Agent), schema.DreamFinished, key)
	if len(days) == 0 {
		days = []string{n.today()}
	}
	require.NoError(t, clickhouse.Insert(t.Context(), n.conn, "dreams_raw (user, agent, ordinal, date, status, gathered, days)",
		[][]any{{m.User, m.Agent, uint32(ordinal), days[0], string(status), gathered, days}}))
}

func (n *night) today() string { return n.now.In(n.opts.Zone).Format(schema.DateLayout) }

// daily adds to the daily record of a day, and to its table.
func (n *night) daily(t *testing.T, m Memory, date, text string, edited bool) {
	t.Helper()
	stream := schema.MemoryStream(m.User, m.Agent)
	var seq uint64
	require.NoError(t, n.conn.QueryRow(t.Context(), `SELECT max(seq) FROM events_raw WHERE stream = ?`, stream).Scan(&seq))
	n.flush(t, m, fmt.Sprint(seq, date))
	require.NoError(t, clickhouse.Insert(t.Context(), n.conn, "records_raw (user, agent, kind, date, seq, edited, text, text_bytes)",
		[][]any{{m.User, m.Agent, string(schema.RecordDaily), date, seq + 1, edited, text, uint64(len(text))}}))
}

// find returns all pages.
func (n *night) find(t *testing.T, in FindInput) (all []Memory) {
	t.Helper()
	in.Now = n.now
	if in.At.IsZero() {
		in.At = n.now
	}
	for {
		found, err := n.findMemories(t.Context(), in)
		require.NoError(t, err)
		data, err := json.Marshal(found)
		require.NoError(t, err)
		require.Less(t, len(data), 64<<10)
		require.LessOrEqual(t, len(found.Memories), maxMemories)
		all = append(all, found.Memories...)
		if found.Next == "" {
			return all
		}
		require.NotEmpty(t, found.Memories)
		in.After = found.Next
	}
}

func TestFindMemories(t *testing.T) {
	t.Parallel()
	n := newNight(t)
	require.Empty(t, n.find(t, FindInput{}))
	// Names of any alphabet, and such as look like the escapes of others.
	memories := []Memory{
		{User: "a"}, {User: "a", Agent: "b"}, {User: "a/b"}, {User: "a%2Fb"}, {User: "a%", Agent: "/"}, {User: "김철수", Agent: "에이전트"},
		{User: `o'neil "x" \ ?`}, {User: "עברית 😀"},
	}
	for _, m := range memories {
		n.flush(t, m, "1")
	}
	require.ElementsMatch(t, memories, n.find(t, FindInput{}))
	n.now = n.now.Add(time.Hour)
	for i, m := range memories {
		n.dream(t, m, 1, []schema.DreamStatus{schema.DreamCommitted, schema.DreamUnchanged}[i%2])
	}
	require.Empty(t, n.find(t, FindInput{}), "all were dreamt of")
	require.ElementsMatch(t, memories, n.find(t, FindInput{Force: true}))
	require.ElementsMatch(t, memories, n.find(t, FindInput{Date: "2026-06-06"}), "of a day before today")
	require.Empty(t, n.find(t, FindInput{Date: "2026-06-07"}), "of today, given by hand")
	require.ElementsMatch(t, memories, n.find(t, FindInput{At: n.now.Add(-24 * time.Hour)}), "of yesterday, as a schedule gives it")

	// New events, in the memory itself or in a session, are found. The events that end a dream do not count as new.
	n.now = n.now.Add(24 * time.Hour)
	n.flush(t, memories[4], "2")
	n.record(t, schema.MemoryStream(memories[2].User, ""), schema.FactCreated, "f")
	entryOf := func(m Memory, kind string) {
		key := schema.SessionKey{Scope: schema.Scope{Project: "p/q", User: m.User, Agent: m.Agent}, SessionID: "세션/1%"}
		n.record(t, key.Stream(), kind, "1")
	}
	entryOf(memories[5], schema.EntryMaterialized)
	entryOf(memories[6], schema.EntryEvidenceSet)
	entryOf(memories[7], schema.BuildStarted)
	entryOf(Memory{User: "new"}, schema.EntryMaterialized)
	want := []Memory{memories[2], memories[4], memories[5], memories[6], {User: "new"}}
	require.ElementsMatch(t, want, n.find(t, FindInput{}))

	// A dream that was refused has read nothing, and one that was not makes good for it.
	n.dream(t, memories[4], 2, schema.DreamIsRefused)
	n.now = n.now.Add(time.Hour)
	require.ElementsMatch(t, want, n.find(t, FindInput{}))
	n.dream(t, memories[4], 3, schema.DreamCommitted)
	require.NotContains(t, n.find(t, FindInput{}), memories[4])
}

// Events that are recorded while a dream gathers are found, though the dream ends later: the dream may have missed them.
func TestFindMemoriesWhileDreaming(t *testing.T) {
	t.Parallel()
	n := newNight(t)
	m := Memory{User: "u"}
	n.flush(t, m, "1")
	n.now = n.now.Add(time.Hour)
	begun := n.now
	n.flush(t, m, "while gathering")
	n.now = begun.Add(5 * time.Minute)
	n.dream(t, m, 1, schema.DreamUnchanged)
	require.Equal(t, []Memory{m}, n.find(t, FindInput{}))
	n.now = n.now.Add(settleTime)
	n.dream(t, m, 2, schema.DreamUnchanged)
	require.Empty(t, n.find(t, FindInput{}))
}

// A dream of an earlier day has not read later days, even those that existed before it.
func TestFindMemoriesAfterBackfill(t *testing.T) {
	t.Parallel()
	n := newNight(t)
	m := Memory{User: "u/%"}
	n.daily(t, m, "2026-06-05", "old", false)
	n.daily(t, m, "2026-06-07", "new", false)
	n.now = n.now.Add(time.Hour)
	n.dream(t, m, 1, schema.DreamUnchanged, "2026-06-06", "2026-06-05")
	n.now = n.now.Add(time.Hour)
	require.Equal(t, []Memory{m}, n.find(t, FindInput{}))
	n.dream(t, m, 2, schema.DreamUnchanged, "2026-06-07")
	require.Empty(t, n.find(t, FindInput{}))
}

// A day that no dream has read is found, unless it is not looked back upon.
func TestFindMemoriesUnreadDays(t *testing.T) {
	t.Parallel()
	n := newNight(t)
	m := Memory{User: "u", Agent: "김/%"}
	n.daily(t, m, "2026-06-05", "old", false)
	n.daily(t, m, "2026-06-08", "of tomorrow", false)
	n.now = n.now.Add(time.Hour)
	n.dream(t, m, 1, schema.DreamUnchanged, "2026-06-07")
	require.Equal(t, []Memory{m}, n.find(t, FindInput{}))
	require.Equal(t, []Memory{m}, n.find(t, FindInput{LookbackDays: 3}))
	require.Empty(t, n.find(t, FindInput{LookbackDays: 2}))
	n.dream(t, m, 2, schema.DreamIsRefused, "2026-06-07", "2026-06-05")
	require.Equal(t, []Memory{m}, n.find(t, FindInput{}))
	n.dream(t, m, 3, schema.DreamUnchanged, "2026-06-07", "2026-06-05")
	require.Empty(t, n.find(t, FindInput{}))
	n.now = n.now.Add(24 * time.Hour)
	require.Equal(t, []Memory{m}, n.find(t, FindInput{}), "tomorrow has come")

	// A day that a person has emptied holds nothing to read; one that was added to since does.
	n.daily(t, m, "2026-06-08", "", true)
	n.now = n.now.Add(time.Hour)
	n.dream(t, m, 4, schema.DreamUnchanged, "2026-06-08", "2026-06-07", "2026-06-05")
	empty := Memory{User: "empty"}
	n.daily(t, empty, "2026-06-06", "text", false)
	n.daily(t, empty, "2026-06-06", "", true)
	n.now = n.now.Add(time.Hour)
	n.dream(t, empty, 1, schema.DreamUnchanged, "2026-06-08")
	require.Empty(t, n.find(t, FindInput{}))
}

// Thousands of memories are found in pages, each memory once, and so are those with the longest names.
func TestFindManyMemories(t *testing.T) {
	t.Parallel()
	n := newNight(t)
	require.NoError(t, n.conn.Exec(t.Context(), `INSERT INTO events_raw (event_id, stream, seq, event_type, recorded_at)
		SELECT toString(number), concat('memory/u', toString(intDiv(number, 3)), '/'), number % 3, 'context_flushed', now64(6) FROM numbers(15000)`))
	require.NoError(t, n.conn.Exec(t.Context(), `INSERT INTO events_raw (event_id, stream, seq, event_type, recorded_at)
		SELECT concat('s', toString(number)), concat('session/p/u', toString(number), '//s'), 1, 'entry_materialized', now64(6) FROM numbers(6000)`))
	unique := map[Memory]bool{}
	all := n.find(t, FindInput{})
	for _, m := range all {
		unique[m] = true
	}
	require.Len(t, all, 6000)
	require.Len(t, unique, 6000)

	// A few among many thousands of memories are found as well, and an invalid name hides none.
	for _, sql := range []string{
		`INSERT INTO dreams_raw (user, agent, ordinal, date, status, gathered, days)
			SELECT concat('u', toString(number)), '', 1, '2999-01-01', 'unchanged', 'g', [] FROM numbers(5000)`,
		`INSERT INTO events_raw (event_id, stream, seq, event_type, precedence)
			SELECT 'g', 'dream/g', 1, 'dream_gathered', bitNot(toUInt64(toUnixTimestamp64Micro(now64(6) + toIntervalHour(1))))`,
		`INSERT INTO events_raw (event_id, stream, seq, event_type, recorded_at)
			SELECT 'new', 'memory/u999/', 9, 'fact_created', now64(6) + toIntervalHour(2)`,
		`INSERT INTO events_raw (event_id, stream, seq, event_type, recorded_at)
			SELECT 'entry', 'session/p/u1//s', 9, 'entry_evidence_set', now64(6) + toIntervalHour(2)`,
		`INSERT INTO events_raw (event_id, stream, seq, event_type, recorded_at)
			SELECT 'odd', 'memory/a/b/c', 1, 'fact_created', now64(6)`,
	} {
		require.NoError(t, n.conn.Exec(t.Context(), sql))
	}
	few := n.find(t, FindInput{})
	require.Len(t, few, 1002)
	require.Contains(t, few, Memory{User: "u999"})
	require.Contains(t, few, Memory{User: "u1"})
	require.Contains(t, few, Memory{User: "u5000"}, "never dreamt of")
	require.Len(t, n.find(t, FindInput{Force: true}), 6000)

	// Each sign of these names is six bytes in JSON.
	long := newNight(t)
	var flushes [][]any
	for i := range 60 {
		stream := schema.MemoryStream(fmt.Sprintf("%03d", i)+strings.Repeat("<", 197), strings.Repeat("&", 200))
		flushes = append(flushes, []any{fmt.Sprint(i), stream, uint64(1), schema.ContextFlushed, long.now})
	}
	require.NoError(t, clickhouse.Insert(t.Context(), long.conn, "events_raw (event_id, stream, seq, event_type, recorded_at)", flushes))
	require.Len(t, long.find(t, FindInput{}), 60)
}

func TestFindMemoriesDate(t *testing.T) {
	t.Parallel()
	n := newNight(t)
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestActivityEnvironment()
	env.RegisterActivity(n.FindMemories)
	// 18:30 in UTC is half past three of the next day in Seoul.
	value, err := env.ExecuteActivity(n.FindMemories, FindInput{At: time.Date(2026, 6, 6, 18, 30, 0, 0, time.UTC), Now: n.now})
	require.NoError(t, err)
	var found Found
	require.NoError(t, value.Get(&found))
	require.Equal(t, Found{Date: "2026-06-07", Memories: []Memory{}}, found)

	_, err = env.ExecuteActivity(n.FindMemories, FindInput{Date: "2026-06-31", Now: n.now})
	var refused *temporal.ApplicationError
	require.ErrorAs(t, err, &refused)
	require.Equal(t, schema.ErrorInvalidInput, refused.Type())
	require.Equal(t, `date "2026-06-31": want a day like 2006-01-02`, refused.Message())
	require.True(t, refused.NonRetryable())
}
