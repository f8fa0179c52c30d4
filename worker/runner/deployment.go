package runner

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"axiommind/activities/build"
	"axiommind/worker/service"
)

func version(c *service.Config) worker.WorkerDeploymentVersion {
	return worker.WorkerDeploymentVersion{DeploymentName: c.Deployment, BuildID: c.BuildID}
}

// deploymentOptions makes the workers of all task queues those of one version. Without a build id they have none.
func deploymentOptions(c *service.Config) worker.DeploymentOptions {
	if c.BuildID == "" {
		return worker.DeploymentOptions{}
	}
	return worker.DeploymentOptions{
		UseVersioning: true, Version: version(c),
		// Each workflow is registered with a behaviour of its own. One that is not goes on with the new version.
		DefaultVersioningBehavior: workflow.VersioningBehaviorAutoUpgrade,
	}
}

// watchVersion logs whether the worker's version gets new work, and each change of that, until ctx ends. A worker whose
// version is not the current one waits in silence otherwise.
func watchVersion(ctx context.Context, c client.Client, cfg service.Config, logger *slog.Logger) {
	v := version(&cfg)
	logger = logger.With("deployment", v.DeploymentName, "build_id", v.BuildID)
	last := ""
	for {
		routing, err := describeRouting(ctx, c, v.DeploymentName)
		if state := standingOf(v, routing); err == nil && state != last {
			last = state
			if state == versionCurrent {
				logger.Info("this version is the current one: it gets new work")
			} else {
				logger.Warn("this version is not the current one: "+state, "current", buildOf(routing.CurrentVersion),
					"run", setCurrentCommand(&cfg))
			}
		} else if err != nil && ctx.Err() == nil && last != err.Error() {
			last = err.Error()
			logger.Warn("whether this version is the current one is not known", "reason", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(cfg.Timing.WithDefaults().Version):
		}
	}
}

// setCurrentCommand is the command line that makes the version the current one.
func setCurrentCommand(c *service.Config) string {
	quoted := build.Command("worker", "deployment", "set-current-version", "--deployment-name", c.Deployment, "--build-id", c.BuildID,
		"--address", c.TemporalAddress, "--namespace", c.TemporalNamespace)
	return "temporal" + strings.TrimPrefix(quoted, build.Command())
}

// describeRouting returns the routing of a deployment. The server learns of a deployment from its first poll.
func describeRouting(ctx context.Context, c client.Client, name string) (client.WorkerDeploymentRoutingConfig, error) {
	d, err := c.WorkerDeploymentClient().GetHandle(name).Describe(ctx, client.WorkerDeploymentDescribeOptions{})
	var unknown *serviceerror.NotFound
	if errors.As(err, &unknown) {
		return client.WorkerDeploymentRoutingConfig{}, nil
	}
	return d.Info.RoutingConfig, err
}

const versionCurrent = "current"

// standingOf describes the work that is routed to a version.
func standingOf(v worker.WorkerDeploymentVersion, r client.WorkerDeploymentRoutingConfig) string {
	switch {
	case r.CurrentVersion != nil && *r.CurrentVersion == v:
		return versionCurrent
	case r.RampingVersion != nil && *r.RampingVersion == v:
		return fmt.Sprintf("it gets %g %% of new work", r.RampingVersionPercentage)
	default:
		return "it gets no new work, only that of sessions begun on it"
	}
}

func buildOf(v *worker.WorkerDeploymentVersion) string {
	if v == nil {
		return "workers without a build id"
	}
	return v.BuildID
}
