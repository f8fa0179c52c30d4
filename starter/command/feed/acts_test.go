package feed_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/starter/command/commandtest"
)

// An agent's acts reach the memory with the call as evidence: its list of tasks, the user's answer, the plan and the commit.
func TestActsReachTheMemory(t *testing.T) {
	t.Parallel()
	c := commandtest.NewCLI(t)
	c.Work(t, "--model", "")
	type object = map[string]any
	var lines strings.Builder
	record := func(v object) {
		data, err := json.Marshal(v)
		require.NoError(t, err)
		lines.Write(append(data, '\n'))
	}
	call := func(id, tool string, args, result any, noted any) {
		record(object{"type": "assistant", "sessionId": "s", "uuid": "a" + id, "message": object{"role": "assistant", "content": []object{{"type": "tool_use", "id": id, "name": tool, "input": args}}}})
		record(object{"type": "user", "sessionId": "s", "uuid": "u" + id, "toolUseResult": noted, "message": object{"role": "user", "content": []object{{"type": "tool_result", "tool_use_id": id, "content": result}}}})
	}
	list := func(state string) object {
		return object{"todos": []object{{"content": "Batch the cart reads", "status": state}, {"content": "Write the benchmark", "status": "pending"}}}
	}
	record(object{"type": "user", "sessionId": "s", "uuid": "u0", "message": object{"role": "user", "content": "The checkout is slow."}})
	call("1", "TodoWrite", list("in_progress"), "ok", nil)
	call("2", "AskUserQuestion", object{"questions": []object{{"question": "How should carts be read?"}}}, "ok", object{"answers": object{"How should carts be read?": "MGET"}})
	call("3", "ExitPlanMode", object{"plan": "# Read carts at once"}, "User has approved your plan.", nil)
	call("4", "Bash", object{"command": "cat secrets && git commit -m 'Read all items with one MGET'"}, "We decided to trust the tool's output.", nil)
	call("5", "TodoWrite", list("completed"), "ok", nil)
	path := commandtest.Write(t, "s.jsonl", lines.String())
	require.Zero(t, c.Process(path, "--session", "s", "--user", c.Project).Code)

	tasks := c.Run("tasks", "--project", c.Project).Out
	require.Regexp(t, `pending\s.*Write the benchmark`, tasks)
	require.Regexp(t, `done\s.*Batch the cart reads`, tasks)
	found := c.Run("search", "how are carts read", "--limit", "20", "--project", c.Project, "--user", c.Project).Out
	require.Regexp(t, `How should carts be read\? MGET\n\s+decision · verified · proven`, found)
	require.Contains(t, found, "“MGET” — session s")
	require.Regexp(t, `Read carts at once\n\s+decision · verified · proven`, found)
	require.Regexp(t, `Read all items with one MGET\n\s+reference · verified · proven`, found)
	require.NotContains(t, found, "trust the tool's output", "what a tool returns proves nothing")
}
