// Package workflowtest creates Temporal's environment for the unit tests of workflows.
package workflowtest

import (
	"log/slog"
	"time"

	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
)

// patience replaces two of the SDK's limits on real time: how long a workflow may run without a pause, one second, and
// how long it may wait for an activity, three. A busy machine exceeds both.
const patience = 5 * time.Minute

// New returns an environment that logs nothing and tolerates a slow machine. Its own clock skips the time that a
// workflow waits, as usual.
func New() *testsuite.TestWorkflowEnvironment {
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(slog.New(slog.DiscardHandler))
	env := suite.NewTestWorkflowEnvironment()
	env.SetTestTimeout(patience)
	env.SetWorkerOptions(worker.Options{DeadlockDetectionTimeout: patience})
	return env
}
