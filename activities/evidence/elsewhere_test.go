package evidence_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/activities/evidence"
	"axiommind/schema"
)

// A quote that is verbatim a piece of one sentence proves where another sentence is all of it.
func TestProvesElsewhere(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ message, quote, text string }{
		{"Now we keep it. Keep it.", "keep it.", "Keep it."},
		{"Keep it. But now we keep it.", "keep it.", "Keep it."},
		{"They said we can’t ship on Friday. We can’t ship on Friday.", "we can’t ship on Friday.", "We can’t ship on Friday."},
		{"Мы решили: мы не платим. Мы не платим.", "мы не платим.", "Мы не платим."},
		{"Ann wrote that we **never** deploy. We **never** deploy.", "we never deploy.", "We **never** deploy."},
		{strings.Repeat("So we wait. ", 300) + "We wait.", "we wait.", "We wait."},
	} {
		e := align(c.message, c.quote)
		require.True(t, e.Proven, "%q of %q", c.quote, c.message)
		require.Equal(t, c.text, e.Text)
		require.NoError(t, evidence.Verify(c.message, e, evidence.Rule))
	}
	e := align("Now we keep it. Never keep it.", "keep it.")
	require.False(t, e.Proven)
	require.Equal(t, schema.MethodExact, e.Method)
	require.Len(t, e.Occurrences, 2)
}
