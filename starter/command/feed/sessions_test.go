package feed_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/activities/build"
	"axiommind/activities/text"
	"axiommind/activities/tier"
	"axiommind/deploy/local/sharedtest"
	"axiommind/schema"
	"axiommind/starter/command"
	"axiommind/starter/command/commandtest"
	"axiommind/starter/command/feed"
	"axiommind/starter/command/show"
)

// An active session shows its messages, their tokens and a preliminary summary: of queued contexts, of processed messages,
// and of later ones.
func TestSessionGoingOn(t *testing.T) {
	t.Parallel()
	path := sharedtest.Data.Path(t, "agentwork", "sessions", "06146581-7fd6-4c8f-90ba-de7fd0d74ae1.json")
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	var messages []struct{ Role, Content string }
	require.NoError(t, json.Unmarshal(data, &messages))
	require.Greater(t, len(messages), 2)
	tokens := 0
	for _, m := range messages {
		tokens += text.EstimateTokens(m.Content)
	}

	c := commandtest.SharedCLI(t)
	session, user := `going "on"/`+commandtest.Turn, "ann of "+c.Project
	run := func(in string, args ...string) string {
		t.Helper()
		o := c.Feed(in, append(args, "--user", user, "--project", c.Project)...)
		require.Equal(t, command.ExitOK, o.Code, "%q: %s", args, o)
		commandtest.RequireHarmless(t, o)
		return o.Out
	}
	shown := func() tier.RunningSession {
		t.Helper()
		return commandtest.Decode[tier.RunningSession](t, commandtest.Output{Out: run("", "session", "show", session, "-o", "json")})
	}
	wait := []string{"--session", session, "--debounce", "1h", "--max-wait", "2h"}
	say := func(id, content string) {
		t.Helper()
		line, err := json.Marshal(map[string]string{"role": "user", "id": id, "content": content})
		require.NoError(t, err)
		run(string(line)+"\n", append([]string{"enqueue", "-", "--messages"}, wait...)...)
	}

	require.Equal(t, command.ExitUsage, c.Run("session", "show", session, "--user", user, "--project", c.Project).Code, "it is unknown")
	run("", append([]string{"enqueue", path}, wait...)...)
	commandtest.Eventually(t, func() bool {
		return c.Run("session", "show", session, "--user", user, "--project", c.Project).Code == command.ExitOK
	})
	before := shown()
	require.Equal(t, 1, before.PendingTranscripts)
	require.Zero(t, before.Messages)

	run("", "queue", "flush")
	read := shown()
	require.GreaterOrEqual(t, read.Messages, len(messages))
	require.Equal(t, read.Messages, read.Flushed)
	require.InDelta(t, tokens, read.Tokens, float64(tokens)/10)
	require.Contains(t, read.Summary, "- User: ")

	say("m1", "We decided to keep the parser in one file.")
	say("m1", "We decided to keep the parser in one file.")
	commandtest.Eventually(t, func() bool { return shown().Pending > 0 })
	now := shown()
	require.Equal(t, 1, now.Pending, "a message that was enqueued twice is one")
	require.Equal(t, read.Messages+1, now.Messages)
	require.Equal(t, read.Tokens+text.EstimateTokens("We decided to keep the parser in one file."), now.Tokens)
	require.Equal(t, read.Summary+"\n- User: We decided to keep the parser in one file.", now.Summary)
	told := run("", "session", "show", session)
	for _, part := range []string{show.SizeOf(now.Total), "1 message waits in the queue", "summary so far", "keep the parser in one file."} {
		require.Contains(t, told, part)
	}

	rows := commandtest.Decode[[]build.SessionRow](t, commandtest.Output{Out: run("", "sessions", "-o", "json")})
	require.Len(t, rows, 1)
	require.Equal(t, session, rows[0].SessionID)
	require.Equal(t, read.Total, rows[0].Total)
	require.Contains(t, []schema.BuildStatus{schema.BuildSuccess, schema.BuildEmpty}, rows[0].Status)
	require.Contains(t, run("", "sessions"), "TOKENS (EST.)")
	of := func(status schema.BuildStatus) int {
		return len(commandtest.Decode[[]build.SessionRow](t, commandtest.Output{Out: run("", "sessions", "--status", string(status), "-o", "json")}))
	}
	require.Equal(t, [2]int{1, 0}, [2]int{of(rows[0].Status), of(schema.BuildFailed)})
	run("", "queue", "flush")
	require.Equal(t, now.Total, shown().Total)
	readSessionMarked(t, run, session, len(messages))
}

// readSessionMarked reads the processed messages of the session with their marks.
func readSessionMarked(t *testing.T, run func(in string, args ...string) string, session string, messages int) {
	t.Helper()
	read := func(args ...string) []feed.ReadMessage {
		t.Helper()
		return commandtest.Decode[[]feed.ReadMessage](t, commandtest.Output{Out: run("", append([]string{"session", "read", session, "-o", "json"}, args...)...)})
	}
	all := read("--tools", "--limit", "1000")
	require.GreaterOrEqual(t, len(all), messages)
	require.Less(t, len(read("--limit", "1000")), len(all), "tools are left out")
	proven := read("--proven")
	require.NotEmpty(t, proven)
	for _, m := range proven {
		require.Equal(t, all[m.Index], m)
		for _, of := range m.Memories {
			require.NotEmpty(t, of.Spans)
			if text := m.Text[of.Spans[0].ByteStart:of.Spans[0].ByteEnd]; of.Proven {
				require.NotEmpty(t, strings.TrimSpace(text))
			}
		}
	}
	last := proven[len(proven)-1]
	require.Equal(t, []feed.ReadMessage{last}, read("--from", fmt.Sprint(last.Index), "--proven"))
	require.Equal(t, all[2:4], read("--tools", "--limit", "2", "--offset", "2"))
	span := last.Memories[0].Spans[0]
	require.Contains(t, strings.ReplaceAll(run("", "session", "read", session, "--proven", "--from", fmt.Sprint(last.Index)), "\n  │ ", "\n"),
		"⟦"+last.Text[span.ByteStart:span.ByteEnd][:10])
}
