package main_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"

	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
	"axiommind/worker/runner"
	"axiommind/worker/service"
)

// program is the worker as a process of its own, which can be killed: this test binary with the configuration of a bench.
type program struct{ cfg service.Config }

// asWorker is the variable that makes this test binary a worker with a configuration.
const asWorker = "AXIOMMIND_TEST_WORKER"

func TestMain(m *testing.M) {
	text := os.Getenv(asWorker)
	if text == "" {
		stacktest.Main(m)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	var cfg service.Config
	err := json.Unmarshal([]byte(text), &cfg)
	if err == nil {
		cfg.LimitMemory()
		err = runner.Run(ctx, cfg, slog.New(slog.NewTextHandler(os.Stderr, nil)), nil)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "worker:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

func buildWorker(t *testing.T, b *bench) program {
	t.Helper()
	return program{b.cfg}
}

// command is the worker, not started. It finds no configuration of a local stack on this machine.
func (p program) command(t *testing.T) *exec.Cmd {
	t.Helper()
	cfg, err := json.Marshal(p.cfg)
	require.NoError(t, err)
	exe, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), asWorker+"="+string(cfg))
	return cmd
}

// running is a worker under way.
type running struct {
	cmd  *exec.Cmd
	read chan struct{}
	log  []string
}

// launch starts the worker and waits until it polls.
func (p program) launch(t *testing.T) *running {
	t.Helper()
	r := &running{cmd: p.command(t), read: make(chan struct{})}
	log, err := r.cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, r.cmd.Start())
	ready := make(chan struct{})
	go func() {
		defer close(r.read)
		lines := bufio.NewScanner(log)
		for lines.Scan() {
			r.log = append(r.log, lines.Text())
			if strings.Contains(lines.Text(), "worker is ready") {
				close(ready)
			}
		}
	}()
	select {
	case <-ready:
	case <-r.read:
		r.kill()
		t.Fatalf("the worker ended:\n%s", strings.Join(r.log, "\n"))
	}
	return r
}

// kill ends the worker at once and without a chance to tidy up.
func (r *running) kill() {
	_ = r.cmd.Process.Kill()
	_ = r.wait()
}

// wait waits until the worker has ended and returns how.
func (r *running) wait() error {
	<-r.read
	return r.cmd.Wait()
}

// start starts the worker, waits until it polls, and returns a function that kills it.
func (p program) start(t *testing.T) (kill func()) {
	t.Helper()
	return p.launch(t).kill
}

// endsBefore names, for an activity that runs within a workflow task and is no event of its own, the one whose end
// leads to it. The first one follows the start.
var endsBefore = map[string]string{"OpenBuild": "", "CloseBuild": "IndexSession"}

// awaitScheduled waits until the run has come to the activity.
func awaitScheduled(ctx context.Context, t *testing.T, c client.Client, run client.WorkflowRun, activity string) {
	t.Helper()
	before, within := endsBefore[activity]
	scheduled := map[int64]string{0: ""}
	it := c.GetWorkflowHistory(ctx, run.GetID(), run.GetRunID(), true, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for it.HasNext() {
		event, err := it.Next()
		require.NoError(t, err)
		switch event.GetEventType() {
		case enums.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED, enums.EVENT_TYPE_ACTIVITY_TASK_COMPLETED:
			if ended, ok := scheduled[event.GetActivityTaskCompletedEventAttributes().GetScheduledEventId()]; within && ok && ended == before {
				return
			}
		case enums.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED:
			name := event.GetActivityTaskScheduledEventAttributes().GetActivityType().GetName()
			if name == activity {
				return
			}
			scheduled[event.GetEventId()] = name
		default:
		}
	}
	t.Fatalf("%s ended without %s", run.GetID(), activity)
}

// sessionSteps are the activities of a session.
var sessionSteps = []string{
	"OpenBuild", "IngestSession", "SubmitTasks", "SubmitMemory", "IndexSession", "CloseBuild",
}

// A worker that is killed at any step, and restarted, leaves the same rows as an undisturbed one (I2).
func TestI2KilledWorker(t *testing.T) {
	t.Parallel()
	killedWorker(t, some(t, sessionSteps, 1, "IngestSession"))
}

func killedWorker(t *testing.T, killedIn []string) {
	t.Helper()
	dir := t.TempDir()
	calm, killed := newBench(t), newBench(t)
	killed.project = calm.project // Ids are made of it.
	calm.start(t)
	worker := buildWorker(t, killed)
	runs := make([]client.WorkflowRun, len(killedIn))
	for i, activity := range killedIn {
		uri := write(t, filepath.Join(dir, activity+".jsonl"), said(1, "user", decision), said(2, "assistant", "Noted."),
			said(3, "user", "I prefer "+activity+" over anything else."), said(4, "user", "TODO: write the page on "+activity+"."))
		calm.process(t, calm.input("killed-in-"+activity, uri))
		kill := worker.start(t)
		var err error
		runs[i], err = killed.submit(t.Context(), killed.input("killed-in-"+activity, uri))
		require.NoError(t, err)
		awaitScheduled(t.Context(), t, killed.Temporal, runs[i], activity)
		kill()
	}
	t.Cleanup(worker.start(t))
	for _, run := range runs {
		var result schema.ProcessSessionResult
		require.NoError(t, run.Get(t.Context(), &result), run.GetID())
		require.Equal(t, schema.BuildSuccess, result.Status, "%s: %+v", run.GetID(), result)
	}
	for _, b := range []*bench{calm, killed} {
		b.awaitIndexed(t)
		b.awaitGraduated(t.Context(), t)
	}
	want, got := calm.lasting(t), killed.lasting(t)
	for name := range want {
		require.True(t, len(want[name]) > 0 || name == "conflicts", name)
		require.Len(t, got[name], len(want[name]), name)
		for i := range want[name] {
			require.Equal(t, want[name][i], got[name][i], name)
		}
	}
	for _, activity := range killedIn {
		t.Logf("survived: worker killed in %s", activity)
	}
}

// lasting returns the state that must not depend on how often a worker died: everything but times and the durations of
// steps.
func (b *bench) lasting(t *testing.T) map[string][]string {
	t.Helper()
	b.awaitGraduated(t.Context(), t)
	b.awaitIndexed(t)
	queries := map[string]string{
		"entries": `SELECT toString(tuple(* EXCEPT (ended_at))) AS row FROM entries ORDER BY row`,
		"outbox": `SELECT toString((job_id, item_kind, item_id, project, status, error, attempts, permanent, content_hash)) AS row
			FROM vector_outbox WHERE item_kind = 'entry' ORDER BY row`,
		// The id of a task's title holds its place in the project's stream: sessions end in another order.
		"outbox of titles": `SELECT toString((item_kind, project, status, error, attempts, permanent)) AS row
			FROM vector_outbox WHERE item_kind != 'entry' ORDER BY row`,
		"builds": `SELECT toString((build_id, session_id, ordinal, project, extractor_model, status, failed_step, error,
			source_json, counts_json, usage_json)) AS row FROM build_runs ORDER BY row`,
		"steps": `SELECT toString((build_id, stage, success, error)) AS row FROM pipeline_metrics
			WHERE session_id != '' ORDER BY row`,
		"session events": `SELECT toString((stream, seq, event_id, event_type, dedupe_key, build_id, checksum)) AS row FROM events
			WHERE startsWith(stream, 'session/') AND event_type != 'build_finished' ORDER BY stream, seq`,
		// The order of events outside the session streams varies, too.
		"other events": `SELECT toString((event_type, dedupe_key)) AS row FROM events
			WHERE NOT startsWith(stream, 'session/') AND NOT startsWith(stream, 'vector/') AND NOT startsWith(stream, 'graduate/') ORDER BY row`,
	}
	maps.Copy(queries, graduated)
	out := columns(t, b.ClickHouse, queries)
	for _, payload := range column(t, b.ClickHouse, "SELECT payload_json FROM events WHERE event_type = 'build_finished' ORDER BY stream, seq") {
		var p schema.BuildFinishedPayload
		require.NoError(t, json.Unmarshal([]byte(payload), &p))
		p.Metrics = nil
		out["ends of builds"] = append(out["ends of builds"], fmt.Sprintf("%+v", p))
	}
	return out
}
