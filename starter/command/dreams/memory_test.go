package dreams_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"axiommind/activities/eventlog"
	"axiommind/activities/projection"
	"axiommind/activities/tier"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
	"axiommind/starter/command"
	"axiommind/starter/command/commandtest"
	"axiommind/starter/command/dreams"
	"axiommind/starter/command/operation"
)

func version(r *commandtest.Remembered, t *testing.T, o command.Owner, p schema.CoreCommittedPayload, by string) string {
	t.Helper()
	p.Parent = p.Version - 1
	return r.Store(t, schema.MemoryStream(o.User, o.Agent), schema.CoreOfEditKey(o.User, o.Agent, p.Version),
		schema.Event{Actor: by, TS: commandtest.Night.Add(time.Duration(p.Version) * time.Minute)}, p)
}

func dream(r *commandtest.Remembered, t *testing.T, o command.Owner, p schema.DreamFinishedPayload) {
	t.Helper()
	r.Store(t, schema.MemoryStream(o.User, o.Agent), schema.DreamFinishedKey(o.User, o.Agent, p.Ordinal), schema.Event{Actor: "worker"}, p)
}

// sourcesOf stores a flush, an edited record, an entry and a fact of the owner, and returns their ids.
func sourcesOf(r *commandtest.Remembered, t *testing.T, o command.Owner) (flush, edited, entry, fact string) {
	t.Helper()
	stream := schema.MemoryStream(o.User, o.Agent)
	session := schema.SessionKey{Scope: schema.Scope{Project: "프로젝트", User: o.User, Agent: o.Agent}, SessionID: "세션-1"}
	flush = r.Store(t, stream, schema.ContextFlushedKey(session, 0, 3), schema.Event{Actor: "worker"}, schema.ContextFlushedPayload{
		SessionKey: session, Date: "2026-06-07", Clock: "14:30", Last: 3, Summarizer: "gemini/flash", Text: "- Likes Go",
	})
	edited = r.Store(t, stream, schema.RecordEditedKey(o.User, o.Agent, schema.RecordDaily, "2026-06-06", 1), schema.Event{Actor: "ann"},
		schema.RecordEditedPayload{Kind: schema.RecordDaily, Date: "2026-06-06", Text: "# Mine\n", Replaced: "00"})
	entry = schema.DerivedID("entry", o.User)
	r.Store(t, session.Stream(), schema.EntryMaterializedKey(entry), schema.Event{Actor: "worker", Project: session.Project, SessionID: session.SessionID, BuildID: "b"},
		schema.EntryMaterializedPayload{Entry: schema.Entry{
			ID: entry, Type: schema.EntryDecision, SessionID: session.SessionID, Scope: session.Scope, Title: "Use " + commandtest.Red, Stage: schema.StageRaw,
			Status: schema.StatusActive, OccurredAt: commandtest.Night,
		}})
	fact = "fact_0a1b2c3d"
	r.Store(t, stream, schema.FactOfCommandKey(o.User, o.Agent, "q"), schema.Event{Actor: "ann", Project: "p"},
		schema.FactCreatedPayload{FactID: fact, Content: "Owns a\ncat", Category: "context", Confidence: 1})
	return flush, edited, entry, fact
}

// Stored core memory is shown as plain text for a prompt, or as items with their sources.
func TestMemoryShow(t *testing.T) {
	t.Parallel()
	r := commandtest.NewRemembered(t)
	flush, edited, entry, fact := sourcesOf(r, t, commandtest.Someone)
	byHand := version(r, t, commandtest.Someone, schema.CoreCommittedPayload{Version: 1, Origin: schema.OriginEdit, Text: "- " + commandtest.Red + "\n", Items: []schema.CoreItem{{Text: commandtest.Red}}}, "ann")
	version(r, t, commandtest.Someone, schema.CoreCommittedPayload{Version: 2, Origin: schema.OriginDream, Dream: 1, Text: "## Preferences\n\n- Likes Go", Items: []schema.CoreItem{
		{Text: "Likes Go", Heading: "Preferences", Sources: []string{flush, edited}},
		{Text: "Two\nlines of 텍스트", Heading: "Preferences", Sources: []string{entry, fact}},
		{Text: commandtest.Turn, Heading: "Gone " + commandtest.Ghost, Sources: []string{byHand, "nowhere\n  │ forged"}},
		{Text: "alone"},
	}}, "worker")

	shown := r.Of(commandtest.Someone, "memory", "show")
	require.Equal(t, commandtest.Output{Code: 0, Out: "## Preferences\n\n- Likes Go\n", Err: ""}, shown)
	old := r.Of(commandtest.Someone, "memory", "show", "--version", "1")
	require.Equal(t, "- <U+001B>[31mred<U+001B>[0m\n", old.Out)
	core := commandtest.Decode[tier.Core](t, r.Of(commandtest.Someone, "memory", "show", "--version", "1", "-o", "json"))
	require.Equal(t, "- "+commandtest.Red+"\n", core.Text, "programs read it exactly")
	require.Equal(t, "ann", core.Actor)

	listed := r.Of(commandtest.Someone, "memory", "show", "--sources")
	require.Zero(t, listed.Code, listed)
	commandtest.RequireHarmless(t, listed)
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
	}, "\n"), listed.Out)
	origins := commandtest.Decode[struct{ Origins map[string]dreams.Source }](t, r.Of(commandtest.Someone, "memory", "show", "--sources", "-o", "json")).Origins
	require.Equal(t, dreams.Source{Kind: "record", Date: "2026-06-07", Clock: "14:30", Project: "프로젝트", SessionID: "세션-1", Summarizer: "gemini/flash"}, origins[flush])
	require.Equal(t, dreams.Source{Kind: "entry", Text: "Use " + commandtest.Red, Project: "프로젝트", SessionID: "세션-1"}, origins[entry])
	require.Equal(t, dreams.Source{Kind: "fact", Text: "Owns a\ncat", Project: "p"}, origins[fact])

	// I10: the memory of another agent of the same user names the same sources but does not reveal them.
	other := command.Owner{User: commandtest.Someone.User, Agent: "other"}
	version(r, t, other, schema.CoreCommittedPayload{Version: 1, Text: "- x\n", Items: []schema.CoreItem{{Text: "x", Sources: []string{flush, entry, fact, byHand}}}}, "ann")
	require.Equal(t, 4, strings.Count(r.Of(other, "memory", "show", "--sources").Out, "known to nothing that is stored"))

	require.Equal(t, map[string]string{"1": "edit, " + command.When(commandtest.Night.Add(time.Minute)), "2": "dream 1, " + command.When(commandtest.Night.Add(2*time.Minute))},
		values(r, t, "memory", "show", "--user", commandtest.Someone.User, "--agent", commandtest.Someone.Agent, "--version", ""))
	require.Len(t, values(r, t, "memory", "restore", "--user", commandtest.Someone.User, "--agent", commandtest.Someone.Agent, "2"), 1)
}

func values(r *commandtest.Remembered, t *testing.T, args ...string) map[string]string {
	t.Helper()
	found, _ := commandtest.Completed(t, r.Complete(args...))
	return found
}

// An empty memory prints a notice that becomes no part of a prompt or a diff. Unknown versions and dreams are usage errors.
func TestMemoryOfNobody(t *testing.T) {
	t.Parallel()
	r := commandtest.NewRemembered(t)
	nothing := "nothing is remembered in core memory of user u by agent a\n"
	u := command.Owner{User: "u", Agent: "a"}
	for _, words := range []string{"memory show", "memory show --sources", "memory diff"} {
		require.Equal(t, commandtest.Output{Code: 0, Out: "", Err: nothing}, r.Of(u, strings.Fields(words)...), words)
	}
	require.Equal(t, commandtest.Output{Code: 0, Out: nothing, Err: ""}, r.Of(u, "memory", "history"))
	require.Equal(t, commandtest.Output{Code: 0, Out: "null\n", Err: nothing}, r.Of(u, "memory", "show", "-o", "json"))
	require.Equal(t, commandtest.Output{Code: 0, Out: "", Err: "no dream of user u by agent a has ended\n"}, r.Of(u, "dream", "show"))
	require.Equal(t, commandtest.Output{Code: 0, Out: "no dream of user u by agent a has ended\n", Err: ""}, r.Of(u, "dream", "list"))
	require.Equal(t, commandtest.Output{Code: 0, Out: "[]\n", Err: ""}, r.Of(u, "memory", "history", "-o", "json"))
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
		o := r.Of(u, strings.Fields(words)...)
		require.Equal(t, command.ExitUsage, o.Code, "%s: %s", words, o)
		require.Contains(t, o.Err, says, words)
		require.Empty(t, o.Out)
	}
	require.Contains(t, commandtest.Down().Run("memory", "show").Err, "clickhouse at http://127.0.0.1:1")
}

// The history has pages like every list. A diff shows the dropped items with the version and the reason.
func TestMemoryHistoryAndDiff(t *testing.T) {
	t.Parallel()
	r := commandtest.NewRemembered(t)
	items := func(texts ...string) (out []schema.CoreItem) {
		for _, text := range texts {
			out = append(out, schema.CoreItem{Text: text})
		}
		return out
	}
	version(r, t, commandtest.Someone, schema.CoreCommittedPayload{Version: 1, Origin: schema.OriginEdit, Text: "- a\n- b\n", Items: items("a", "b"), Diff: "+- a\n+- b\n"}, "ann")
	version(r, t, commandtest.Someone, schema.CoreCommittedPayload{
		Version: 2, Origin: schema.OriginDream, Dream: 1, Text: "- a\n- c\n", Items: items("a", "c"), Diff: "@@ " + commandtest.Red + "\n-- b\n+- c",
		Dropped: []schema.DroppedItem{
			{Text: "b\nand more", From: schema.FromMemory, Reason: schema.DroppedSuperseded, Detail: "of 2026-06-07", By: "c"},
			{Text: "invented", From: schema.FromAnswer, Reason: schema.DroppedUngrounded},
		},
	}, "worker")
	dream(r, t, commandtest.Someone, schema.DreamFinishedPayload{Ordinal: 1, Date: "2026-06-07", Status: schema.DreamCommitted, Version: 2, Parent: 1})
	version(r, t, commandtest.Someone, schema.CoreCommittedPayload{
		Act: schema.Act{Reason: "too\nmuch"}, Version: 3, Origin: schema.OriginRestore, Restored: 1, Text: "- a\n- b\n", Items: items("a", "b"), Diff: "+- b\n-- c\n",
		Dropped: []schema.DroppedItem{{Text: "c", From: schema.FromMemory, Reason: schema.DroppedEdited, Detail: "restored"}},
	}, "cli:José")

	history := r.Of(commandtest.Someone, "memory", "history")
	require.Zero(t, history.Code, history)
	at := func(version int) string {
		return command.When(commandtest.Night.Add(time.Duration(version) * time.Minute))
	}
	require.Equal(t, strings.Join([]string{
		`VERSION  WHEN                 ORIGIN                 ITEMS  CHANGE  BY        REASON`,
		`      3  ` + at(3) + `  restore of 1               2   +1 −1  cli:José  too much`,
		`      2  ` + at(2) + `  dream 1 of 2026-06-07      2   +1 −1  worker`,
		`      1  ` + at(1) + `  edit                       2   +2 −0  ann`,
		``,
	}, "\n"), history.Out)
	page := r.Of(commandtest.Someone, "memory", "history", "--limit", "2")
	require.True(t, strings.HasSuffix(page.Out, "there are more: add --offset 2\n"), page)
	rest := commandtest.Decode[[]tier.VersionLine](t, r.Of(commandtest.Someone, "memory", "history", "--offset", "2", "-o", "json"))
	require.Equal(t, 1, rest[0].Version)

	last := r.Of(commandtest.Someone, "memory", "diff")
	require.Equal(t, commandtest.Output{Code: 0, Out: "+- b\n-- c\n\n1 item, no longer in memory:\n  │ c\n    edited: restored\n", Err: ""}, last)
	second := r.Of(commandtest.Someone, "memory", "diff", "1", "2")
	require.Equal(t, strings.Join([]string{
		`@@ <U+001B>[31mred<U+001B>[0m`, `-- b`, `+- c`, ``,
		`1 item, no longer in memory:`, `  │ b`, `  │ and more`, `    superseded: of 2026-06-07; see “c”`, ``,
		`1 item, not taken from the answer:`, `  │ invented`, `    ungrounded`, ``,
	}, "\n"), second.Out)
	first := r.Of(commandtest.Someone, "memory", "diff", "0", "1")
	require.Equal(t, commandtest.Output{Code: 0, Out: "+- a\n+- b\n", Err: ""}, first)

	whole := r.Of(commandtest.Someone, "memory", "diff", "1")
	require.Zero(t, whole.Code, whole)
	require.Equal(t, "versions 1 and 3 have the same text\n", whole.Err)
	require.Contains(t, whole.Out, "2 items, no longer in memory:\n")
	require.Contains(t, whole.Out, "superseded: of 2026-06-07 (version 2); see “c”\n")
	require.Contains(t, whole.Out, "edited: restored (version 3)\n")
	back := commandtest.Decode[dreams.Comparison](t, r.Of(commandtest.Someone, "memory", "diff", "3", "2", "-o", "json"))
	require.Equal(t, [2]int{3, 2}, [2]int{back.From, back.To})
	require.Equal(t, tier.Diff("- a\n- b\n", "- a\n- c\n", "MEMORY.md, version 3", "MEMORY.md, version 2"), back.Diff)
	require.Empty(t, back.Dropped, "a way back drops for no reason")
	for _, args := range [][]string{{"4"}, {"1", "4"}, {"9", "1"}} {
		o := r.Of(commandtest.Someone, append([]string{"memory", "diff"}, args...)...)
		require.Equal(t, command.ExitUsage, o.Code, o)
		require.Contains(t, o.Err, "there are versions 1 to 3")
	}
}

// A dream is shown with everything that it read, added and dropped. Refused dreams are listed too, and the doctor reports
// them.
func TestDreamShow(t *testing.T) {
	t.Parallel()
	r := commandtest.NewRemembered(t)
	require.Equal(t, command.Check{Name: "dreams", OK: true, Note: "there was none yet"}, operation.CheckDreams(t.Context(), r.Conn))
	var days []schema.Day
	for i := range 9 {
		days = append(days, schema.Day{Date: fmt.Sprintf("2026-06-%02d", 7-i+3), Hash: "h"})
	}
	version(r, t, commandtest.Someone, schema.CoreCommittedPayload{Version: 1, Text: "- a\n", Items: []schema.CoreItem{{Text: "a"}, {Text: "b"}}}, "ann")
	version(r, t, commandtest.Someone, schema.CoreCommittedPayload{
		Version: 2, Dream: 1, Text: "- a\n", Items: []schema.CoreItem{{Text: "a"}, {Text: "c"}, {Text: "d"}},
		Dropped: []schema.DroppedItem{{Text: "b", From: schema.FromMemory, Reason: schema.DroppedMerged, By: "c"}},
	}, "worker")
	dream(r, t, commandtest.Someone, schema.DreamFinishedPayload{
		Ordinal: 1, Date: "2026-06-07", Status: schema.DreamCommitted, Parent: 1, Version: 2, Diary: "I dreamt of\n" + commandtest.Red, Days: days, Model: "gemini", Carried: 1,
		Usage: schema.Usage{Calls: 2, InputTokens: 300, OutputTokens: 40, CostUSD: 0.0123},
	})
	require.Equal(t, command.Check{Name: "dreams", OK: true, Note: "1 memory, the last one refused in none"}, operation.CheckDreams(t.Context(), r.Conn))
	dream(r, t, commandtest.Someone, schema.DreamFinishedPayload{
		Ordinal: 2, Date: "2026-06-08", Status: schema.DreamIsRefused, Reason: "left out\n4 of 5 items", Parent: 2, Model: "gemini",
		Dropped: []schema.DroppedItem{{Text: "x", From: schema.FromAnswer, Reason: schema.DroppedUngrounded, Detail: "no source says so"}},
	})
	dream(r, t, command.Owner{User: "ann", Agent: ""}, schema.DreamFinishedPayload{Ordinal: 1, Date: "2026-06-08", Status: schema.DreamUnchanged, Parent: 0})

	first := r.Of(commandtest.Someone, "dream", "show", "1")
	require.Zero(t, first.Code, first)
	commandtest.RequireHarmless(t, first)
	require.Equal(t, strings.Join([]string{
		`dream    1 of user José/я"' by agent 代理 %2F 🤖, for 2026-06-07`,
		`ended    ` + command.When(commandtest.Night),
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
	}, "\n"), first.Out)
	last := r.Of(commandtest.Someone, "dream", "show")
	require.Equal(t, strings.Join([]string{
		`dream    2 of user José/я"' by agent 代理 %2F 🤖, for 2026-06-08`,
		`ended    ` + command.When(commandtest.Night),
		`status   refused: version 2 stays`,
		`reason   left out 4 of 5 items`,
		`read     nothing`,
		`model    gemini, 0 calls, 0 tokens in, 0 out`,
		``,
		`1 item, not taken from the answer:`,
		`  │ x`,
		`    ungrounded: no source says so`,
		``,
	}, "\n"), last.Out)
	shown := commandtest.Decode[dreams.ShownDream](t, r.Of(commandtest.Someone, "dream", "show", "1", "-o", "json"))
	require.Equal(t, [3]int{3, 2, 1}, [3]int{shown.Items, shown.Added, len(shown.Dropped)})
	require.Equal(t, days, shown.Days)
	require.Contains(t, r.Run("dream", "show", "--user", "ann").Out, "status   unchanged\n")

	list := r.Of(commandtest.Someone, "dream", "list")
	require.Equal(t, strings.Join([]string{
		`DREAM  DATE        ENDED                STATUS     VERSION  DAYS  CARRIED  REASON`,
		`    2  2026-06-08  ` + command.When(commandtest.Night) + `  refused          -     0        0  left out 4 of 5 items`,
		`    1  2026-06-07  ` + command.When(commandtest.Night) + `  committed        2     9        1`,
		``,
	}, "\n"), list.Out)
	require.Len(t, commandtest.Decode[[]tier.Dream](t, r.Of(commandtest.Someone, "dream", "list", "--limit", "1", "-o", "json")), 1)
	require.Equal(t, map[string]string{"1": "2026-06-07, committed", "2": "2026-06-08, refused"},
		values(r, t, "dream", "show", "--user", commandtest.Someone.User, "--agent", commandtest.Someone.Agent, ""))

	require.Equal(t, command.Check{
		Name: "dreams", Note: "the last one was refused in 1 of 2 memories",
		Mend: `see why: starter dream show --user 'José/я"'\''' --agent '代理 %2F 🤖'`,
	}, operation.CheckDreams(t.Context(), r.Conn))
	require.Contains(t, r.Run("doctor").Out, "!!  dreams ")
}

// A restore creates a new version. Restoring the same version again does not.
func TestMemoryRestore(t *testing.T) {
	t.Parallel()
	c := commandtest.SharedCLI(t)
	r := &commandtest.Remembered{CLI: c, Conn: stacktest.Connect(t, c.Config(t).ClickHouseDSN)}
	r.Log = projection.New(r.Conn, eventlog.Options{})
	version(r, t, commandtest.Someone, schema.CoreCommittedPayload{Version: 1, Origin: schema.OriginEdit, Text: "- a\n- b\n", Items: []schema.CoreItem{{Text: "a"}, {Text: "b"}}}, "ann")
	version(r, t, commandtest.Someone, schema.CoreCommittedPayload{Version: 2, Origin: schema.OriginEdit, Text: "- c\n", Items: []schema.CoreItem{{Text: "c"}}}, "ann")

	o := r.Of(commandtest.Someone, "memory", "restore", "1", "--reason", "it was 더 나은")
	require.Equal(t, commandtest.Output{Code: 0, Out: "version 3 has the content of version 1: 2 items, 2 added, 1 dropped\n", Err: ""}, o)
	require.Equal(t, "- a\n- b\n", r.Of(commandtest.Someone, "memory", "show").Out)
	lines := commandtest.Decode[[]tier.VersionLine](t, r.Of(commandtest.Someone, "memory", "history", "--limit", "1", "-o", "json"))
	require.Equal(t, 1, lines[0].Restored)
	require.Equal(t, "it was 더 나은", lines[0].Reason)
	require.Equal(t, (&command.App{}).Actor(), lines[0].Actor)
	require.Contains(t, r.Of(commandtest.Someone, "memory", "diff").Out, "edited: version 1, which was restored, does not hold it")

	o = r.Of(commandtest.Someone, "memory", "restore", "1")
	require.Equal(t, commandtest.Output{Code: 0, Out: "nothing to restore: the current version 3 has the content of version 1\n", Err: ""}, o)
	o = r.Of(commandtest.Someone, "memory", "restore", "9")
	require.Equal(t, command.ExitUsage, o.Code, o)
	require.Contains(t, o.Err, "no such version of core memory: there are versions 1 to 3")
	require.True(t, commandtest.Decode[tier.RestoreResult](t, r.Of(commandtest.Someone, "memory", "restore", "3", "-o", "json")).Unchanged)
}
