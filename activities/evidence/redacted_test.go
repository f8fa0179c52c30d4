package evidence_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/schema"
)

// A quote across a placeholder never proves, and the adjacent sentences do. (I5, I9)
func TestRedactedQuoteNeverProves(t *testing.T) {
	t.Parallel()
	spoken := "The deploy key is " + schema.Redacted("github-pat") + ". We ship on Friday.\n" + schema.Redacted("private")
	for quote, proves := range map[string]bool{
		"We ship on Friday.": true,
		"The deploy key is " + schema.Redacted("github-pat") + ".":                    false,
		"The deploy key is " + schema.Redacted("github-pat") + ". We ship on Friday.": false,
		schema.Redacted("private"): false,
		spoken:                     false,
	} {
		e := align(spoken, quote)
		require.True(t, e.Found, quote)
		require.Equal(t, proves, e.Proven, quote)
	}
}
