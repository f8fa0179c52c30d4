package command

import (
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/schema"
)

func TestEmptyText(t *testing.T) {
	t.Parallel()
	of := func(names ...string) (scopes []schema.Scope) {
		for _, name := range names {
			scopes = append(scopes, schema.Scope{Project: name})
		}
		return scopes
	}
	require.Empty(t, emptyText("default", nil))
	require.Empty(t, emptyText("default", of("default", "shop")))
	require.Equal(t, "nothing found: project default is empty; there are: demo, shop (--project, or AXIOMMIND_PROJECT)",
		emptyText("default", of("shop", "demo", "demo")))
}
