package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/worker/service"
)

func TestCommandLine(t *testing.T) {
	t.Parallel()
	do := func(args ...string) (out, errOut string, code int) {
		var o, e strings.Builder
		code = report(run(args, &o), &e)
		return o.String(), e.String(), code
	}
	out, said, code := do("--version")
	require.Equal(t, []any{"worker " + service.Version() + "\n", "", exitOK}, []any{out, said, code})
	for _, flag := range []string{"-h", "--help"} {
		out, said, code = do(flag)
		require.Equal(t, exitOK, code)
		require.Empty(t, said)
		require.True(t, strings.HasPrefix(out, "Run AxiomMind's workflows"), out)
		for _, part := range []string{"Usage: worker [flags]", "--temporal-address", "--model-provider", "--version", "AXIOMMIND_", "Exit codes"} {
			require.Equal(t, 1, strings.Count(out, part), part)
		}
	}
	out, said, code = do("check-histories", "-h")
	require.Equal(t, []any{"", exitOK}, []any{said, code})
	for _, part := range []string{"Usage: worker check-histories [flags]", "--limit", "--closed", "--temporal-address", "Exit codes"} {
		require.Equal(t, 1, strings.Count(out, part), part)
	}
	require.NotContains(t, out, "--stop-timeout")
	out, said, code = do("migrate", "-h")
	require.Equal(t, []any{"", exitOK}, []any{said, code})
	for _, part := range []string{"Usage: worker migrate [flags]", "  --grants ", "  --print-grants ", "--clickhouse-dsn ", "Exit codes"} {
		require.Equal(t, 1, strings.Count(out, part), part)
	}
	out, said, code = do("setup", "-h")
	require.Equal(t, []any{"", exitOK}, []any{said, code})
	for _, part := range []string{"Usage: worker setup [flags]", "  --retention ", "--temporal-namespace ", "Exit codes"} {
		require.Equal(t, 1, strings.Count(out, part), part)
	}
	out, said, code = do("migrate", "--print-grants", "--clickhouse-dsn", "http://127.0.0.1:1/my-shop")
	require.Equal(t, []any{"", exitOK}, []any{said, code})
	require.Contains(t, out, "CREATE ROLE IF NOT EXISTS axiommind_worker;\n")
	require.Contains(t, out, "GRANT SELECT, INSERT ON `my-shop`.`events_raw` TO axiommind_worker;\n")
	require.Contains(t, out, "GRANT ALTER DELETE, OPTIMIZE ON `my-shop`.`events_raw` TO axiommind_eraser;\n")
	out, said, code = do("config", "show", "-h")
	require.Equal(t, []any{"", exitOK}, []any{said, code})
	for _, part := range []string{"Usage: worker config show [flags]", "--output ", "--clickhouse-dsn ", "--stop-timeout ", "Exit codes"} {
		require.Equal(t, 1, strings.Count(out, part), part)
	}
	out, said, code = do("config", "show", "--eraser-dsn", "http://e:sesame@h/db")
	require.Equal(t, []any{"", exitOK}, []any{said, code})
	require.Regexp(t, `(?m)^eraser-dsn +http://e:\*{3}@h/db +flag --eraser-dsn$`, out)
	for line, want := range map[string]string{
		"start":                   `unexpected argument "start": a worker takes flags only, or the command check-histories, migrate, setup or config show first; see worker -h`,
		"--absent":                "unknown flag: --absent; see worker -h",
		"--build-id=a b":          `--build-id "a b": want a name without spaces and control characters; see worker -h`,
		"--build-id=":             `--build-id "": want 1 to 200 bytes; see worker -h`,
		"--deployment=a.b":        `--deployment "a.b": want a name without : and .; see worker -h`,
		"--model-concurrency=few": `--model-concurrency "few": want a whole number; see worker -h`,
		"--\x1b[2J":               "unknown flag: --<U+001B>[2J; see worker -h",
	} {
		out, said, code := do(line)
		require.Equal(t, exitFailed, code, line)
		require.Empty(t, out, line)
		require.Equal(t, "worker: "+want+"\n", said, line)
	}
}
