package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/stretchr/testify/require"

	"axiommind/activities/build"
	"axiommind/activities/eventlog"
	"axiommind/activities/tier"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
)

// remembered is the command line with only a database, whose log the test writes itself.
type remembered struct {
	*cli
	conn driver.Conn
	log  *eventlog.Store
}

// newRemembered returns a database without a worker.
func newRemembered(t *testing.T) *remembered {
	t.Helper()
	dsn := stacktest.MigratedDatabase(t)
	conn := stacktest.Migrated(t, dsn)
	c := down()
	c.completion = 20 * time.Second
	for i, word := range c.servers {
		switch word {
		case "--clickhouse-dsn":
			c.servers[i+1] = dsn
		case "--connect-timeout":
			c.servers[i+1] = "5s" // ClickHouse is up, and may be busy.
		}
	}
	return &remembered{cli: c, conn: conn, log: eventlog.New(conn, eventlog.Options{})}
}

// night is the time of the dreams.
var night = time.Date(2026, 6, 8, 3, 0, 0, 0, time.UTC)

// store appends an event to the stream and updates every projection. It returns the event's id.
func (r *remembered) store(t *testing.T, stream, key string, e schema.Event, payload any) string {
	t.Helper()
	e.DedupeKey = key
	if e.TS.IsZero() {
		e.TS = night
	}
	e, err := schema.NewEvent(payload, e)
	require.NoError(t, err)
	appended, err := r.log.Append(t.Context(), stream, []schema.Event{e})
	require.NoError(t, err)
	for _, p := range build.Projections(r.conn) {
		if strings.HasPrefix(stream, p.StreamPrefix()) {
			_, err := r.log.Project(t.Context(), p, stream)
			require.NoError(t, err)
		}
	}
	return appended.Events[0].ID
}

func (r *remembered) version(t *testing.T, o owner, p schema.CoreCommittedPayload, by string) string {
	t.Helper()
	p.Parent = p.Version - 1
	return r.store(t, schema.MemoryStream(o.user, o.agent), schema.CoreOfEditKey(o.user, o.agent, p.Version),
		schema.Event{Actor: by, TS: night.Add(time.Duration(p.Version) * time.Minute)}, p)
}

func (r *remembered) dream(t *testing.T, o owner, p schema.DreamFinishedPayload) {
	t.Helper()
	r.store(t, schema.MemoryStream(o.user, o.agent), schema.DreamFinishedKey(o.user, o.agent, p.Ordinal), schema.Event{Actor: "worker"}, p)
}

// someone has names of other alphabets that a shell, a path or a query could misinterpret.
var someone = owner{"José/я\"'", "代理 %2F 🤖"}

func (o owner) flags() []string { return []string{"--user", o.user, "--agent", o.agent} }

// of runs a command for the user and agent.
func (r *remembered) of(o owner, args ...string) output { return r.run(append(args, o.flags()...)...) }

// sourcesOf stores a flush, an edited record, an entry and a fact of the owner, and returns their ids.
func (r *remembered) sourcesOf(t *testing.T, o owner) (flush, edited, entry, fact string) {
	t.Helper()
	stream := schema.MemoryStream(o.user, o.agent)
	session := schema.SessionKey{Scope: schema.Scope{Project: "프로젝트", User: o.user, Agent: o.agent}, SessionID: "세션-1"}
	flush = r.store(t, stream, schema.ContextFlushedKey(session, 0, 3), schema.Event{Actor: "worker"}, schema.ContextFlushedPayload{
		SessionKey: session, Date: "2026-06-07", Clock: "14:30", Last: 3, Summarizer: "gemini/flash", Text: "- Likes Go",
	})
	edited = r.store(t, stream, schema.RecordEditedKey(o.user, o.agent, schema.RecordDaily, "2026-06-06", 1), schema.Event{Actor: "ann"},
		schema.RecordEditedPayload{Kind: schema.RecordDaily, Date: "2026-06-06", Text: "# Mine\n", Replaced: "00"})
	entry = schema.DerivedID("entry", o.user)
	r.store(t, session.Stream(), schema.EntryMaterializedKey(entry), schema.Event{Actor: "worker", Project: session.Project, SessionID: session.SessionID, BuildID: "b"},
		schema.EntryMaterializedPayload{Entry: schema.Entry{
			ID: entry, Type: schema.EntryDecision, SessionID: session.SessionID, Scope: session.Scope, Title: "Use " + red, Stage: schema.StageRaw,
			Status: schema.StatusActive, OccurredAt: night,
		}})
	fact = "fact_0a1b2c3d"
	r.store(t, stream, schema.FactOfCommandKey(o.user, o.agent, "q"), schema.Event{Actor: "ann", Project: "p"},
		schema.FactCreatedPayload{FactID: fact, Content: "Owns a\ncat", Category: "context", Confidence: 1})
	return flush, edited, entry, fact
}

// Stored core memory is shown as plain text for a prompt, or as items with their sources.
func TestMemoryShow(t *testing.T) {
	t.Parallel()
	r := newRemembered(t)
	flush, edited, entry, fact := r.sourcesOf(t, someone)
	byHand := r.version(t, someone, schema.CoreCommittedPayload{Version: 1, Origin: schema.OriginEdit, Text: "- " + red + "\n", Items: []schema.CoreItem{{Text: red}}}, "ann")
	r.version(t, someone, schema.CoreCommittedPayload{Version: 2, Origin: schema.OriginDream, Dream: 1, Text: "## Preferences\n\n- Likes Go", Items: []schema.CoreItem{
		{Text: "Likes Go", Heading: "Preferences", Sources: []string{flush, edited}},
		{Text: "Two\nlines of 텍스트", Heading: "Preferences", Sources: []string{entry, fact}},
		{Text: turn, Heading: "Gone " + ghost, Sources: []string{byHand, "nowhere\n  │ forged"}},
		{Text: "alone"},
	}}, "worker")

	shown := r.of(someone, "memory", "show")
	require.Equal(t, output{0, "## Preferences\n\n- Likes Go\n", ""}, shown)
	old := r.of(someone, "memory", "show", "--version", "1")
	require.Equal(t, "- <U+001B>[31mred<U+001B>[0m\n", old.out)
	core := decode[tier.Core](t, r.of(someone, "memory", "show", "--version", "1", "-o", "json"))
	require.Equal(t, "- "+red+"\n", core.Text, "programs read it exactly")
	require.Equal(t, "ann", core.Actor)

	listed := r.of(someone, "memory", "show", "--sources")
	require.Zero(t, listed.code, listed)
	requireHarmless(t, listed)
	require.Equal(t, strings.Join([]string{
		`Preferences`,
		`  │ Likes Go`,
		`    ` + flush + `  daily record of 2026-06-07 14:30, summarized by gemini/flash, session 세션-1 in project 프로젝트`,
		`    ` + edited + `  daily record of 2026-06-06, as a person edited it`,
		`  │ Two`,
		`  │ lines of 텍스트`,
		`    ` + entry + `  entry “Use <U+001B>[31mred<U+001B>[0m”, session 세션-1 in project 프로젝트`,
		`    ` + fact + `  fact “Owns a cat”`,
		``,
		`Gone un<U+200B>seen<U+E0068>`,
		`  │ <U+202E>gnp.exe<U+202C>`,
		`    ` + byHand + `  version 1, as a person edited it`,
		`    nowhere │ forged  known to nothing that is stored`,
		``,
		`  │ alone`,
		`    no source is recorded`,
		``,
	}, "\n"), listed.out)
	origins := decode[struct{ Origins map[string]source }](t, r.of(someone, "memory", "show", "--sources", "-o", "json")).Origins
	require.Equal(t, source{Kind: "record", Date: "2026-06-07", Clock: "14:30", Project: "프로젝트", SessionID: "세션-1", Summarizer: "gemini/flash"}, origins[flush])
	require.Equal(t, source{Kind: "entry", Text: "Use " + red, Project: "프로젝트", SessionID: "세션-1"}, origins[entry])
	require.Equal(t, source{Kind: "fact", Text: "Owns a\ncat", Project: "p"}, origins[fact])

	// I10: the memory of another agent of the same user names the same sources but does not reveal them.
	other := owner{someone.user, "other"}
	r.version(t, other, schema.CoreCommittedPayload{Version: 1, Text: "- x\n", Items: []schema.CoreItem{{Text: "x", Sources: []string{flush, entry, fact, byHand}}}}, "ann")
	require.Equal(t, 4, strings.Count(r.of(other, "memory", "show", "--sources").out, "known to nothing that is stored"))

	require.Equal(t, map[string]string{"1": "edit, " + when(night.Add(time.Minute)), "2": "dream 1, " + when(night.Add(2*time.Minute))},
		r.values(t, "memory", "show", "--user", someone.user, "--agent", someone.agent, "--version", ""))
	require.Len(t, r.values(t, "memory", "restore", "--user", someone.user, "--agent", someone.agent, "2"), 1)
}

func (r *remembered) values(t *testing.T, args ...string) map[string]string {
	t.Helper()
	found, _ := completed(t, r.complete(args...))
	return found
}

// An empty memory prints a notice that becomes no part of a prompt or a diff. Unknown versions and dreams are usage errors.
func TestMemoryOfNobody(t *testing.T) {
	t.Parallel()
	r := newRemembered(t)
	nothing := "nothing is remembered in core memory of user u by agent a\n"
	u := owner{"u", "a"}
	for _, words := range []string{"memory show", "memory show --sources", "memory diff"} {
		require.Equal(t, output{0, "", nothing}, r.of(u, strings.Fields(words)...), words)
	}
	require.Equal(t, output{0, nothing, ""}, r.of(u, "memory", "history"))
	require.Equal(t, output{0, "null\n", nothing}, r.of(u, "memory", "show", "-o", "json"))
	require.Equal(t, output{0, "", "no dream of user u by agent a has ended\n"}, r.of(u, "dream", "show"))
	require.Equal(t, output{0, "no dream of user u by agent a has ended\n", ""}, r.of(u, "dream", "list"))
	require.Equal(t, output{0, "[]\n", ""}, r.of(u, "memory", "history", "-o", "json"))
	for words, says := range map[string]string{
		"memory show --version 1":  "version 1 of the memory of user \"u\", agent \"a\": no such version of core memory: there is none yet",
		"memory show --version 0":  "--version 0: want 1 or more",
		"memory show --version -1": "--version -1: want 1 or more",
		"memory diff 1":            "there is none yet",
		"memory diff 0 x":          `version "x": want a whole number from 1 on`,
		"memory diff 0 0":          `version "0": want a whole number from 1 on`,
		"memory diff 1 2 3":        "memory diff takes 2 arguments, not 3: starter memory diff [FROM] [TO]",
		"memory restore one":       `version "one": want a whole number from 1 on`,
		"memory history --limit 0": "--limit 0: want 1 to 1000",
		"dream show 0":             `dream "0": want a whole number from 1 on`,
		"dream show 3":             "there is no dream 3 of user u by agent a: dream list shows them all",
		"dream list --offset -1":   "--offset -1: want 0 or more",
	} {
		o := r.of(u, strings.Fields(words)...)
		require.Equal(t, exitUsage, o.code, "%s: %s", words, o)
		require.Contains(t, o.err, says, words)
		require.Empty(t, o.out)
	}
	require.Contains(t, down().run("memory", "show").err, "clickhouse at http://127.0.0.1:1")
}

// The history has pages like every list. A diff shows the dropped items with the version and the reason.
func TestMemoryHistoryAndDiff(t *testing.T) {
	t.Parallel()
	r := newRemembered(t)
	items := func(texts ...string) (out []schema.CoreItem) {
		for _, text := range texts {
			out = append(out, schema.CoreItem{Text: text})
		}
		return out
	}
	r.version(t, someone, schema.CoreCommittedPayload{Version: 1, Origin: schema.OriginEdit, Text: "- a\n- b\n", Items: items("a", "b"), Diff: "+- a\n+- b\n"}, "ann")
	r.version(t, someone, schema.CoreCommittedPayload{
		Version: 2, Origin: schema.OriginDream, Dream: 1, Text: "- a\n- c\n", Items: items("a", "c"), Diff: "@@ " + red + "\n-- b\n+- c",
		Dropped: []schema.DroppedItem{
			{Text: "b\nand more", From: schema.FromMemory, Reason: schema.DroppedSuperseded, Detail: "of 2026-06-07", By: "c"},
			{Text: "invented", From: schema.FromAnswer, Reason: schema.DroppedUngrounded},
		},
	}, "worker")
	r.dream(t, someone, schema.DreamFinishedPayload{Ordinal: 1, Date: "2026-06-07", Status: schema.DreamCommitted, Version: 2, Parent: 1})
	r.version(t, someone, schema.CoreCommittedPayload{
		Act: schema.Act{Reason: "too\nmuch"}, Version: 3, Origin: schema.OriginRestore, Restored: 1, Text: "- a\n- b\n", Items: items("a", "b"), Diff: "+- b\n-- c\n",
		Dropped: []schema.DroppedItem{{Text: "c", From: schema.FromMemory, Reason: schema.DroppedEdited, Detail: "restored"}},
	}, "cli:José")

	history := r.of(someone, "memory", "history")
	require.Zero(t, history.code, history)
	at := func(version int) string { return when(night.Add(time.Duration(version) * time.Minute)) }
	require.Equal(t, strings.Join([]string{
		`VERSION  WHEN                 ORIGIN                 ITEMS  CHANGE  BY        REASON`,
		`      3  ` + at(3) + `  restore of 1               2   +1 −1  cli:José  too much`,
		`      2  ` + at(2) + `  dream 1 of 2026-06-07      2   +1 −1  worker`,
		`      1  ` + at(1) + `  edit                       2   +2 −0  ann`,
		``,
	}, "\n"), history.out)
	page := r.of(someone, "memory", "history", "--limit", "2")
	require.True(t, strings.HasSuffix(page.out, "there are more: add --offset 2\n"), page)
	rest := decode[[]tier.VersionLine](t, r.of(someone, "memory", "history", "--offset", "2", "-o", "json"))
	require.Equal(t, 1, rest[0].Version)

	last := r.of(someone, "memory", "diff")
	require.Equal(t, output{0, "+- b\n-- c\n\n1 item, no longer in memory:\n  │ c\n    edited: restored\n", ""}, last)
	second := r.of(someone, "memory", "diff", "1", "2")
	require.Equal(t, strings.Join([]string{
		`@@ <U+001B>[31mred<U+001B>[0m`, `-- b`, `+- c`, ``,
		`1 item, no longer in memory:`, `  │ b`, `  │ and more`, `    superseded: of 2026-06-07; see “c”`, ``,
		`1 item, not taken from the answer:`, `  │ invented`, `    ungrounded`, ``,
	}, "\n"), second.out)
	first := r.of(someone, "memory", "diff", "0", "1")
	require.Equal(t, output{0, "+- a\n+- b\n", ""}, first)

	whole := r.of(someone, "memory", "diff", "1")
	require.Zero(t, whole.code, whole)
	require.Equal(t, "versions 1 and 3 have the same text\n", whole.err)
	require.Contains(t, whole.out, "2 items, no longer in memory:\n")
	require.Contains(t, whole.out, "superseded: of 2026-06-07 (version 2); see “c”\n")
	require.Contains(t, whole.out, "edited: restored (version 3)\n")
	back := decode[comparison](t, r.of(someone, "memory", "diff", "3", "2", "-o", "json"))
	require.Equal(t, [2]int{3, 2}, [2]int{back.From, back.To})
	require.Equal(t, tier.Diff("- a\n- b\n", "- a\n- c\n", "MEMORY.md, version 3", "MEMORY.md, version 2"), back.Diff)
	require.Empty(t, back.Dropped, "a way back drops for no reason")
	for _, args := range [][]string{{"4"}, {"1", "4"}, {"9", "1"}} {
		o := r.of(someone, append([]string{"memory", "diff"}, args...)...)
		require.Equal(t, exitUsage, o.code, o)
		require.Contains(t, o.err, "there are versions 1 to 3")
	}
}

// A dream is shown with everything that it read, added and dropped. Refused dreams are listed too, and the doctor reports
// them.
func TestDreamShow(t *testing.T) {
	t.Parallel()
	r := newRemembered(t)
	require.Equal(t, check{Name: "dreams", OK: true, Note: "there was none yet"}, checkDreams(t.Context(), r.conn))
	var days []schema.Day
	for i := range 9 {
		days = append(days, schema.Day{Date: fmt.Sprintf("2026-06-%02d", 7-i+3), Hash: "h"})
	}
	r.version(t, someone, schema.CoreCommittedPayload{Version: 1, Text: "- a\n", Items: []schema.CoreItem{{Text: "a"}, {Text: "b"}}}, "ann")
	r.version(t, someone, schema.CoreCommittedPayload{
		Version: 2, Dream: 1, Text: "- a\n", Items: []schema.CoreItem{{Text: "a"}, {Text: "c"}, {Text: "d"}},
		Dropped: []schema.DroppedItem{{Text: "b", From: schema.FromMemory, Reason: schema.DroppedMerged, By: "c"}},
	}, "worker")
	r.dream(t, someone, schema.DreamFinishedPayload{
		Ordinal: 1, Date: "2026-06-07", Status: schema.DreamCommitted, Parent: 1, Version: 2, Diary: "I dreamt of\n" + red, Days: days, Model: "gemini", Carried: 1,
		Usage: schema.Usage{Calls: 2, InputTokens: 300, OutputTokens: 40, CostUSD: 0.0123},
	})
	require.Equal(t, check{Name: "dreams", OK: true, Note: "1 memory, the last one refused in none"}, checkDreams(t.Context(), r.conn))
	r.dream(t, someone, schema.DreamFinishedPayload{
		Ordinal: 2, Date: "2026-06-08", Status: schema.DreamIsRefused, Reason: "left out\n4 of 5 items", Parent: 2, Model: "gemini",
		Dropped: []schema.DroppedItem{{Text: "x", From: schema.FromAnswer, Reason: schema.DroppedUngrounded, Detail: "no source says so"}},
	})
	r.dream(t, owner{"ann", ""}, schema.DreamFinishedPayload{Ordinal: 1, Date: "2026-06-08", Status: schema.DreamUnchanged, Parent: 0})

	first := r.of(someone, "dream", "show", "1")
	require.Zero(t, first.code, first)
	requireHarmless(t, first)
	require.Equal(t, strings.Join([]string{
		`dream    1 of user José/я"' by agent 代理 %2F 🤖, for 2026-06-07`,
		`ended    ` + when(night),
		`status   committed: version 2 follows version 1`,
		`read     9 days: 2026-06-10, 2026-06-09, 2026-06-08, 2026-06-07, 2026-06-06, 2026-06-05, 2026-06-04, and 2 more, down to 2026-06-02`,
		`items    3, 2 added`,
		`carried  1 item, left out by the answer without a reason that counts`,
		`model    gemini, 2 calls, 300 tokens in, 40 out, $0.0123`,
		``,
		`1 item, no longer in memory:`,
		`  │ b`,
		`    merged; see “c”`,
		``,
		`diary`,
		`  │ I dreamt of`,
		`  │ <U+001B>[31mred<U+001B>[0m`,
		``,
	}, "\n"), first.out)
	last := r.of(someone, "dream", "show")
	require.Equal(t, strings.Join([]string{
		`dream    2 of user José/я"' by agent 代理 %2F 🤖, for 2026-06-08`,
		`ended    ` + when(night),
		`status   refused: version 2 stays`,
		`reason   left out 4 of 5 items`,
		`read     nothing`,
		`model    gemini, 0 calls, 0 tokens in, 0 out`,
		``,
		`1 item, not taken from the answer:`,
		`  │ x`,
		`    ungrounded: no source says so`,
		``,
	}, "\n"), last.out)
	shown := decode[shownDream](t, r.of(someone, "dream", "show", "1", "-o", "json"))
	require.Equal(t, [3]int{3, 2, 1}, [3]int{shown.Items, shown.Added, len(shown.Dropped)})
	require.Equal(t, days, shown.Days)
	require.Contains(t, r.run("dream", "show", "--user", "ann").out, "status   unchanged\n")

	list := r.of(someone, "dream", "list")
	require.Equal(t, strings.Join([]string{
		`DREAM  DATE        ENDED                STATUS     VERSION  DAYS  CARRIED  REASON`,
		`    2  2026-06-08  ` + when(night) + `  refused          -     0        0  left out 4 of 5 items`,
		`    1  2026-06-07  ` + when(night) + `  committed        2     9        1`,
		``,
	}, "\n"), list.out)
	require.Len(t, decode[[]tier.Dream](t, r.of(someone, "dream", "list", "--limit", "1", "-o", "json")), 1)
	require.Equal(t, map[string]string{"1": "2026-06-07, committed", "2": "2026-06-08, refused"},
		r.values(t, "dream", "show", "--user", someone.user, "--agent", someone.agent, ""))

	require.Equal(t, check{
		Name: "dreams", Note: "the last one was refused in 1 of 2 memories",
		Mend: `see why: starter dream show --user 'José/я"'\''' --agent '代理 %2F 🤖'`,
	}, checkDreams(t.Context(), r.conn))
	require.Contains(t, r.run("doctor").out, "!!  dreams ")
}

// A restore creates a new version. Restoring the same version again does not.
func TestMemoryRestore(t *testing.T) {
	t.Parallel()
	c := sharedCLI(t)
	r := &remembered{cli: c, conn: stacktest.Migrated(t, c.config(t).ClickHouseDSN)}
	r.log = eventlog.New(r.conn, eventlog.Options{})
	r.version(t, someone, schema.CoreCommittedPayload{Version: 1, Origin: schema.OriginEdit, Text: "- a\n- b\n", Items: []schema.CoreItem{{Text: "a"}, {Text: "b"}}}, "ann")
	r.version(t, someone, schema.CoreCommittedPayload{Version: 2, Origin: schema.OriginEdit, Text: "- c\n", Items: []schema.CoreItem{{Text: "c"}}}, "ann")

	o := r.of(someone, "memory", "restore", "1", "--reason", "it was 더 나은")
	require.Equal(t, output{0, "version 3 has the content of version 1: 2 items, 2 added, 1 dropped\n", ""}, o)
	require.Equal(t, "- a\n- b\n", r.of(someone, "memory", "show").out)
	lines := decode[[]tier.VersionLine](t, r.of(someone, "memory", "history", "--limit", "1", "-o", "json"))
	require.Equal(t, 1, lines[0].Restored)
	require.Equal(t, "it was 더 나은", lines[0].Reason)
	require.Equal(t, actor(), lines[0].Actor)
	require.Contains(t, r.of(someone, "memory", "diff").out, "edited: version 1, which was restored, does not hold it")

	o = r.of(someone, "memory", "restore", "1")
	require.Equal(t, output{0, "nothing to restore: the current version 3 has the content of version 1\n", ""}, o)
	o = r.of(someone, "memory", "restore", "9")
	require.Equal(t, exitUsage, o.code, o)
	require.Contains(t, o.err, "no such version of core memory: there are versions 1 to 3")
	require.True(t, decode[tier.RestoreResult](t, r.of(someone, "memory", "restore", "3", "-o", "json")).Unchanged)
}
