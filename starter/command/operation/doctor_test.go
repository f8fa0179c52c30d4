package operation_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/starter/command"
	"axiommind/starter/command/operation"
)

// Checks keep their order, and one with a fault is a failed check: it ends no server.
func TestTogether(t *testing.T) {
	t.Parallel()
	named := func(name string) func() []command.Check {
		return func() []command.Check { return []command.Check{{Name: name, OK: true}} }
	}
	checks := operation.Together(named("a"), func() []command.Check { panic("no answer") }, named("b"))
	require.Len(t, checks, 3)
	require.Equal(t, []string{"a", "b"}, []string{checks[0].Name, checks[2].Name})
	require.False(t, checks[1].OK)
	require.Contains(t, checks[1].Note, "no answer")
}
