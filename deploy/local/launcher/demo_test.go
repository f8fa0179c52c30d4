package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"axiommind/deploy/local/install"
	"axiommind/deploy/local/stack"
	"axiommind/deploy/local/stacktest"
)

// The demo runs on real servers, and each command that it prints at its end is copied as it stands.
func TestDemoAndTheCommandsAfterIt(t *testing.T) {
	t.Setenv("AXIOMMIND_TEMPORAL_NAMESPACE", stacktest.Namespace(t))
	dir := t.TempDir()
	cache, err := install.DefaultCache()
	require.NoError(t, err)
	require.NoError(t, cache.Programs(t.Context(), binDir(dir), nil))
	s := settings{dir: dir, given: stack.Addresses{
		Temporal: stacktest.Temporal(t), ClickHouseDSN: stacktest.MigratedDatabase(t),
		WeaviateHost: stacktest.Weaviate(t), WeaviateKey: stacktest.WeaviateKey(t),
		EmbedderDir: embedderDir(t),
	}, noSpool: true}
	st, err := stack.Start(t.Context(), stack.Options{Dir: dir, Given: s.given})
	require.NoError(t, err)
	t.Cleanup(st.Stop)
	a := st.Addresses()
	require.NoError(t, s.startPrograms(t.Context(), st, nil))
	var out bytes.Buffer
	require.NoError(t, perform(t.Context(), dir, a, &out, time.Now(), "Go on with:"))
	text := out.String()
	require.NotContains(t, text, "no memories", "an act of the demo found nothing")
	require.NotContains(t, text, "searched by words", "notices go to stderr")
	if a.EmbedderDir != "" {
		require.Contains(t, text, "who gets their money back?")
	}
	_, after, found := strings.Cut(text, "Go on with:\n")
	require.True(t, found, text)
	answers := map[string]string{}
	for line := range strings.Lines(after) {
		if strings.Fields(line)[3] == "forget" {
			continue // Weaviate is shared, and other tests may have a project of that name in it.
		}
		cmd := exec.CommandContext(t.Context(), "sh", "-c", line)
		cmd.Dir = filepath.Join("..", "..", "..")
		cmd.Env = append(os.Environ(), environment(a)...)
		answer, err := cmd.Output()
		require.NoError(t, err, "%s%s", line, answer)
		answers[strings.Fields(line)[3]] = string(answer)
	}
	require.Len(t, answers, len(afterwards())-1)
	require.Contains(t, answers["search"], "charged twice")
	require.Contains(t, answers["search"], "session demo-checkout")
	require.Contains(t, answers["tasks"], "backfill the refunds")
	require.Contains(t, answers["facts"], "small pull requests")
	require.Contains(t, answers["context"], "small pull requests")
	require.Contains(t, answers["memory"], "small pull requests")
	require.Contains(t, answers["schedule"], "dreams of all memories")
}

// embedderDir installs the embedder. If it can't, the demo leaves out the steps that need it.
func embedderDir(t *testing.T) string {
	t.Helper()
	cache, err := install.DefaultCache()
	require.NoError(t, err)
	dir, err := cache.Embedder(t.Context(), nil)
	if err != nil {
		t.Logf("without the embedder: %v", err)
	}
	return dir
}

// The commands of the demo and after it are of its project, where they take one: a memory belongs to a user.
func TestCommandsAfterTheDemoAreOfItsProject(t *testing.T) {
	t.Parallel()
	for _, act := range append(acts("samples", true), afterwards()...) {
		if !slices.Contains([]string{"facts", "context", "dream", "memory", "schedule"}, act.args[0]) {
			require.Regexp(t, regexp.MustCompile(`--project demo\b`), shellLine(act.args))
		}
	}
}
