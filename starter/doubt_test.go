package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/activities/entry"
	"axiommind/activities/evidence"
	"axiommind/activities/transcript"
	"axiommind/schema"
)

func TestDoubtedEvidenceIsShownAsSuch(t *testing.T) {
	t.Parallel()
	message := schema.Message{Text: "The gateway waits 130 seconds before it closes.", Role: schema.RoleUser}
	found, aligned := evidence.Align([]schema.Message{message}, []schema.Quote{{Quote: "30 seconds before it closes"}})
	require.False(t, aligned)

	p := prove(&transcript.Logged{Messages: []schema.Message{message}}, found[0])
	require.True(t, p.Holds, p.Problem)
	var out strings.Builder
	require.NoError(t, printEntry(&out, entry.Row{}, []proof{p}))
	require.Contains(t, out.String(), "in doubt, proves nothing: the quote says “30” for “130”\n")
	require.Contains(t, out.String(), "waits 1⟦30 seconds before it closes⟧.")

	require.Equal(t, "“30 seconds before it closes” — session s, message 0, bytes 19–46, exact, in doubt: “30” for “130”",
		evidenceLine("s", found[0]))
}
