package commandtest

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"axiommind/activities/entry"
	"axiommind/activities/graduate"
	"axiommind/activities/projection"
	"axiommind/schema"
	"axiommind/starter/command/truth"
)

// Contradiction processes two contradictory sessions and returns the conflict.
func (c *CLI) Contradiction(t *testing.T) graduate.Conflict {
	t.Helper()
	for i, text := range []string{Decision, strings.Replace(Decision, "ClickHouse", "Postgres", 1)} {
		o := c.Process(Write(t, "s.jsonl", Said(10*i+1, "user", text)), "--session", strings.Repeat("later-", i)+c.Project)
		require.Zero(t, o.Code, o)
	}
	done := c.Run("graduate", "--project", c.Project)
	require.Zero(t, done.Code, done)
	conflicts := Decode[[]graduate.Conflict](t, c.Run("conflicts", "list", "--project", c.Project, "-o", "json"))
	require.Len(t, conflicts, 1)
	return conflicts[0]
}

// Propose submits an agent's proposal to change the entry.
func (c *CLI) Propose(t *testing.T, row entry.Row, change schema.Change, text, because string) string {
	t.Helper()
	id, err := truth.Propose(context.Background(), c.App(t), truth.Proposal{
		Scope: row.Scope, EntryID: row.ID, Action: string(change), Text: text, Because: because, Actor: "mcp/claude-code",
	})
	require.NoError(t, err)
	return id
}

// Proposals returns the proposals that the command lists.
func (c *CLI) Proposals(t *testing.T, flags ...string) []graduate.Proposal {
	t.Helper()
	return Decode[[]graduate.Proposal](t, c.Run(append([]string{"proposals", "--project", c.Project, "-o", "json"}, flags...)...))
}

// TwinProposals stores two proposals with a common beginning of their ids.
func TwinProposals(t *testing.T, log *projection.Store, project string, ids ...string) {
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
