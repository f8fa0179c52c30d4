package service

import (
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"axiommind/workflows"
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
	cfg, err := parse(nil, nil)
	require.NoError(t, err)
	require.Equal(t, worker.DeploymentOptions{}, cfg.deploymentOptions(), "without a build id nothing changes")
	cfg, err = parse([]string{"--build-id=1.2'빌드"}, map[string]string{"AXIOMMIND_DEPLOYMENT": "team/워커"})
	require.NoError(t, err)
	options := cfg.deploymentOptions()
	require.True(t, options.UseVersioning)
	require.Equal(t, worker.WorkerDeploymentVersion{DeploymentName: "team/워커", BuildID: "1.2'빌드"}, options.Version)
	require.Contains(t, cfg.setCurrentCommand(), `temporal worker deployment set-current-version --deployment-name team/워커 --build-id '1.2'\''빌드' `)
	for _, name := range []string{"a b", "a\tb", "__a", "a\x1b", "a\u202eb", strings.Repeat("x", maxVersionName+1), "\xff"} {
		_, err = parse(nil, map[string]string{"AXIOMMIND_BUILD_ID": name})
		require.ErrorContains(t, err, "variable AXIOMMIND_BUILD_ID", name)
		_, err = parse(nil, map[string]string{"AXIOMMIND_DEPLOYMENT": name})
		require.ErrorContains(t, err, "variable AXIOMMIND_DEPLOYMENT", name)
	}
	_, err = parse(nil, map[string]string{"AXIOMMIND_DEPLOYMENT": "v1.2"})
	require.ErrorContains(t, err, "want a name without : and .")
}

func TestStandingOf(t *testing.T) {
	t.Parallel()
	v, other := worker.WorkerDeploymentVersion{DeploymentName: "d", BuildID: "1"}, worker.WorkerDeploymentVersion{DeploymentName: "d", BuildID: "2"}
	require.Equal(t, versionCurrent, standingOf(v, client.WorkerDeploymentRoutingConfig{CurrentVersion: &v}))
	require.Equal(t, "12.5 % of new work comes to it",
		standingOf(v, client.WorkerDeploymentRoutingConfig{CurrentVersion: &other, RampingVersion: &v, RampingVersionPercentage: 12.5}))
	for _, r := range []client.WorkerDeploymentRoutingConfig{{}, {CurrentVersion: &other}} {
		require.Contains(t, standingOf(v, r), "no new work comes to it")
	}
	require.Equal(t, "workers without a build id", buildOf(nil))
}

// behaviors keeps how the workflows are registered.
type behaviors map[string]workflow.VersioningBehavior

func (behaviors) RegisterWorkflow(any) {}

func (b behaviors) RegisterWorkflowWithOptions(_ any, options workflow.RegisterOptions) {
	b[options.Name] = options.VersioningBehavior
}

func (behaviors) RegisterDynamicWorkflow(any, workflow.DynamicRegisterOptions) {}

// For each workflow somebody has decided what becomes of its runs on a deploy.
func TestEveryWorkflowHasABehavior(t *testing.T) {
	t.Parallel()
	b := behaviors{}
	workflows.Register(b)
	require.Greater(t, len(b), 7)
	for name, behavior := range b {
		require.NotEqual(t, workflow.VersioningBehaviorUnspecified, behavior, "%s: register it as pinned or moving", name)
	}
}
