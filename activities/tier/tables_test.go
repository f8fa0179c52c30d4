package tier

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"axiommind/activities/clickhouse"
	"axiommind/activities/eventlog"
	"axiommind/activities/projection"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
)

// tierBench is a log with the tables of tiers.
type tierBench struct {
	conn   driver.Conn
	log    *projection.Store
	tables *Tables
}

func newTierBench(t *testing.T) *tierBench {
	t.Helper()
	conn := stacktest.Migrated(t)
	return &tierBench{conn: conn, log: projection.New(conn, eventlog.Options{}), tables: NewTables(conn)}
}

var dusk = time.Date(2026, 6, 7, 21, 30, 0, 123456000, time.UTC)

// benchMemory are the events of a memory.
type benchMemory struct{ user, agent string }

// add appends the payloads to the memory's stream and projects them, half of them twice, as after a crash. It returns the
// events as stored.
func (b *tierBench) add(t require.TestingT, m benchMemory, payloads ...any) []schema.Event {
	events := make([]schema.Event, len(payloads))
	for i, p := range payloads {
		events[i] = m.event(t, p)
	}
	stream := schema.MemoryStream(m.user, m.agent)
	appended, err := b.log.AppendAll(context.Background(), stream, events)
	require.NoError(t, err)
	require.Empty(t, appended.Differing)
	_, err = b.log.Project(context.Background(), NewProjector(b.conn), stream)
	require.NoError(t, err)
	own := slices.DeleteFunc(slices.Clone(appended.Events), func(e schema.Event) bool { return !slices.Contains(NewProjector(nil).Types(), e.Type) })
	require.NoError(t, NewProjector(b.conn).Apply(context.Background(), own[len(own)/2:]))
	return appended.Events
}

// event returns the event with the payload, each at a time and by an actor of its own.
func (m benchMemory) event(t require.TestingT, payload any) schema.Event {
	e := schema.Event{TS: dusk, Actor: "worker"}
	switch p := payload.(type) {
	case schema.ContextFlushedPayload:
		e.Project, e.SessionID = p.Project, p.SessionID
		e.DedupeKey = schema.ContextFlushedKey(p.SessionKey, p.First, p.Last)
	case schema.RecordEditedPayload:
		e.Actor, e.DedupeKey = "ann", schema.RecordEditedKey(m.user, m.agent, p.Kind, p.Date, len(p.Replaced))
	case schema.CoreCommittedPayload:
		e.Actor, e.TS = fmt.Sprint("actor ", p.Version), dusk.Add(time.Duration(p.Version)*time.Microsecond)
		e.DedupeKey = schema.CoreOfEditKey(m.user, m.agent, p.Version)
	case schema.DreamFinishedPayload:
		e.TS = dusk.Add(-time.Duration(p.Ordinal) * time.Hour)
		e.DedupeKey = schema.DreamFinishedKey(m.user, m.agent, p.Ordinal)
	case schema.FactDeletedPayload:
		e.DedupeKey = schema.FactOfCommandKey(m.user, m.agent, p.FactID)
	}
	e, err := schema.NewEvent(payload, e)
	require.NoError(t, err)
	return e
}

// rows returns the rows of all tables of tiers, as text.
func (b *tierBench) rows(t testing.TB) []string {
	t.Helper()
	var out []string
	for _, owned := range NewProjector(b.conn).Tables() {
		require.NoError(t, clickhouse.Query(context.Background(), b.conn, func(rows driver.Rows) error {
			var row string
			err := rows.Scan(&row)
			out = append(out, owned.Name+" "+row)
			return err
		}, "SELECT toString(tuple(*)) FROM "+owned.Name+" FINAL ORDER BY ALL"))
	}
	return out
}

// hostileTexts are texts that a table, a query or JSON may not take.
var hostileTexts = []string{
	"", "Likes Go", "it's \\ a \"word\" ? `x`", "세션/%2F\n- two\n", "<b>&amp;</b> \u2028", "José я 代理 🤖", "\x1b[31m\u200b{}$1", "[1,2]",
	strings.Repeat("long ", 3000),
}

func anyText() *rapid.Generator[string] { return rapid.SampledFrom(hostileTexts) }

func anyItems(t *rapid.T) []schema.CoreItem {
	var out []schema.CoreItem
	for range rapid.IntRange(0, 3).Draw(t, "items") {
		out = append(out, schema.CoreItem{Text: anyText().Draw(t, "item"), Heading: anyText().Draw(t, "heading"), Sources: []string{anyText().Draw(t, "source")}})
	}
	return out
}

func anyDropped(t *rapid.T) []schema.DroppedItem {
	var out []schema.DroppedItem
	for range rapid.IntRange(0, 2).Draw(t, "dropped") {
		out = append(out, schema.DroppedItem{
			Text: anyText().Draw(t, "gone"), From: schema.FromMemory, Reason: schema.DroppedMerged, Detail: anyText().Draw(t, "detail"),
			By: anyText().Draw(t, "by"), Sources: []string{"s"},
		})
	}
	return out
}

var (
	anyDate   = rapid.SampledFrom([]string{"2026-06-05", "2026-06-06", "2026-06-07"})
	anyStatus = rapid.SampledFrom([]schema.DreamStatus{schema.DreamCommitted, schema.DreamUnchanged, schema.DreamIsRefused})
)

// drawnMemory draws the events of a memory, and keeps their payloads.
type drawnMemory struct {
	benchMemory
	versions []schema.CoreCommittedPayload
	dreams   []schema.DreamFinishedPayload
	flushes  []schema.ContextFlushedPayload
	edits    int
}

func (m *drawnMemory) draw(t *rapid.T) any {
	switch rapid.IntRange(0, 4).Draw(t, "type") {
	case 0:
		n := len(m.flushes)
		p := schema.ContextFlushedPayload{
			SessionKey: schema.SessionKey{Scope: schema.Scope{Project: rapid.SampledFrom([]string{"p", "q/%2F"}).Draw(t, "project"), User: m.user, Agent: m.agent}, SessionID: rapid.SampledFrom([]string{"s", "세션"}).Draw(t, "session")},
			BuildID:    "b", Reason: rapid.SampledFrom(schema.FlushReasons()).Draw(t, "reason"), Date: anyDate.Draw(t, "date"), Clock: "14:30",
			First: 10 * n, Last: 10*n + rapid.IntRange(0, 9).Draw(t, "last"), Summarizer: "rules", Text: anyText().Draw(t, "text"),
			Usage: schema.Usage{Calls: 1},
		}
		if n%2 == 0 {
			p.LeftOut = []schema.LeftOut{{Text: anyText().Draw(t, "out"), Reason: "no"}}
		}
		m.flushes = append(m.flushes, p)
		return p
	case 1:
		m.edits++
		return schema.RecordEditedPayload{
			Kind: rapid.SampledFrom([]schema.RecordKind{schema.RecordDaily, schema.RecordDiary}).Draw(t, "kind"), Date: anyDate.Draw(t, "date"),
			Text: anyText().Draw(t, "text"), Replaced: strings.Repeat("0", m.edits), Read: anyText().Draw(t, "read"),
		}
	case 2:
		n := len(m.versions)
		p := schema.CoreCommittedPayload{
			Act: schema.Act{RequestID: anyText().Draw(t, "request"), Reason: anyText().Draw(t, "why")}, Version: n + 1, Parent: n,
			Origin: rapid.SampledFrom([]schema.CoreOrigin{schema.OriginDream, schema.OriginEdit, schema.OriginRestore}).Draw(t, "origin"),
			Text:   anyText().Draw(t, "core"), Read: anyText().Draw(t, "read"), Items: anyItems(t), Diff: anyText().Draw(t, "diff"), Dropped: anyDropped(t),
			Dream: rapid.IntRange(0, 3).Draw(t, "dream"), Restored: rapid.IntRange(0, 3).Draw(t, "restored"),
		}
		m.versions = append(m.versions, p)
		return p
	case 3:
		p := schema.DreamFinishedPayload{
			Ordinal: len(m.dreams) + 1, Date: anyDate.Draw(t, "date"), Status: anyStatus.Draw(t, "status"), Reason: anyText().Draw(t, "why"),
			Parent: rapid.IntRange(0, 3).Draw(t, "parent"), Version: rapid.IntRange(0, 3).Draw(t, "version"), Diary: anyText().Draw(t, "diary"),
			Gathered: anyText().Draw(t, "gathered"), Model: "m/1", Carried: rapid.IntRange(0, 9).Draw(t, "carried"), Dropped: anyDropped(t),
			Usage: schema.Usage{Calls: 2, InputTokens: 3, OutputTokens: 4, CostUSD: 0.25}, Days: []schema.Day{},
		}
		for i := range rapid.IntRange(0, 3).Draw(t, "days") {
			p.Days = append(p.Days, schema.Day{Date: fmt.Sprintf("2026-06-%02d", i+5), Hash: fmt.Sprint("hash ", p.Ordinal, i)})
		}
		p.Responses = rapid.SliceOfN(anyText(), 0, 2).Draw(t, "responses")
		m.dreams = append(m.dreams, p)
		return p
	}
	m.edits++
	return schema.FactDeletedPayload{FactID: fmt.Sprint("fact ", m.edits)}
}

// anyScope have names that look like paths of each other, and names of every alphabet.
var anyScope = rapid.SampledFrom([]benchMemory{{"ann", ""}, {"ann", "a/b"}, {"ann/a", "b"}, {"José/я\"'", "代理 🤖"}})

// TestI4 appends random events in random pages, some of which are projected twice, and rebuilds: the rows are the same.
// The reads return the content of the events. That is I3 and I10 too.
func TestI4(t *testing.T) {
	t.Parallel()
	tablesAreTheFold(t, 6)
}

// tablesAreTheFold draws n memories.
func tablesAreTheFold(t *testing.T, n int) {
	t.Helper()
	b := newTierBench(t)
	tries := 0
	rapid.Check(t, func(r *rapid.T) {
		if tries++; tries > n {
			return
		}
		// All tries share the tables, and each has a memory of its own.
		m := &drawnMemory{benchMemory: anyScope.Draw(r, "memory")}
		m.user += fmt.Sprint(tries)
		for range rapid.IntRange(1, 2).Draw(r, "pages") {
			payloads := make([]any, rapid.IntRange(1, 8).Draw(r, "page"))
			for i := range payloads {
				payloads[i] = m.draw(r)
			}
			b.add(r, m.benchMemory, payloads...)
		}
		b.requireTold(r, m)
	})
	before := b.rows(t)
	require.Greater(t, len(before), n)
	progress, err := stacktest.Rebuild(t.Context(), b.conn, NewProjector(b.conn))
	require.NoError(t, err)
	require.Positive(t, progress.Events)
	require.Equal(t, before, b.rows(t))
}

// requireTold reads all of a memory, and requires the content of its events.
func (b *tierBench) requireTold(t require.TestingT, m *drawnMemory) {
	ctx := context.Background()
	versions, err := b.tables.Versions(ctx, m.user, m.agent, 1000, 0)
	require.NoError(t, err)
	require.Len(t, versions, len(m.versions))
	slices.Reverse(versions)
	for i, want := range m.versions {
		require.Equal(t, want, versions[i].CoreCommittedPayload)
	}
	dreams, err := b.tables.Dreams(ctx, m.user, m.agent, 1000, 0)
	require.NoError(t, err)
	require.Len(t, dreams, len(m.dreams))
	slices.Reverse(dreams)
	read := map[string]string{}
	for i, want := range m.dreams {
		got := dreams[i].DreamFinishedPayload
		require.Equal(t, append([]string{}, want.Responses...), append([]string{}, got.Responses...))
		want.Responses, got.Responses = nil, nil
		require.Equal(t, want, got)
		for _, d := range want.Days {
			if want.Status != schema.DreamIsRefused {
				read[d.Date] = d.Hash
			}
		}
	}
	days, err := b.tables.ReadDays(ctx, m.user, m.agent)
	require.NoError(t, err)
	require.Equal(t, read, days)
	to := map[schema.SessionKey]int{}
	for _, f := range m.flushes {
		to[f.SessionKey] = max(to[f.SessionKey], f.Last+1)
	}
	for _, session := range []string{"s", "세션"} {
		for _, project := range []string{"p", "q/%2F"} {
			key := schema.SessionKey{Scope: schema.Scope{Project: project, User: m.user, Agent: m.agent}, SessionID: session}
			got, err := b.tables.lastFlushes(ctx, []schema.SessionKey{key})
			require.NoError(t, err)
			require.Equal(t, to[key], got[key.Stream()].To)
		}
	}
}

// Every column has the value of its event: none is lost, and none takes the place of another.
func TestEveryColumn(t *testing.T) {
	t.Parallel()
	b := newTierBench(t)
	m := benchMemory{"ann", "coder"}
	session := schema.SessionKey{Scope: schema.Scope{Project: "red", User: "ann", Agent: "coder"}, SessionID: "s1"}
	stored := b.add(t, m,
		schema.ContextFlushedPayload{
			SessionKey: session, BuildID: "b1", Reason: schema.FlushTrim, Date: "2026-06-07", Clock: "14:30", First: 3, Last: 9,
			Summarizer: "gemini", Responses: []string{"r"}, Text: "- Likes Go", LeftOut: []schema.LeftOut{{Text: "Maybe", Reason: "unsure"}},
		},
		schema.RecordEditedPayload{Kind: schema.RecordDaily, Date: "2026-06-07", Text: "# Mine\n", Replaced: "ab", Read: "cd"},
		schema.CoreCommittedPayload{
			Act: schema.Act{RequestID: "q", Reason: "why"}, Version: 7, Parent: 6, Origin: schema.OriginRestore, Text: "- Likes Go\n", Read: "ef",
			Items: []schema.CoreItem{{Text: "Likes Go", Heading: "Preferences", Sources: []string{"e1"}, Worth: 0.75, Said: "2026-06-06"}}, Diff: "+- Likes Go\n",
			Dropped: []schema.DroppedItem{{Text: "Likes C", From: schema.FromMemory, Reason: schema.DroppedEdited}}, Dream: 4, Restored: 5,
		},
		schema.DreamFinishedPayload{
			Ordinal: 4, Date: "2026-06-08", Status: schema.DreamIsRefused, Reason: "cut", Parent: 6, Version: 7, Diary: "I dreamt.",
			Days: []schema.Day{{Date: "2026-06-07", Hash: "h7"}, {Date: "2026-06-06", Hash: "h6"}}, Gathered: "g", Model: "m",
			Responses: []string{"r1", "r2"}, Carried: 3, LeftOut: 8, Dropped: []schema.DroppedItem{{Text: "x", From: schema.FromAnswer, Reason: schema.DroppedUngrounded}},
			Usage: schema.Usage{Calls: 2, InputTokens: 30, OutputTokens: 4, CostUSD: 0.5},
		})
	id := func(n int) string { return stored[n].ID }
	require.Equal(t, []string{
		`records_raw ('ann','coder','daily','2026-06-07',1,'` + id(0) + `','2026-06-07 21:30:00.123456','worker',false,'- Likes Go','8bba9e48c23c89a79abe21909377b6336fc8a6349f74137768f9596a57dd5942',10,'','trim','14:30','red','s1','b1',3,9,'gemini','[{"text":"Maybe","reason":"unsure"}]')`,
		`records_raw ('ann','coder','daily','2026-06-07',2,'` + id(1) + `','2026-06-07 21:30:00.123456','ann',true,'# Mine\n','deb772266c5d7ef5a5070c03872408fdbf4ff9b149db655c51945f1e7c5d30b3',7,'cd','','','','','',0,0,'','[]')`,
		`records_raw ('ann','coder','diary','2026-06-08',4,'` + id(3) + `','2026-06-07 17:30:00.123456','worker',false,'I dreamt.','ad218736b30abd41b3aa67ef1776c73c066a5e3a5e8ced8178340ed34f530bc7',9,'','','','','','',0,0,'','[]')`,
		`core_versions_raw ('ann','coder',7,3,'` + id(2) + `','2026-06-07 21:30:00.123463','actor 7','q',6,'restore','why','- Likes Go\n','ef','[{"text":"Likes Go","heading":"Preferences","sources":["e1"],"worth":0.75,"said":"2026-06-06"}]','+- Likes Go\n','[{"text":"Likes C","from":"memory","reason":"edited"}]',4,5)`,
		`dreams_raw ('ann','coder',4,4,'` + id(3) + `','2026-06-07 17:30:00.123456','2026-06-08','refused','cut',6,7,'I dreamt.',['2026-06-07','2026-06-06'],['h7','h6'],'g','m',['r1','r2'],3,8,'[{"text":"x","from":"answer","reason":"ungrounded"}]','{"calls":2,"input_tokens":30,"output_tokens":4,"cost_usd":0.5}')`,
	}, b.rows(t))
	for _, view := range []string{"daily_records", "core_versions", "core_memory", "dreams"} {
		var n uint64
		require.NoError(t, b.conn.QueryRow(t.Context(), "SELECT count() FROM "+view).Scan(&n))
		require.Equal(t, map[bool]uint64{true: 2, false: 1}[view == "daily_records"], n, view)
	}

	current, err := b.tables.Current(t.Context(), "ann", "coder")
	require.NoError(t, err)
	require.Equal(t, Core{EventID: id(2), Seq: 3, At: dusk.Add(7 * time.Microsecond), Actor: "actor 7", CoreCommittedPayload: current.CoreCommittedPayload}, current)
	dream, err := b.tables.Dream(t.Context(), "ann", "coder", 4)
	require.NoError(t, err)
	require.Equal(t, Dream{EventID: id(3), Seq: 4, At: dusk.Add(-4 * time.Hour), DreamFinishedPayload: dream.DreamFinishedPayload}, dream)
	daily, err := b.tables.Records(t.Context(), "ann", "coder", schema.RecordDaily)
	require.NoError(t, err)
	require.Equal(t, []Record{
		{Kind: schema.RecordDaily, Date: "2026-06-07", Seq: 1, EventID: id(0), At: dusk, Text: "- Likes Go", Reason: schema.FlushTrim, Clock: "14:30", Project: "red", SessionID: "s1", First: 3, Last: 9, Summarizer: "gemini"},
		{Kind: schema.RecordDaily, Date: "2026-06-07", Seq: 2, EventID: id(1), At: dusk, Edited: true, Text: "# Mine\n", Read: "cd"},
	}, daily)
	diary, err := b.tables.Records(t.Context(), "ann", "coder", schema.RecordDiary, "2026-06-08", "2026-06-09")
	require.NoError(t, err)
	require.Equal(t, []Record{{Kind: schema.RecordDiary, Date: "2026-06-08", Seq: 4, EventID: id(3), At: dusk.Add(-4 * time.Hour), Text: "I dreamt."}}, diary)
	origins, err := b.tables.Origins(t.Context(), "ann", "coder", []string{id(0), id(1), id(2), "entry"})
	require.NoError(t, err)
	require.Equal(t, map[string]Origin{
		id(0): {Kind: schema.RecordDaily, Date: "2026-06-07", Clock: "14:30", Project: "red", SessionID: "s1", Summarizer: "gemini"},
		id(1): {Kind: schema.RecordDaily, Date: "2026-06-07", Edited: true},
		id(2): {Edited: true, Version: 7},
	}, origins)
	origins, err = b.tables.Origins(t.Context(), "ann", "other", []string{id(0), id(2)})
	require.NoError(t, err)
	require.Empty(t, origins, "I10")
}

func benchVersion(n int, items ...string) schema.CoreCommittedPayload {
	p := schema.CoreCommittedPayload{Version: n, Parent: n - 1, Origin: schema.OriginEdit, Text: "- " + strings.Join(items, "\n- ") + "\n"}
	for _, item := range items {
		p.Items = append(p.Items, schema.CoreItem{Text: item, Sources: []string{"e"}})
	}
	return p
}

// A memory is read only by its owner, and reading an empty one returns nothing.
func TestTables(t *testing.T) {
	t.Parallel()
	b := newTierBench(t)
	ctx := t.Context()
	none, err := b.tables.Current(ctx, "ann", "")
	require.NoError(t, err)
	require.Zero(t, none)
	_, err = b.tables.Version(ctx, "ann", "", 1)
	require.ErrorIs(t, err, ErrVersionNotFound)
	require.ErrorContains(t, err, "there is none yet")
	refused, err := b.tables.Refused(ctx)
	require.NoError(t, err)
	require.Zero(t, refused)

	ann, bob := benchMemory{"ann", ""}, benchMemory{"ann", "bob"}
	fromDream := benchVersion(3, "two", "three", `a "quoted" <b>`)
	fromDream.Origin, fromDream.Dream = schema.OriginDream, 2
	b.add(t, ann, benchVersion(1, "one"))
	_, err = b.tables.Version(ctx, "ann", "", 2)
	require.ErrorContains(t, err, "there is version 1 alone")
	b.add(t, ann, benchVersion(2, "one", "two", `a "quoted" <b>`), fromDream,
		schema.DreamFinishedPayload{Ordinal: 1, Date: "2026-06-06", Status: schema.DreamUnchanged, Days: []schema.Day{{Date: "2026-06-05", Hash: "a"}, {Date: "2026-06-06", Hash: "b"}}},
		schema.DreamFinishedPayload{Ordinal: 2, Date: "2026-06-07", Status: schema.DreamCommitted, Days: []schema.Day{{Date: "2026-06-06", Hash: "c"}}},
		schema.DreamFinishedPayload{Ordinal: 3, Date: "2026-06-08", Status: schema.DreamIsRefused, Days: []schema.Day{{Date: "2026-06-06", Hash: "d"}, {Date: "2026-06-08", Hash: "d"}}})
	b.add(t, bob, benchVersion(1, "bob's"), schema.DreamFinishedPayload{Ordinal: 1, Date: "2026-06-07", Status: schema.DreamCommitted})

	current, err := b.tables.Current(ctx, "ann", "")
	require.NoError(t, err)
	require.Equal(t, 3, current.Version)
	_, err = b.tables.Version(ctx, "ann", "", 4)
	require.ErrorIs(t, err, ErrVersionNotFound)
	require.ErrorContains(t, err, `version 4 of the memory of user "ann", agent "": no such version of core memory: there are versions 1 to 3`)
	second, err := b.tables.Version(ctx, "ann", "", 2)
	require.NoError(t, err)
	require.Equal(t, benchVersion(2, "one", "two", `a "quoted" <b>`), second.CoreCommittedPayload)
	page, err := b.tables.Versions(ctx, "ann", "", 1, 1)
	require.NoError(t, err)
	require.Equal(t, []Core{second}, page)

	lines, err := b.tables.History(ctx, "ann", "", 2, 0)
	require.NoError(t, err)
	require.Equal(t, []VersionLine{
		{Version: 3, Parent: 2, Origin: schema.OriginDream, Dream: 2, Date: "2026-06-07", At: current.At, Actor: "actor 3", Items: 3, Added: 1, Removed: 1},
		{Version: 2, Parent: 1, Origin: schema.OriginEdit, At: second.At, Actor: "actor 2", Items: 3, Added: 2},
	}, lines, "the parent of the last one counts though it is not listed")
	lines, err = b.tables.History(ctx, "ann", "", 2, 2)
	require.NoError(t, err)
	require.Len(t, lines, 1)
	require.Equal(t, [3]int{1, 1, 0}, [3]int{lines[0].Items, lines[0].Added, lines[0].Removed})

	days, err := b.tables.ReadDays(ctx, "ann", "")
	require.NoError(t, err)
	require.Equal(t, map[string]string{"2026-06-05": "a", "2026-06-06": "c"}, days, "a refused dream read nothing")
	dreams, err := b.tables.Dreams(ctx, "ann", "", 2, 1)
	require.NoError(t, err)
	require.Equal(t, []int{2, 1}, []int{dreams[0].Ordinal, dreams[1].Ordinal})
	absent, err := b.tables.Dream(ctx, "ann", "", 9)
	require.NoError(t, err)
	require.Zero(t, absent.Ordinal)
	refused, err = b.tables.Refused(ctx)
	require.NoError(t, err)
	require.Equal(t, RefusedDreams{Memories: 2, Refused: 1, User: "ann"}, refused)
}

// Flushes that had nothing to record are no part of a file, but count as flushed. An edit that empties a file is one.
func TestRecordsOfNothing(t *testing.T) {
	t.Parallel()
	b := newTierBench(t)
	session := schema.SessionKey{Scope: schema.Scope{Project: "p", User: "ann"}, SessionID: "s"}
	flush := func(first, last int, date, text string) schema.ContextFlushedPayload {
		return schema.ContextFlushedPayload{SessionKey: session, Date: date, Clock: "10:00", First: first, Last: last, Text: text}
	}
	b.add(t, benchMemory{"ann", ""}, flush(0, 0, "2026-06-08", "later"), flush(1, 4, "2026-06-07", ""), flush(5, 6, "2026-06-07", "first"),
		schema.RecordEditedPayload{Kind: schema.RecordDaily, Date: "2026-06-07"}, flush(7, 8, "2026-06-07", ""))
	records, err := b.tables.Records(t.Context(), "ann", "", schema.RecordDaily)
	require.NoError(t, err)
	var seqs []uint64
	for _, r := range records {
		seqs = append(seqs, r.Seq)
	}
	require.Equal(t, []uint64{3, 4, 1}, seqs, "by date, then in order")
	other := session
	other.SessionID = "other"
	flushed, err := b.tables.lastFlushes(t.Context(), []schema.SessionKey{session, other})
	require.NoError(t, err)
	require.Len(t, flushed, 1)
	require.Equal(t, 9, flushed[session.Stream()].To)
}

// An event that cannot be read stops the projection: it is not passed over.
func TestApplyRefuses(t *testing.T) {
	t.Parallel()
	good := benchMemory{"ann", ""}.event(t, schema.RecordEditedPayload{Kind: schema.RecordDaily})
	for says, e := range map[string]schema.Event{
		"want memory/{user}/{agent}": {Stream: "project/x", Type: good.Type, Payload: good.Payload},
		"unexpected end":             {Stream: "memory/ann/", Type: good.Type, Payload: []byte("{")},
		"changes no tier":            {Stream: "memory/ann/", Type: schema.FactDeleted, Payload: []byte("{}")},
	} {
		require.ErrorContains(t, NewProjector(nil).Apply(t.Context(), []schema.Event{e}), says)
	}
	require.NoError(t, NewProjector(nil).Apply(t.Context(), nil))
}
