package schema

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// An empty list of messages differs from none, and must arrive as such in a child workflow.
func TestNoMessagesAreMessages(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`{"messages":[],"project":"p"}`, `{"project":"p"}`} {
		var in ProcessSessionInput
		require.NoError(t, json.Unmarshal([]byte(text), &in))
		out, err := json.Marshal(in)
		require.NoError(t, err)
		require.JSONEq(t, text, string(out))
	}
}
