package builds_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/activities/build"
	"axiommind/schema"
	"axiommind/starter/command"
	"axiommind/starter/command/builds"
	"axiommind/starter/command/commandtest"
)

// A build shows its step until the model has answered, and its counts once it has ended.
func TestShowRunningBuild(t *testing.T) {
	t.Parallel()
	answer := make(chan struct{})
	gemini := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-answer:
		case <-r.Context().Done():
		}
		w.WriteHeader(http.StatusUnauthorized)
	}))
	defer gemini.Close()
	release := sync.OnceFunc(func() { close(answer) })
	defer release()
	c := commandtest.NewCLI(t)
	c.Project += ` 프로젝트/'a' "b"`
	c.Env["GEMINI_API_KEY"] = "a-key"
	c.Work(t, "--model-provider", "gemini", "--model-url", gemini.URL)
	ended := make(chan commandtest.Output, 1)
	go func() {
		ended <- c.Process(commandtest.Write(t, "s.jsonl", commandtest.Said(1, "user", commandtest.Decision)), "--session", `세션 'x'/"y" \ %2F`)
	}()
	var shown commandtest.Output
	require.Eventually(t, func() bool {
		builds := commandtest.Decode[[]build.Run](t, c.Run("builds", "list", "--project", c.Project, "-o", "json"))
		if len(builds) == 1 {
			shown = c.Run("builds", "show", builds[0].BuildID)
		}
		return strings.Contains(shown.Out, "at step    extract, 0 of 1 windows\n")
	}, command.Patience*6, command.Patience/100, &shown)
	require.Contains(t, shown.Out, "status     running\n")
	require.Contains(t, shown.Out, "so far     1 message, 1 new message\n")
	for _, unknown := range []string{"messages   ", "windows    ", "entries    ", "vectors    ", "model      ", "STEP"} {
		require.NotContains(t, shown.Out, unknown)
	}
	id := commandtest.Decode[[]build.Run](t, c.Run("builds", "list", "--project", c.Project, "-o", "json"))[0].BuildID
	running := commandtest.Decode[builds.ShownBuild](t, c.Run("builds", "show", id, "-o", "json"))
	require.Equal(t, schema.StepExtract, running.Progress.Step)
	require.Equal(t, 1, running.Counts.Messages)
	release()
	<-ended
	shown = c.Run("builds", "show", id)
	require.Contains(t, shown.Out, "messages   1, 1 of them new")
	require.Contains(t, shown.Out, "STEP")
	require.NotContains(t, shown.Out, "at step")
	require.Contains(t, c.Run("builds", "steps", "--project", c.Project).Out, schema.StepFailBuild)
	require.Nil(t, commandtest.Decode[builds.ShownBuild](t, c.Run("builds", "show", id, "-o", "json")).Progress)
}
