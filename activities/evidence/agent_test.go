package evidence_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/activities/evidence"
	"axiommind/schema"
)

// An agent's statement is found word for word, names the agent, and proves nothing. Evidence that names
// another agent, or the user, is false.
func TestAgentsStatementProvesNothing(t *testing.T) {
	t.Parallel()
	m := schema.Message{Role: schema.RoleAssistant, Kind: schema.KindStatement, Author: "mcp:claude/\"名\"", Text: "The user likes tea."}
	pieces, aligned := evidence.NewAligner([]schema.Message{m}, func(int) string { return "e" }).AlignEntry([]schema.Quote{{Quote: m.Text}})
	require.True(t, aligned)
	e := pieces[0]
	require.False(t, e.Proven)
	require.Equal(t, schema.TrustAgent, e.Trust)
	require.Equal(t, m.Author, schema.SaidByAgent(pieces))
	require.NoError(t, evidence.VerifyMessage(m, e, evidence.Rule))
	for _, forge := range []func(*schema.Evidence){
		func(e *schema.Evidence) { e.By = "mcp:x" },
		func(e *schema.Evidence) { e.By = "" },
		func(e *schema.Evidence) { e.Trust, e.Proven, e.By = schema.TrustUser, true, "" },
	} {
		forged := e
		forge(&forged)
		require.ErrorIs(t, evidence.VerifyMessage(m, forged, evidence.Rule), evidence.ErrFalse)
	}
}
