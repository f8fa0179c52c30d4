package operation_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/starter/command"
	"axiommind/starter/command/commandtest"
	"axiommind/starter/command/program"
	"axiommind/worker/service"
	"axiommind/worker/settings"
)

// The topic's table of settings is the list of the programs.
func TestTopicListsSettings(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("| flag | default | programs | meaning |\n|---|---|---|---|\n")
	for _, s := range (&service.Config{}).Settings() {
		b.WriteString(s.Row())
	}
	commandtest.RequireTable(t, "../../help/configuration.md", "settings", b.String())
}

func TestConfigShow(t *testing.T) {
	t.Parallel()
	path, key := filepath.Join(t.TempDir(), "axiommind.yaml"), filepath.Join(t.TempDir(), "key")
	require.NoError(t, os.WriteFile(path, []byte("temporal-ui: https://t.example/?token=sesame\nmodel: theirs\n"), 0o600))
	require.NoError(t, os.WriteFile(key, []byte("sesame"), 0o600))
	env := map[string]string{
		"AXIOMMIND_CONFIG": path, "AXIOMMIND_EMBEDDER": "gemini", "AXIOMMIND_EMBEDDER_URL": "http://u:sesame@h/v1", "GEMINI_API_KEY": "sesame",
		"TEMPORAL_API_KEY": "sesame", "WEAVIATE_API_KEY_FILE": key, "AXIOMMIND_SUMMARY_SECRET": "sesame",
	}
	show := func(args ...string) commandtest.Output {
		var out, errOut bytes.Buffer
		a := &command.App{In: strings.NewReader(""), Out: &out, ErrOut: &errOut, Getenv: func(name string) string { return env[name] }}
		code := program.Main(context.Background(), a, append([]string{"config", "show"}, args...))
		return commandtest.Output{Code: code, Out: out.String(), Err: errOut.String()}
	}
	given := []string{"--clickhouse-dsn", "http://ann:sesame@h:1/db?password=sesame", "--weaviate-url", "https://sesame@w"}
	text := show(given...)
	rows := commandtest.Decode[[]settings.Effective](t, show(append(given, "-o", "json")...))
	require.Equal(t, command.ExitOK, text.Code, text)
	require.Empty(t, text.Err)
	shown := map[string]settings.Effective{}
	for _, r := range rows {
		shown[r.Name] = r
		require.Contains(t, text.Out, r.Name)
		require.Contains(t, text.Out, r.Value)
		require.Contains(t, text.Out, r.Source)
	}
	for _, want := range []settings.Effective{
		{Name: "config", Value: path, Source: "variable AXIOMMIND_CONFIG"},
		{Name: "clickhouse-dsn", Value: "http://ann:***@h:1/db?password=***", Source: "flag --clickhouse-dsn"},
		{Name: "weaviate-url", Value: "https://***@w", Source: "flag --weaviate-url"},
		{Name: "temporal-ui", Value: "https://t.example/?token=***", Source: "file " + path},
		{Name: "embedder-url", Value: "http://u:***@h/v1", Source: "variable AXIOMMIND_EMBEDDER_URL"},
		{Name: "embedder-model", Source: "default"},
		{Name: "connect-timeout", Value: "10s", Source: "default"},
		{Name: "log-level", Value: "error", Source: "default"},
		{Name: "GEMINI_API_KEY", Value: "***", Source: "variable GEMINI_API_KEY"},
		{Name: "WEAVIATE_API_KEY", Value: "***", Source: "file " + key + " (WEAVIATE_API_KEY_FILE)"},
	} {
		require.Equal(t, want, shown[want.Name])
	}
	require.NotContains(t, shown, "model", "it is a setting of the worker")
	require.Contains(t, text.Out, "(the provider's)")
	require.NotContains(t, text.Out+strings.Join(strings.Fields(show(append(given, "-o", "json")...).Out), " "), "sesame")

	env["AXIOMMIND_NO_QUEUE"] = "perhaps"
	wrong := show()
	require.Equal(t, command.ExitUsage, wrong.Code)
	require.Contains(t, wrong.Err, "variable AXIOMMIND_NO_QUEUE")
	require.NotContains(t, wrong.Out+wrong.Err, "sesame")
}
