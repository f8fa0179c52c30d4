package runner

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"axiommind/worker/service"
	"axiommind/workflows"
)

func TestDeploymentOptions(t *testing.T) {
	t.Parallel()
	require.Equal(t, worker.DeploymentOptions{}, deploymentOptions(&service.Config{Deployment: "d"}), "without a build id nothing changes")
	cfg := service.Config{BuildID: "1.2'빌드", Deployment: "team/워커"}
	options := deploymentOptions(&cfg)
	require.True(t, options.UseVersioning)
	require.Equal(t, worker.WorkerDeploymentVersion{DeploymentName: "team/워커", BuildID: "1.2'빌드"}, options.Version)
	require.Contains(t, setCurrentCommand(&cfg), `temporal worker deployment set-current-version --deployment-name team/워커 --build-id '1.2'\''빌드' `)
}

func TestStandingOf(t *testing.T) {
	t.Parallel()
	v, other := worker.WorkerDeploymentVersion{DeploymentName: "d", BuildID: "1"}, worker.WorkerDeploymentVersion{DeploymentName: "d", BuildID: "2"}
	require.Equal(t, versionCurrent, standingOf(v, client.WorkerDeploymentRoutingConfig{CurrentVersion: &v}))
	require.Equal(t, "it gets 12.5 % of new work",
		standingOf(v, client.WorkerDeploymentRoutingConfig{CurrentVersion: &other, RampingVersion: &v, RampingVersionPercentage: 12.5}))
	for _, r := range []client.WorkerDeploymentRoutingConfig{{}, {CurrentVersion: &other}} {
		require.Contains(t, standingOf(v, r), "it gets no new work")
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

// Each workflow declares the behavior of its runs on a deploy.
func TestEveryWorkflowHasABehavior(t *testing.T) {
	t.Parallel()
	b := behaviors{}
	workflows.Register(b)
	require.Greater(t, len(b), 7)
	for name, behavior := range b {
		require.NotEqual(t, workflow.VersioningBehaviorUnspecified, behavior, "%s: register it as pinned or moving", name)
	}
}
