package service_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"axiommind/worker/service"
	"axiommind/worker/settings"
)

// Each setting is shown with its source; no secret is.
func TestConfigShow(t *testing.T) {
	t.Parallel()
	local := file(t, "weaviate-url: http://127.0.0.1:7\nweaviate-api-key: sesame\nclickhouse-dsn: http://u:sesame@h/db\n")
	key := file(t, "sesame")
	cfg, err := load(t, true, []string{"--model-provider", "openai", "--max-facts", "7"}, map[string]string{
		"OPENAI_API_KEY": "sesame", "TEMPORAL_API_KEY_FILE": key, "AXIOMMIND_SUMMARY_SECRET": "sesame",
		"AXIOMMIND_SUMMARY_WEBHOOK": "https://hooks.example/sesame", "AXIOMMIND_ERASER_DSN": "http://e:sesame@h/db", "AXIOMMIND_WINDOW_BYTES": "4096",
	}, local)
	require.NoError(t, err)
	shown := map[string][2]string{}
	for _, e := range cfg.Show() {
		require.NotContains(t, shown, e.Name)
		shown[e.Name] = [2]string{e.Value, e.Source}
	}
	for name, want := range map[string][2]string{
		"max-facts":                {"7", "flag --max-facts"},
		"window-bytes":             {"4096", "variable AXIOMMIND_WINDOW_BYTES"},
		"weaviate-url":             {"http://127.0.0.1:7", "local stack " + local},
		"clickhouse-dsn":           {"http://u:***@h/db", "local stack " + local},
		"eraser-dsn":               {"http://e:***@h/db", "variable AXIOMMIND_ERASER_DSN"},
		"summary-webhook":          {"https://hooks.example/***", "variable AXIOMMIND_SUMMARY_WEBHOOK"},
		"temporal-address":         {settings.DefaultTemporalAddress, "default"},
		"fact-threshold":           {"0.5", "default"},
		"max-output-tokens":        {"", "default"},
		"OPENAI_API_KEY":           {"***", "variable OPENAI_API_KEY"},
		"TEMPORAL_API_KEY":         {"***", "file " + key + " (TEMPORAL_API_KEY_FILE)"},
		"WEAVIATE_API_KEY":         {"***", "local stack " + local},
		"AXIOMMIND_SUMMARY_SECRET": {"***", "variable AXIOMMIND_SUMMARY_SECRET"},
	} {
		require.Equal(t, want, shown[name], name)
	}
	for _, output := range []string{"text", "json"} {
		show := &service.ConfigShow{}
		f := pflag.NewFlagSet("", pflag.ContinueOnError)
		show.Flags(f)
		require.NoError(t, f.Parse([]string{"-o", output}))
		var out bytes.Buffer
		require.NoError(t, show.Run(t.Context(), cfg, nil, &out))
		require.NotContains(t, out.String(), "sesame")
		for name := range shown {
			require.Contains(t, out.String(), name)
		}
		require.Equal(t, output == "json", json.Valid(out.Bytes()))
		require.NoError(t, f.Parse([]string{"-o", "xml"}))
		require.ErrorContains(t, show.Run(t.Context(), cfg, nil, &out), "want text or json")
	}
}
