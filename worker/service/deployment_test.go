package service

import (
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
)

func TestDeploymentSettings(t *testing.T) {
	t.Parallel()
	parse := func(args []string, env map[string]string) (Config, error) {
		var cfg Config
		flags := pflag.NewFlagSet("", pflag.ContinueOnError)
		cfg.WorkerFlags(flags)
		require.NoError(t, flags.Parse(args))
		return cfg, cfg.Load(flags, func(name string) string { return env[name] }, "")
	}
	cfg, err := parse([]string{"--build-id=1.2'빌드"}, map[string]string{"AXIOMMIND_DEPLOYMENT": "team/워커"})
	require.NoError(t, err)
	require.Equal(t, "1.2'빌드", cfg.BuildID)
	require.Equal(t, "team/워커", cfg.Deployment)
	for _, name := range []string{"a b", "a\tb", "__a", "a\x1b", "a\u202eb", strings.Repeat("x", maxVersionName+1), "\xff"} {
		_, err = parse(nil, map[string]string{"AXIOMMIND_BUILD_ID": name})
		require.ErrorContains(t, err, "variable AXIOMMIND_BUILD_ID", name)
		_, err = parse(nil, map[string]string{"AXIOMMIND_DEPLOYMENT": name})
		require.ErrorContains(t, err, "variable AXIOMMIND_DEPLOYMENT", name)
	}
	_, err = parse(nil, map[string]string{"AXIOMMIND_DEPLOYMENT": "v1.2"})
	require.ErrorContains(t, err, "want a name without : and .")
}
