package serve_test

import (
	"context"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/starter/command"
	"axiommind/starter/command/program"
)

// A call leaves nothing behind: not its commands, its input or its answer.
func TestCallsLeaveNoMemory(t *testing.T) {
	a := &command.App{Out: io.Discard, ErrOut: io.Discard, Getenv: func(string) string { return "" }, Groups: program.Groups()}
	a.Tree()
	call := func() {
		_, err := a.Call(context.Background(), command.Call{
			Path: "enqueue", Args: []string{"-"}, Flags: map[string][]string{"messages": {"true"}, "session": {"s"}}, Input: strings.NewReader(strings.Repeat("x", 100<<10)),
		})
		require.Error(t, err)
	}
	heap := func() uint64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	call()
	before := heap()
	const calls = 200
	for range calls {
		call()
	}
	require.Less(t, heap(), before+calls*10<<10, "a call has 100 KiB of input")
}

// A call runs a command as a command line does, with the errors of its flags and arguments.
func TestCall(t *testing.T) {
	t.Parallel()
	a := &command.App{Out: io.Discard, ErrOut: io.Discard, Getenv: func(string) string { return "" }, Groups: program.Groups()}
	a.Tree()
	for says, c := range map[string]command.Call{
		`there is no command "none"`:                        {Path: "none"},
		"there is no flag --none":                           {Path: "tasks", Flags: map[string][]string{"none": {"x"}}},
		"--limit: want one value":                           {Path: "tasks", Flags: map[string][]string{"limit": {"1", "2"}}},
		`--limit "x": want a whole number`:                  {Path: "tasks", Flags: map[string][]string{"limit": {"x"}}},
		"--limit 0: want 1 to":                              {Path: "tasks", Flags: map[string][]string{"limit": {"0"}}},
		"task show takes 1 argument, not 2":                 {Path: "task show", Args: []string{"a", "b"}},
		`--project "a\x00" holds a control character`:       {Path: "tasks", Flags: map[string][]string{"project": {"a\x00"}}},
		`--confidence "much": want a number`:                {Path: "facts add", Args: []string{"x"}, Flags: map[string][]string{"confidence": {"much"}}},
		"give one of --status, --only-suggested":            {Path: "tasks", Flags: map[string][]string{"status": {"done"}, "placeholder": {"true"}}},
		`--kind "a,entry": want one of entry`:               {Path: "search", Args: []string{"x"}, Flags: map[string][]string{"kind": {"a,entry"}}},
		"argument 1, \"a\\x1b\", holds a control character": {Path: "task show", Args: []string{"a\x1b"}},
	} {
		_, err := a.Call(t.Context(), c)
		require.ErrorContains(t, err, says)
	}
}
