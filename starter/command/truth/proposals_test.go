package truth_test

import (
	"context"
	"os/user"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/activities/entry"
	"axiommind/activities/graduate"
	"axiommind/schema"
	"axiommind/starter/command"
	"axiommind/starter/command/commandtest"
	"axiommind/starter/command/recall"
	"axiommind/starter/command/truth"
)

// A proposal changes nothing until a person accepts it, and then counts as the person's statement. After a crash between the
// two steps, accepting again completes them. All other proposals for the same entry become obsolete.
func testProposals(t *testing.T) {
	t.Parallel()
	c := commandtest.SharedCLI(t)
	require.Zero(t, c.Process(commandtest.Write(t, "s.jsonl", commandtest.Said(1, "user", commandtest.Decision)+commandtest.Said(2, "user", "We decided to draw a new logo.")+
		commandtest.Said(3, "user", "We decided to rent a larger office."))).Code)
	old, logo, office := c.EntryOf(t, commandtest.Decision), c.EntryOf(t, "We decided to draw a new logo."), c.EntryOf(t, "We decided to rent a larger office.")
	const right = "We decided to use Postgres for the \"event log\" 기록."
	hostile := "the log\nsays " + commandtest.Turn + "'; DROP TABLE events_raw; --/"
	_, err := truth.Propose(context.Background(), c.App(t), truth.Proposal{Scope: old.Scope, EntryID: old.ID, Action: "correct", Text: right, Because: commandtest.Red, Actor: "mcp/x"})
	require.ErrorContains(t, err, "because holds a control character")
	require.True(t, command.IsUsage(err))
	id := c.Propose(t, old, schema.ChangeCorrect, right, hostile)
	require.Equal(t, id, c.Propose(t, old, schema.ChangeCorrect, right, "again"))
	other := c.Propose(t, old, schema.ChangeCorrect, "We decided to use SQLite for the event log.", "it is smaller")
	retired := c.Propose(t, logo, schema.ChangeRetire, "", "it is drawn")
	kept := c.Propose(t, office, schema.ChangeRetire, "", "nobody comes")
	require.Equal(t, old.ID, c.FirstHit(t, "event log").ID)
	require.Len(t, c.Proposals(t), 4)
	require.Len(t, c.Proposals(t, "--user", old.User), 4)
	require.Empty(t, c.Proposals(t, "--user", "nobody"))
	listed := c.Run("proposals", "list", "--project", c.Project)
	commandtest.RequireHarmless(t, listed)
	for _, part := range []string{command.ShortID(id), right, "DROP TABLE", "by        mcp/claude-code on ", "to decide: starter proposals accept PROPOSAL"} {
		require.Contains(t, listed.Out, part)
	}

	p := c.Proposals(t)
	_, err = recall.CorrectEntry(context.Background(), c.App(t), c.Project, old.ID, p[3].CorrectionText())
	require.NoError(t, err)
	require.Equal(t, id, p[3].ID)
	accepted := c.Run("proposals", "accept", id[:10], retired, id, "--because", "measured", "--project", c.Project)
	require.Zero(t, accepted.Code, accepted)
	commandtest.RequireHarmless(t, accepted)
	require.Contains(t, accepted.Out, command.ShortID(id)+": accepted by cli:")
	require.Zero(t, c.Run("proposals", "accept", id, "--project", c.Project).Code)
	first := c.FirstHit(t, "event log")
	require.Equal(t, right, first.Title)
	shown := commandtest.Decode[entry.Row](t, c.Run("entry", "show", first.ID, "--project", c.Project, "-o", "json"))
	require.Equal(t, old.ID, shown.Corrects)
	require.True(t, shown.EvidenceProven)
	me, err := user.Current()
	require.NoError(t, err)
	gone := commandtest.Decode[entry.Row](t, c.Run("entry", "show", logo.ID, "--project", c.Project, "-o", "json"))
	require.Equal(t, []any{schema.StatusDeprecated, "cli:" + me.Username, "proposed by mcp/claude-code: it is drawn"},
		[]any{gone.Status, gone.EndedBy, gone.EndedBecause})

	require.Contains(t, c.Run("proposals", "--project", c.Project).Out, "overtaken: the memory is no longer believed")
	overtaken := c.Run("proposals", "accept", other, "--project", c.Project)
	require.Equal(t, command.ExitUsage, overtaken.Code, overtaken)
	require.Contains(t, overtaken.Err, "is overtaken")
	rejected := c.Run("proposals", "reject", command.ShortID(other), command.ShortID(kept), "--because", "no\u202e 아니요", "--project", c.Project)
	require.Zero(t, rejected.Code, rejected)
	commandtest.RequireHarmless(t, rejected)
	require.Empty(t, c.Proposals(t))
	states := map[string]graduate.ProposalState{}
	for _, p := range c.Proposals(t, "--all") {
		states[p.ID] = p.State
	}
	require.Equal(t, map[string]graduate.ProposalState{
		id: graduate.ProposalAccepted, retired: graduate.ProposalAccepted, other: graduate.ProposalRejected, kept: graduate.ProposalRejected,
	}, states)
	require.Equal(t, schema.StatusActive, c.EntryOf(t, office.Title).Status)
	again := c.Run("proposals", "accept", kept, "--project", c.Project)
	require.Equal(t, command.ExitUsage, again.Code, again)
	require.Contains(t, again.Err, "was rejected by cli:"+me.Username)

	policy := c.Propose(t, office, schema.ChangeCorrect, "We decided to rent a smaller office.", "fewer come")
	require.NoError(t, truth.AcceptProposal(context.Background(), c.App(t), policy, "policy/mcp"))
	require.NoError(t, truth.AcceptProposal(context.Background(), c.App(t), policy, "policy/mcp"))
	require.Equal(t, "policy/mcp", c.Proposals(t, "--all")[0].DecidedBy)
	require.Equal(t, "We decided to rent a smaller office.", c.FirstHit(t, "rent office").Title)
	for _, user := range []string{"", "bob"} {
		if user == first.User {
			continue
		}
		_, err := truth.Propose(context.Background(), c.App(t), truth.Proposal{
			Scope: schema.Scope{Project: c.Project, User: user}, EntryID: first.ID, Action: "retire", Because: "x", Actor: "mcp/x",
		})
		require.ErrorContains(t, err, "no such entry")
		require.True(t, command.IsUsage(err))
	}
	require.True(t, command.IsUsage(truth.AcceptProposal(context.Background(), c.App(t), "nothing", "policy/mcp")))
	require.Zero(t, c.Run("verify", "--project", c.Project).Code)
}
