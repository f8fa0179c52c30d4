package truth_test

import (
	"os/user"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/activities/graduate"
	"axiommind/activities/retrieve"
	"axiommind/schema"
	"axiommind/starter/command"
	"axiommind/starter/command/commandtest"
)

// Two sessions that contradict each other form a conflict until a person decides which one is right. The other one is no
// longer found and stays in the history.
func TestConflictIsResolved(t *testing.T) {
	t.Parallel()
	c := commandtest.SharedCLI(t)
	conflict := c.Contradiction(t)
	require.Equal(t, commandtest.Decision, conflict.Older.Title)
	require.Equal(t, schema.StatusContested, conflict.Older.Status)
	require.Equal(t, schema.StatusContested, conflict.Newer.Status)
	listed := c.Run("conflicts", "--project", c.Project)
	require.Contains(t, listed.Out, command.ShortID(conflict.ID))
	require.Contains(t, listed.Out, "We decided to use Postgres for the event log.")
	require.Contains(t, listed.Out, "to resolve one: starter conflicts resolve CONFLICT ")
	shown := c.Run("conflicts", "show", command.ShortID(conflict.ID), "--project", c.Project)
	require.Contains(t, shown.Out, "“"+commandtest.Decision+"” — session "+c.Project+", message 0, ")
	require.Contains(t, shown.Out, "“We decided to use Postgres for the event log.” — session later-"+c.Project+", message 0, ")

	other := c.Run("conflicts", "resolve", conflict.ID, "--keep", "0000ffff", "--project", c.Project)
	require.Equal(t, command.ExitUsage, other.Code, other)
	require.Contains(t, other.Err, "0000ffff")
	elsewhere := c.Run("conflicts", "show", conflict.ID, "--project", "another")
	require.Equal(t, command.ExitUsage, elsewhere.Code, "I10: no conflict of another project is shown")

	resolved := c.Run("conflicts", "resolve", command.ShortID(conflict.ID), "--keep", command.ShortID(conflict.Newer.EntryID), "--because", "measured\nagain", "--project", c.Project)
	require.Zero(t, resolved.Code, resolved)
	require.NotContains(t, resolved.Out, "nothing to change")
	found := commandtest.Decode[retrieve.Result](t, c.Run("search", "which", "event", "log?", "--project", c.Project, "--superseded", "-o", "json"))
	require.GreaterOrEqual(t, len(found.Hits), 2)
	require.Equal(t, conflict.Newer.EntryID, found.Hits[0].ID, "the one that was kept comes first")
	require.Equal(t, schema.StatusActive, found.Hits[0].Status)
	require.Equal(t, schema.StatusSuperseded, found.Hits[1].Status)
	require.Equal(t, conflict.Newer.EntryID, found.Hits[1].SupersededBy)
	require.NotContains(t, c.Run("search", "event log", "--project", c.Project).Out, ". "+commandtest.Decision)
	require.Contains(t, c.Run("conflicts", "--project", c.Project).Out, "nothing contradicts anything in project "+c.Project+"; --all includes resolved conflicts")
	all := commandtest.Decode[[]graduate.Conflict](t, c.Run("conflicts", "--all", "--project", c.Project, "-o", "json"))
	require.Len(t, all, 1)
	require.Equal(t, conflict.Newer.EntryID, all[0].Kept)
	me, err := user.Current()
	require.NoError(t, err)
	require.Equal(t, "cli:"+me.Username, all[0].ResolvedBy)
	require.Contains(t, c.Run("conflicts", "--all", "--project", c.Project).Out, command.ShortID(conflict.Newer.EntryID)+" is right")
	none := c.Run("conflicts", "resolve", "--keep", conflict.Newer.EntryID, "--project", c.Project)
	require.Equal(t, command.ExitUsage, none.Code, none)
	require.Contains(t, none.Err, "no open conflict has entry")
	require.Zero(t, c.Run("verify", "--project", c.Project).Code)
}

// Two statements that a person declared compatible are not reported as a conflict again.
func TestConflictOfNone(t *testing.T) {
	t.Parallel()
	c := commandtest.SharedCLI(t)
	conflict := c.Contradiction(t)
	o := c.Run("conflicts", "resolve", conflict.ID, "--keep", "both", "--because", "one is a mirror", "--project", c.Project)
	require.Zero(t, o.Code, o)
	again := c.Run("graduate", "--project", c.Project)
	require.Zero(t, again.Code, again)
	require.Empty(t, commandtest.Decode[[]graduate.Conflict](t, c.Run("conflicts", "--project", c.Project, "-o", "json")))
	for _, side := range []graduate.Side{conflict.Older, conflict.Newer} {
		require.Equal(t, schema.StatusActive, c.EntryOf(t, side.Title).Status)
	}
}

// A person confirms an entry whose quote was only found: the whole sentence becomes its evidence, and it is certified. An
// entry whose quote is not in the session can't be confirmed.
func TestFoundEntryIsConfirmed(t *testing.T) {
	t.Parallel()
	c := commandtest.NewCLI(t)
	c.Work(t, "--model-provider", "openai", "--model", "m", "--model-url", commandtest.Answering(t, map[string]string{
		"Never ship on the day before a holiday": "ship on the day before a holiday",
		"Review before shipping":                 "nobody has ever said this",
	}))
	o := c.Process(commandtest.Write(t, "s.jsonl", commandtest.Said(1, "user", "We ship on Tuesdays. Never ship on the day before a holiday.")), "--session", "releases")
	require.Zero(t, o.Code, o)
	found, unsaid := c.EntryOf(t, "Never ship on the day before a holiday"), c.EntryOf(t, "Review before shipping")
	require.True(t, found.EvidenceAligned)
	require.False(t, found.EvidenceProven)

	refused := c.Run("entry", "confirm", command.ShortID(unsaid.ID), "--project", c.Project)
	require.Equal(t, command.ExitUsage, refused.Code, refused)
	require.Contains(t, refused.Err, unsaid.ID)
	require.Equal(t, command.ExitUsage, c.Run("entry", "confirm", command.ShortID(found.ID), unsaid.ID, "--project", c.Project).Code, "all or none")
	require.Equal(t, found.Stage, c.EntryOf(t, found.Title).Stage)

	o = c.Run("entry", "confirm", command.ShortID(found.ID), found.ID, "--project", c.Project)
	require.Zero(t, o.Code, o)
	require.Contains(t, o.Out, command.ShortID(found.ID)+": certified")
	confirmed := c.EntryOf(t, found.Title)
	require.Equal(t, schema.StageCertified, confirmed.Stage)
	require.True(t, confirmed.EvidenceProven)
	require.Equal(t, "Never ship on the day before a holiday.", confirmed.Evidence[0].Text)
	hits := commandtest.Decode[retrieve.Result](t, c.Run("search", "holiday", "--stage", "certified", "--project", c.Project, "-o", "json")).Hits
	require.Len(t, hits, 1)
	require.Equal(t, found.ID, hits[0].ID)
	verified := c.Run("verify", "--project", c.Project)
	require.Zero(t, verified.Code, verified)
}

// A retired entry is no longer found as believed. It shows when, why and by whom it was retired, and can be restored
// unchanged.
func TestEntryIsRetiredAndRestored(t *testing.T) {
	t.Parallel()
	c := commandtest.SharedCLI(t)
	require.Zero(t, c.Process(commandtest.Write(t, "s.jsonl", commandtest.Said(1, "user", commandtest.Decision)), "--session", "retired").Code)
	before := c.EntryOf(t, commandtest.Decision)
	retire := func(id string) commandtest.Output {
		return c.Run("entry", "retire", id, "--because", "the service "+commandtest.Turn+" was switched off", "--project", c.Project)
	}
	o := retire(command.ShortID(before.ID))
	require.Zero(t, o.Code, o)
	commandtest.RequireHarmless(t, o)
	require.Contains(t, o.Out, command.ShortID(before.ID)+": ")
	after := c.EntryOf(t, commandtest.Decision)
	require.Equal(t, schema.StatusDeprecated, after.Status)
	require.Equal(t, "the service "+commandtest.Turn+" was switched off", after.EndedBecause)
	require.NotEmpty(t, after.EndedBy)
	require.False(t, after.EndedAt.IsZero())
	for _, h := range commandtest.Decode[retrieve.Result](t, c.Run("search", "event log", "--project", c.Project, "-o", "json")).Hits {
		require.NotEqual(t, schema.StatusActive, h.Status, "it is not found as what is believed")
	}

	o = c.Run("entry", "restore", before.ID, "--because", "it runs again", "--project", c.Project)
	require.Zero(t, o.Code, o)
	restored := c.EntryOf(t, commandtest.Decision)
	require.Equal(t, schema.StatusActive, restored.Status)
	require.Equal(t, before.Stage, restored.Stage)
	require.Empty(t, restored.EndedBecause)
	require.Contains(t, c.Run("search", "event log", "--project", c.Project).Out, commandtest.Decision)
	require.Equal(t, command.ExitUsage, retire("0000ffff").Code)
	require.Equal(t, command.ExitUsage, c.Run("entry", "retire", before.ID, "--because", "x", "--project", "another").Code, "I10")
}

// A decision rests only on verified memories and is shown with their quotes. It is in question once one of them is no longer
// believed.
func TestDecisionIsRecorded(t *testing.T) {
	t.Parallel()
	c := commandtest.NewCLI(t)
	c.Work(t, "--model-provider", "openai", "--model", "m", "--model-url", commandtest.Answering(t, map[string]string{
		"We ship on Tuesdays.":                   "We ship on Tuesdays.",
		"Never ship on the day before a holiday": "ship on the day before a holiday",
	}))
	require.Zero(t, c.Process(commandtest.Write(t, "s.jsonl", commandtest.Said(1, "user", "We ship on Tuesdays. Never ship on the day before a holiday.")), "--session", "releases").Code)
	proven, found := c.EntryOf(t, "We ship on Tuesdays."), c.EntryOf(t, "Never ship on the day before a holiday")
	require.Equal(t, schema.StageVerified, proven.Stage)
	record := func(grounds ...string) commandtest.Output {
		args := []string{"decisions", "record", "Freeze the " + commandtest.Turn + " branch on Mondays", "--confidence", "0.8", "--project", c.Project}
		for _, id := range grounds {
			args = append(args, "--because-of", id)
		}
		return c.Run(args...)
	}
	refused := record(command.ShortID(proven.ID), command.ShortID(found.ID))
	require.Equal(t, command.ExitUsage, refused.Code, refused)
	require.Contains(t, refused.Err, found.ID)
	require.Contains(t, refused.Err, string(found.Stage))
	commandtest.RequireHarmless(t, refused)

	o := record(command.ShortID(proven.ID))
	require.Zero(t, o.Code, o)
	commandtest.RequireHarmless(t, o)
	decisions := commandtest.Decode[[]graduate.Decision](t, c.Run("decisions", "--project", c.Project, "-o", "json"))
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
	shown := c.Run("decisions", "show", command.ShortID(recorded.ID), "--project", c.Project)
	require.Contains(t, shown.Out, "Freeze the <U+202E>gnp.exe<U+202C> branch on Mondays\n\ndecision  "+recorded.ID+"\n")
	require.Contains(t, shown.Out, "state     stands\n")
	require.Contains(t, shown.Out, "“We ship on Tuesdays.” — session releases, message 0, ")

	require.Zero(t, c.Run("entry", "retire", proven.ID, "--because", "we ship daily", "--project", c.Project).Code)
	require.Contains(t, c.Run("decisions", "list", "--project", c.Project).Out, "in question")
	require.Contains(t, c.Run("decisions", "show", recorded.ID, "--project", c.Project).Out, `entry "`+proven.ID+`" is deprecated`)
	require.Equal(t, command.ExitUsage, record(proven.ID).Code, "what is not believed is no ground")
	require.Equal(t, command.ExitUsage, c.Run("decisions", "show", recorded.ID, "--project", "another").Code, "I10")
}

// A pass without work reports that, as text and as JSON.
func TestGraduateNothing(t *testing.T) {
	t.Parallel()
	c := commandtest.SharedCLI(t)
	o := c.Run("graduate", "--project", c.Project)
	require.Zero(t, o.Code, o)
	require.Equal(t, "nothing is remembered of project "+c.Project+"; starter health lists the projects\n", o.Out)
	require.Equal(t, o.Out, c.Run("conflicts", "--project", c.Project).Out)
	require.Zero(t, commandtest.Decode[graduate.PassResult](t, c.Run("graduate", "--apply", "--project", c.Project, "-o", "json")).Sessions)
	away := commandtest.Down().Run("graduate")
	require.Equal(t, command.ExitFailed, away.Code, away)
	require.Contains(t, away.Err, "temporal at 127.0.0.1:1")
}
