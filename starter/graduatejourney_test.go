package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os/user"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/activities/entry"
	"axiommind/activities/eventlog"
	"axiommind/activities/graduate"
	"axiommind/activities/retrieve"
	"axiommind/schema"
)

// entryOf reads an entry of the project by its title.
func (c *cli) entryOf(t *testing.T, title string) entry.Row {
	t.Helper()
	conn, err := eventlog.Connect(t.Context(), c.config(t).ClickHouseDSN, eventlog.ConnectOptions{})
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()
	rows, err := entry.NewReader(conn).Read(t.Context(), entry.InProject(c.project), entry.Whole)
	require.NoError(t, err)
	i := slices.IndexFunc(rows, func(r entry.Row) bool { return r.Title == title })
	require.GreaterOrEqual(t, i, 0, "no entry %q among %+v", title, rows)
	return rows[i]
}

// contradiction processes two contradictory sessions and returns the conflict.
func (c *cli) contradiction(t *testing.T) graduate.Conflict {
	t.Helper()
	for i, text := range []string{decision, strings.Replace(decision, "ClickHouse", "Postgres", 1)} {
		o := c.process(write(t, "s.jsonl", said(10*i+1, "user", text)), "--session", strings.Repeat("later-", i)+c.project)
		require.Zero(t, o.code, o)
	}
	done := c.run("graduate", "--project", c.project)
	require.Zero(t, done.code, done)
	conflicts := decode[[]graduate.Conflict](t, c.run("conflicts", "list", "--project", c.project, "-o", "json"))
	require.Len(t, conflicts, 1)
	return conflicts[0]
}

// Two sessions that contradict each other form a conflict until a person decides which one is right. The other one is no
// longer found and stays in the history.
func TestConflictIsResolved(t *testing.T) {
	t.Parallel()
	c := sharedCLI(t)
	conflict := c.contradiction(t)
	require.Equal(t, decision, conflict.Older.Title)
	require.Equal(t, schema.StatusContested, conflict.Older.Status)
	require.Equal(t, schema.StatusContested, conflict.Newer.Status)
	listed := c.run("conflicts", "--project", c.project)
	require.Contains(t, listed.out, short(conflict.ID))
	require.Contains(t, listed.out, "We decided to use Postgres for the event log.")
	require.Contains(t, listed.out, "to resolve one: starter conflicts resolve CONFLICT ")
	shown := c.run("conflicts", "show", short(conflict.ID), "--project", c.project)
	require.Contains(t, shown.out, "“"+decision+"” — session "+c.project+", message 0, ")
	require.Contains(t, shown.out, "“We decided to use Postgres for the event log.” — session later-"+c.project+", message 0, ")

	other := c.run("conflicts", "resolve", conflict.ID, "--keep", "0000ffff", "--project", c.project)
	require.Equal(t, exitUsage, other.code, other)
	require.Contains(t, other.err, "0000ffff")
	elsewhere := c.run("conflicts", "show", conflict.ID, "--project", "another")
	require.Equal(t, exitUsage, elsewhere.code, "I10: no conflict of another project is shown")

	resolved := c.run("conflicts", "resolve", short(conflict.ID), "--keep", short(conflict.Newer.EntryID), "--because", "measured\nagain", "--project", c.project)
	require.Zero(t, resolved.code, resolved)
	require.NotContains(t, resolved.out, "nothing to change")
	found := decode[retrieve.Result](t, c.run("search", "which", "event", "log?", "--project", c.project, "--superseded", "-o", "json"))
	require.GreaterOrEqual(t, len(found.Hits), 2)
	require.Equal(t, conflict.Newer.EntryID, found.Hits[0].ID, "the one that was kept comes first")
	require.Equal(t, schema.StatusActive, found.Hits[0].Status)
	require.Equal(t, schema.StatusSuperseded, found.Hits[1].Status)
	require.Equal(t, conflict.Newer.EntryID, found.Hits[1].SupersededBy)
	require.NotContains(t, c.run("search", "event log", "--project", c.project).out, ". "+decision)
	require.Contains(t, c.run("conflicts", "--project", c.project).out, "nothing contradicts anything in project "+c.project+"; --all includes resolved conflicts")
	all := decode[[]graduate.Conflict](t, c.run("conflicts", "--all", "--project", c.project, "-o", "json"))
	require.Len(t, all, 1)
	require.Equal(t, conflict.Newer.EntryID, all[0].Kept)
	me, err := user.Current()
	require.NoError(t, err)
	require.Equal(t, "cli:"+me.Username, all[0].ResolvedBy)
	require.Contains(t, c.run("conflicts", "--all", "--project", c.project).out, short(conflict.Newer.EntryID)+" is right")
	none := c.run("conflicts", "resolve", "--keep", conflict.Newer.EntryID, "--project", c.project)
	require.Equal(t, exitUsage, none.code, none)
	require.Contains(t, none.err, "no open conflict has entry")
	require.Zero(t, c.run("verify", "--project", c.project).code)
}

// Two statements that a person declared compatible are not reported as a conflict again.
func TestConflictOfNone(t *testing.T) {
	t.Parallel()
	c := sharedCLI(t)
	conflict := c.contradiction(t)
	o := c.run("conflicts", "resolve", conflict.ID, "--keep", "both", "--because", "one is a mirror", "--project", c.project)
	require.Zero(t, o.code, o)
	again := c.run("graduate", "--project", c.project)
	require.Zero(t, again.code, again)
	require.Empty(t, decode[[]graduate.Conflict](t, c.run("conflicts", "--project", c.project, "-o", "json")))
	for _, side := range []graduate.Side{conflict.Older, conflict.Newer} {
		require.Equal(t, schema.StatusActive, c.entryOf(t, side.Title).Status)
	}
}

// answering returns the URL of a model that answers every request with the entries: titles with their quotes of the first
// message.
func answering(t *testing.T, quotes map[string]string) string {
	t.Helper()
	var entries []map[string]any
	for title, quote := range quotes {
		entries = append(entries, map[string]any{
			"entryId": "e", "type": "decision", "title": title, "evidence": []map[string]any{{"messageIndex": 0, "quote": quote}},
		})
	}
	return answeringWith(t, entries)
}

// answeringWith returns the URL of a model that answers every request with the entries.
func answeringWith(t *testing.T, entries []map[string]any) string {
	t.Helper()
	content, err := json.Marshal(map[string]any{"entries": entries})
	require.NoError(t, err)
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]any{"choices": []any{
			map[string]any{"message": map[string]any{"content": string(content)}, "finish_reason": "stop"},
		}})
	}))
	t.Cleanup(model.Close)
	return model.URL
}

// A person confirms an entry whose quote was only found: the whole sentence becomes its evidence, and it is certified. An
// entry whose quote is not in the session can't be confirmed.
func TestFoundEntryIsConfirmed(t *testing.T) {
	t.Parallel()
	c := newCLI(t)
	c.work(t, "--model-provider", "openai", "--model", "m", "--model-url", answering(t, map[string]string{
		"Never ship on the day before a holiday": "ship on the day before a holiday",
		"Review before shipping":                 "nobody has ever said this",
	}))
	o := c.process(write(t, "s.jsonl", said(1, "user", "We ship on Tuesdays. Never ship on the day before a holiday.")), "--session", "releases")
	require.Zero(t, o.code, o)
	found, unsaid := c.entryOf(t, "Never ship on the day before a holiday"), c.entryOf(t, "Review before shipping")
	require.True(t, found.EvidenceAligned)
	require.False(t, found.EvidenceProven)

	refused := c.run("entry", "confirm", short(unsaid.ID), "--project", c.project)
	require.Equal(t, exitUsage, refused.code, refused)
	require.Contains(t, refused.err, unsaid.ID)
	require.Equal(t, exitUsage, c.run("entry", "confirm", short(found.ID), unsaid.ID, "--project", c.project).code, "all or none")
	require.Equal(t, found.Stage, c.entryOf(t, found.Title).Stage)

	o = c.run("entry", "confirm", short(found.ID), found.ID, "--project", c.project)
	require.Zero(t, o.code, o)
	require.Contains(t, o.out, short(found.ID)+": certified")
	confirmed := c.entryOf(t, found.Title)
	require.Equal(t, schema.StageCertified, confirmed.Stage)
	require.True(t, confirmed.EvidenceProven)
	require.Equal(t, "Never ship on the day before a holiday.", confirmed.Evidence[0].Text)
	hits := decode[retrieve.Result](t, c.run("search", "holiday", "--stage", "certified", "--project", c.project, "-o", "json")).Hits
	require.Len(t, hits, 1)
	require.Equal(t, found.ID, hits[0].ID)
	verified := c.run("verify", "--project", c.project)
	require.Zero(t, verified.code, verified)
}

// A retired entry is no longer found as believed. It shows when, why and by whom it was retired, and can be restored
// unchanged.
func TestEntryIsRetiredAndRestored(t *testing.T) {
	t.Parallel()
	c := sharedCLI(t)
	require.Zero(t, c.process(write(t, "s.jsonl", said(1, "user", decision)), "--session", "retired").code)
	before := c.entryOf(t, decision)
	retire := func(id string) output {
		return c.run("entry", "retire", id, "--because", "the service "+turn+" was switched off", "--project", c.project)
	}
	o := retire(short(before.ID))
	require.Zero(t, o.code, o)
	requireHarmless(t, o)
	require.Contains(t, o.out, short(before.ID)+": ")
	after := c.entryOf(t, decision)
	require.Equal(t, schema.StatusDeprecated, after.Status)
	require.Equal(t, "the service "+turn+" was switched off", after.EndedBecause)
	require.NotEmpty(t, after.EndedBy)
	require.False(t, after.EndedAt.IsZero())
	for _, h := range decode[retrieve.Result](t, c.run("search", "event log", "--project", c.project, "-o", "json")).Hits {
		require.NotEqual(t, schema.StatusActive, h.Status, "it is not found as what is believed")
	}

	o = c.run("entry", "restore", before.ID, "--because", "it runs again", "--project", c.project)
	require.Zero(t, o.code, o)
	restored := c.entryOf(t, decision)
	require.Equal(t, schema.StatusActive, restored.Status)
	require.Equal(t, before.Stage, restored.Stage)
	require.Empty(t, restored.EndedBecause)
	require.Contains(t, c.run("search", "event log", "--project", c.project).out, decision)
	require.Equal(t, exitUsage, retire("0000ffff").code)
	require.Equal(t, exitUsage, c.run("entry", "retire", before.ID, "--because", "x", "--project", "another").code, "I10")
}

// A decision rests only on verified memories and is shown with their quotes. It is in question once one of them is no longer
// believed.
func TestDecisionIsRecorded(t *testing.T) {
	t.Parallel()
	c := newCLI(t)
	c.work(t, "--model-provider", "openai", "--model", "m", "--model-url", answering(t, map[string]string{
		"We ship on Tuesdays.":                   "We ship on Tuesdays.",
		"Never ship on the day before a holiday": "ship on the day before a holiday",
	}))
	require.Zero(t, c.process(write(t, "s.jsonl", said(1, "user", "We ship on Tuesdays. Never ship on the day before a holiday.")), "--session", "releases").code)
	proven, found := c.entryOf(t, "We ship on Tuesdays."), c.entryOf(t, "Never ship on the day before a holiday")
	require.Equal(t, schema.StageVerified, proven.Stage)
	record := func(grounds ...string) output {
		args := []string{"decisions", "record", "Freeze the " + turn + " branch on Mondays", "--confidence", "0.8", "--project", c.project}
		for _, id := range grounds {
			args = append(args, "--because-of", id)
		}
		return c.run(args...)
	}
	refused := record(short(proven.ID), short(found.ID))
	require.Equal(t, exitUsage, refused.code, refused)
	require.Contains(t, refused.err, found.ID)
	require.Contains(t, refused.err, string(found.Stage))
	requireHarmless(t, refused)

	o := record(short(proven.ID))
	require.Zero(t, o.code, o)
	requireHarmless(t, o)
	decisions := decode[[]graduate.Decision](t, c.run("decisions", "--project", c.project, "-o", "json"))
	var recorded graduate.Decision
	for _, d := range decisions {
		if strings.HasPrefix(d.Action, "Freeze ") {
			recorded = d
		}
	}
	require.Len(t, recorded.Evidence, 1)
	require.Equal(t, proven.ID, recorded.Evidence[0].EntryID)
	require.InDelta(t, 0.8, *recorded.Confidence, 1e-9)
	require.Empty(t, recorded.Flagged)
	shown := c.run("decisions", "show", short(recorded.ID), "--project", c.project)
	require.Contains(t, shown.out, "Freeze the <U+202E>gnp.exe<U+202C> branch on Mondays\n\ndecision  "+recorded.ID+"\n")
	require.Contains(t, shown.out, "state     stands\n")
	require.Contains(t, shown.out, "“We ship on Tuesdays.” — session releases, message 0, ")

	require.Zero(t, c.run("entry", "retire", proven.ID, "--because", "we ship daily", "--project", c.project).code)
	require.Contains(t, c.run("decisions", "list", "--project", c.project).out, "in question")
	require.Contains(t, c.run("decisions", "show", recorded.ID, "--project", c.project).out, `entry "`+proven.ID+`" is deprecated`)
	require.Equal(t, exitUsage, record(proven.ID).code, "what is not believed is no ground")
	require.Equal(t, exitUsage, c.run("decisions", "show", recorded.ID, "--project", "another").code, "I10")
}

// A pass without work reports that, as text and as JSON.
func TestGraduateNothing(t *testing.T) {
	t.Parallel()
	c := sharedCLI(t)
	o := c.run("graduate", "--project", c.project)
	require.Zero(t, o.code, o)
	require.Equal(t, "nothing is remembered of project "+c.project+"; starter health lists the projects\n", o.out)
	require.Equal(t, o.out, c.run("conflicts", "--project", c.project).out)
	require.Zero(t, decode[graduate.PassResult](t, c.run("graduate", "--apply", "--project", c.project, "-o", "json")).Sessions)
	away := down().run("graduate")
	require.Equal(t, exitFailed, away.code, away)
	require.Contains(t, away.err, "temporal at 127.0.0.1:1")
}
