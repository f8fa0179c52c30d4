package main

import (
	"context"
	"io"
	"os/user"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"axiommind/activities/entry"
	"axiommind/activities/eventlog"
	"axiommind/activities/graduate"
	"axiommind/schema"
)

// app returns starter as a server program has it: with its settings loaded.
func (c *cli) app(t *testing.T) *app {
	t.Helper()
	return &app{in: strings.NewReader(""), out: io.Discard, errOut: io.Discard, exact: io.Discard, drawn: io.Discard, output: outputText,
		getenv: func(name string) string { return c.env[name] }, cfg: c.config(t)}
}

// propose submits an agent's proposal to change the entry.
func (c *cli) propose(t *testing.T, row entry.Row, change schema.Change, text, because string) string {
	t.Helper()
	id, err := c.app(t).propose(context.Background(), proposal{
		Scope: row.Scope, EntryID: row.ID, Action: string(change), Text: text, Because: because, Actor: "mcp/claude-code",
	})
	require.NoError(t, err)
	return id
}

// proposals returns the proposals that the command lists.
func (c *cli) proposals(t *testing.T, flags ...string) []graduate.Proposal {
	t.Helper()
	return decode[[]graduate.Proposal](t, c.run(append([]string{"proposals", "--project", c.project, "-o", "json"}, flags...)...))
}

// A proposal changes nothing until a person accepts it, and then counts as the person's statement. After a crash between the
// two steps, accepting again completes them. All other proposals for the same entry become obsolete.
func testProposals(t *testing.T) {
	t.Parallel()
	c := sharedCLI(t)
	require.Zero(t, c.process(write(t, "s.jsonl", said(1, "user", decision)+said(2, "user", "We decided to draw a new logo.")+
		said(3, "user", "We decided to rent a larger office."))).code)
	old, logo, office := c.entryOf(t, decision), c.entryOf(t, "We decided to draw a new logo."), c.entryOf(t, "We decided to rent a larger office.")
	const right = "We decided to use Postgres for the \"event log\" 기록."
	hostile := "the log\nsays " + turn + "'; DROP TABLE events_raw; --/"
	_, err := c.app(t).propose(context.Background(), proposal{Scope: old.Scope, EntryID: old.ID, Action: "correct", Text: right, Because: red, Actor: "mcp/x"})
	require.ErrorContains(t, err, "because holds a control character")
	require.True(t, isUsage(err))
	id := c.propose(t, old, schema.ChangeCorrect, right, hostile)
	require.Equal(t, id, c.propose(t, old, schema.ChangeCorrect, right, "again"))
	other := c.propose(t, old, schema.ChangeCorrect, "We decided to use SQLite for the event log.", "it is smaller")
	retired := c.propose(t, logo, schema.ChangeRetire, "", "it is drawn")
	kept := c.propose(t, office, schema.ChangeRetire, "", "nobody comes")
	require.Equal(t, old.ID, c.firstHit(t, "event log").ID)
	require.Len(t, c.proposals(t), 4)
	require.Len(t, c.proposals(t, "--user", old.User), 4)
	require.Empty(t, c.proposals(t, "--user", "nobody"))
	listed := c.run("proposals", "list", "--project", c.project)
	requireHarmless(t, listed)
	for _, part := range []string{short(id), right, "DROP TABLE", "by        mcp/claude-code on ", "to decide: starter proposals accept PROPOSAL"} {
		require.Contains(t, listed.out, part)
	}

	p := c.proposals(t)
	_, err = c.app(t).correctEntry(context.Background(), c.project, old.ID, p[3].CorrectionText())
	require.NoError(t, err)
	require.Equal(t, id, p[3].ID)
	accepted := c.run("proposals", "accept", id[:10], retired, id, "--because", "measured", "--project", c.project)
	require.Zero(t, accepted.code, accepted)
	requireHarmless(t, accepted)
	require.Contains(t, accepted.out, short(id)+": accepted by cli:")
	require.Zero(t, c.run("proposals", "accept", id, "--project", c.project).code)
	first := c.firstHit(t, "event log")
	require.Equal(t, right, first.Title)
	shown := decode[entry.Row](t, c.run("entry", "show", first.ID, "--project", c.project, "-o", "json"))
	require.Equal(t, old.ID, shown.Corrects)
	require.True(t, shown.EvidenceProven)
	me, err := user.Current()
	require.NoError(t, err)
	gone := decode[entry.Row](t, c.run("entry", "show", logo.ID, "--project", c.project, "-o", "json"))
	require.Equal(t, []any{schema.StatusDeprecated, "cli:" + me.Username, "proposed by mcp/claude-code: it is drawn"},
		[]any{gone.Status, gone.EndedBy, gone.EndedBecause})

	require.Contains(t, c.run("proposals", "--project", c.project).out, "overtaken: the memory is no longer believed")
	overtaken := c.run("proposals", "accept", other, "--project", c.project)
	require.Equal(t, exitUsage, overtaken.code, overtaken)
	require.Contains(t, overtaken.err, "is overtaken")
	rejected := c.run("proposals", "reject", short(other), short(kept), "--because", "no\u202e 아니요", "--project", c.project)
	require.Zero(t, rejected.code, rejected)
	requireHarmless(t, rejected)
	require.Empty(t, c.proposals(t))
	states := map[string]graduate.ProposalState{}
	for _, p := range c.proposals(t, "--all") {
		states[p.ID] = p.State
	}
	require.Equal(t, map[string]graduate.ProposalState{
		id: graduate.ProposalAccepted, retired: graduate.ProposalAccepted, other: graduate.ProposalRejected, kept: graduate.ProposalRejected,
	}, states)
	require.Equal(t, schema.StatusActive, c.entryOf(t, office.Title).Status)
	again := c.run("proposals", "accept", kept, "--project", c.project)
	require.Equal(t, exitUsage, again.code, again)
	require.Contains(t, again.err, "was rejected by cli:"+me.Username)

	policy := c.propose(t, office, schema.ChangeCorrect, "We decided to rent a smaller office.", "fewer come")
	require.NoError(t, c.app(t).acceptProposal(context.Background(), policy, "policy/mcp"))
	require.NoError(t, c.app(t).acceptProposal(context.Background(), policy, "policy/mcp"))
	require.Equal(t, "policy/mcp", c.proposals(t, "--all")[0].DecidedBy)
	require.Equal(t, "We decided to rent a smaller office.", c.firstHit(t, "rent office").Title)
	for _, user := range []string{"", "bob"} {
		if user == first.User {
			continue
		}
		_, err := c.app(t).propose(context.Background(), proposal{
			Scope: schema.Scope{Project: c.project, User: user}, EntryID: first.ID, Action: "retire", Because: "x", Actor: "mcp/x",
		})
		require.ErrorContains(t, err, "no such entry")
		require.True(t, isUsage(err))
	}
	require.True(t, isUsage(c.app(t).acceptProposal(context.Background(), "nothing", "policy/mcp")))
	require.Zero(t, c.run("verify", "--project", c.project).code)
}

// twinProposals stores two proposals with a common beginning of their ids.
func twinProposals(t *testing.T, log *eventlog.Store, project string, ids ...string) {
	t.Helper()
	events := make([]schema.Event, len(ids))
	for i, id := range ids {
		event, err := schema.NewEvent(schema.ChangeProposedPayload{
			Scope: schema.Scope{Project: project}, ProposalID: id, EntryID: "e", Change: schema.ChangeRetire, Because: "x", By: "mcp/x",
		}, schema.Event{TS: time.Now(), Actor: "mcp/x", Project: project, DedupeKey: schema.ChangeProposedKey(project + id)})
		require.NoError(t, err)
		events[i] = event
	}
	_, err := log.Append(t.Context(), schema.GraduateStream(project), events)
	require.NoError(t, err)
}
