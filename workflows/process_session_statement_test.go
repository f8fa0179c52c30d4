package workflows_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"

	"axiommind/activities/build"
	"axiommind/activities/llm"
	"axiommind/activities/tier"
	"axiommind/activities/transcript"
	"axiommind/schema"
)

func statementInput() schema.ProcessSessionInput {
	return schema.ProcessSessionInput{
		Project: "p", User: "u", SessionID: "s1", Messages: []schema.InlineMessage{{Role: "User", Content: "상한은 \"8\"이다."}},
		Statement: &schema.Statement{Type: schema.EntryFact, Corrects: "e1"},
	}
}

// The steps take the statement from the build, regardless of the input.
func TestProcessSessionStatement(t *testing.T) {
	t.Parallel()
	in := statementInput()
	r := newRooms()
	r.opened.Statement = in.Statement
	_, err := process(t, r, in)
	require.NoError(t, err)
	require.Equal(t, in.Statement, inputsOf[build.OpenInput](r, "OpenBuild")[0].Statement)
	require.Equal(t, in.Statement, inputsOf[transcript.IngestInput](r, "IngestSession")[0].Build.Statement)
	require.Equal(t, in.Statement, inputsOf[llm.PlanInput](r, "PlanWindows")[0].Statement)
	require.True(t, inputsOf[tier.SummaryInput](r, "PlanSummary")[0].Stated)

	r = newRooms()
	_, err = process(t, r, sessionInput())
	require.NoError(t, err)
	require.Nil(t, inputsOf[llm.PlanInput](r, "PlanWindows")[0].Statement)
	require.False(t, inputsOf[tier.SummaryInput](r, "PlanSummary")[0].Stated)
}

// An input with an invalid statement is refused before anything is done.
func TestProcessSessionRefusesStatement(t *testing.T) {
	t.Parallel()
	in := statementInput()
	in.Messages = append(in.Messages, in.Messages[0])
	r := newRooms()
	_, err := process(t, r, in)
	var application *temporal.ApplicationError
	require.ErrorAs(t, err, &application)
	require.Equal(t, schema.ErrorInvalidInput, application.Type())
	require.Contains(t, application.Message(), "one message of the role user")
	require.Empty(t, r.order())
}
