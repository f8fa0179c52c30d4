package feed_test

import (
	"errors"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"axiommind/activities/transcript"
	"axiommind/schema"
	"axiommind/starter/command"
	"axiommind/starter/command/commandtest"
	"axiommind/worker/service"
	"axiommind/worker/statedir"
)

// A file that a person passes to the starter is read from any directory. The same file named without a grant, or with the
// grant of another project, is refused at once and permanently.
func TestSourcesOfPersonsAndOthers(t *testing.T) {
	t.Parallel()
	c := commandtest.NewCLI(t)
	c.Work(t, "--source-root", t.TempDir())
	path := commandtest.Write(t, "내 세션.jsonl", commandtest.Said(1, "user", commandtest.Decision))
	processed := commandtest.JobsOf(t, c.Process(path, "-o", "json"))
	require.Equal(t, schema.BuildSuccess, processed[0].Result.Status, processed[0].Error)

	temporalClient, err := service.ConnectTemporal(t.Context(), c.Config(t), commandtest.Quiet)
	require.NoError(t, err)
	defer temporalClient.Close()
	refused := func(id string, in schema.ProcessSessionInput) string {
		run, err := temporalClient.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{
			ID: id, TaskQueue: schema.QueueMain,
		}, schema.WorkflowProcessSession, in)
		require.NoError(t, err)
		err = run.Get(t.Context(), nil)
		var application *temporal.ApplicationError
		for errors.As(err, &application) && application.Unwrap() != nil {
			err = application.Unwrap()
		}
		require.NotNil(t, application, "%v", err)
		require.Equal(t, schema.ErrorSourceForbidden, application.Type())
		require.True(t, application.NonRetryable())
		return application.Message()
	}
	uri, err := transcript.FileURI(path)
	require.NoError(t, err)
	byHand := schema.ProcessSessionInput{URI: uri, Project: c.Project, User: "default"}
	require.Contains(t, refused("by hand", byHand), "start the worker with --source-root "+filepath.Dir(path))

	byHand.Grant, err = transcript.Grant(c.Config(t).State.Path(statedir.SourceKey), byHand)
	require.NoError(t, err)
	byHand.Project += "-other"
	require.Contains(t, refused("of another project", byHand), "this input comes from a starter, but of another")
	byHand.URI, byHand.Format = "file:///proc/self/environ", "text"
	require.Contains(t, refused("of the kernel", byHand), "such files are never read")
}

// A pipe is refused before anything waits for it.
func TestProcessPipe(t *testing.T) {
	t.Parallel()
	pipe := filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	o := commandtest.Down().Run("process", pipe)
	require.Equal(t, command.ExitUsage, o.Code, o)
	require.Contains(t, o.Err, "is a pipe, not a regular file")
}
