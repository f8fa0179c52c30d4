package main_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflow/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"

	"axiommind/activities/boundary"
	"axiommind/activities/build"
	"axiommind/activities/fact"
	"axiommind/activities/llm"
	"axiommind/activities/projection"
	"axiommind/activities/task"
	"axiommind/activities/vector"
	"axiommind/schema"
)

// embeddingServer speaks OpenAI's embeddings. It refuses every request while status is set.
type embeddingServer struct {
	*httptest.Server
	status     atomic.Int64
	dimensions atomic.Int64
	calls      atomic.Int64
	// away is the model that answers 503.
	away atomic.Value
	// forbidden is a text, set before the server is used. asked counts the requests for it alone. While refuse is set,
	// the next such request is refused as if the key were wrong. So is the next probe, by which the embedder finds out
	// whether the text or the key is to blame.
	forbidden       string
	asked           atomic.Int64
	refuse, doubted atomic.Bool
}

func newEmbeddingServer(t *testing.T, status int) *embeddingServer {
	t.Helper()
	s := &embeddingServer{}
	s.status.Store(int64(status))
	s.dimensions.Store(8)
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.calls.Add(1)
		var in struct {
			Model string   `json:"model"`
			Input []string `json:"input"`
		}
		invalid := json.NewDecoder(r.Body).Decode(&in) != nil
		only := strings.Join(in.Input, "\n")
		if only == s.forbidden {
			s.asked.Add(1)
		}
		status := int(s.status.Load())
		switch {
		case status != 0:
		case invalid:
			status = http.StatusBadRequest
		case only == s.forbidden && s.refuse.CompareAndSwap(true, false):
			status = http.StatusUnauthorized
			s.doubted.Store(true)
		case only == "hello" && s.doubted.CompareAndSwap(true, false):
			status = http.StatusUnauthorized
		}
		if status != 0 {
			w.Header().Set("Retry-After", "4")
			w.WriteHeader(status)
			_, _ = fmt.Fprintf(w, `{"error": {"message": "this is why: %d"}}`, status)
			return
		}
		if in.Model == s.away.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		type datum struct {
			Index     int       `json:"index"`
			Embedding []float32 `json:"embedding"`
		}
		var data []datum
		for i, text := range in.Input {
			v := make([]float32, s.dimensions.Load())
			for n, b := range []byte(text) {
				v[n%len(v)] += float32(b)
			}
			data = append(data, datum{i, v})
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"data": data})
	}))
	t.Cleanup(s.Close)
	return s
}

// newRemoteBench is a bench whose worker embeds at the server.
func newRemoteBench(t *testing.T, s *embeddingServer) *bench {
	t.Helper()
	b := newBench(t)
	b.cfg.Embedder = llm.EmbedderConfig{
		// Each bench has a collection of its own.
		Provider: llm.ProviderOpenAI, Model: b.project, BaseURL: s.URL + "/v1", APIKey: "sk-refused", Dimensions: 8,
	}
	var err error
	b.Embedder, err = llm.NewEmbedder(t.Context(), b.cfg.Embedder)
	require.NoError(t, err)
	return b
}

// A refused key, and an embedder of other vectors than were configured, end the session at once: with
// the reason in its error and in its build. Mended, the same session goes on to its end.
func TestRefusedEmbedderEndsIndex(t *testing.T) {
	t.Parallel()
	refusedEmbedderEndsIndex(t, some(t, refusals, 1))
}

// refusal is an answer of an embedder that cannot be used.
type refusal struct {
	name               string
	status, dimensions int
	reason             string
}

var refusals = []refusal{
	{"other dimensions", 0, 16, "gives 16 dimensions, not 8"},
	{"unauthorized", http.StatusUnauthorized, 8, "key in OPENAI_API_KEY refused: this is why: 401"},
	{"forbidden", http.StatusForbidden, 8, "key in OPENAI_API_KEY refused: this is why: 403"},
	{"no credit", http.StatusPaymentRequired, 8, "this is why: 402"},
	{"unknown model", http.StatusNotFound, 8, "this is why: 404"},
}

func refusedEmbedderEndsIndex(t *testing.T, refusals []refusal) {
	t.Helper()
	for _, tt := range refusals {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newEmbeddingServer(t, tt.status)
			s.dimensions.Store(int64(tt.dimensions))
			b := newRemoteBench(t, s)
			b.start(t)
			in := b.input("refused", write(t, filepath.Join(t.TempDir(), "s.jsonl"), said(1, "user", decision)))
			_, err := b.try(t.Context(), in)
			requireFailure(t, err, schema.ErrorModelRefused, tt.reason)
			runs, err := build.List(t.Context(), b.ClickHouse, build.Filter{All: true, SessionID: "refused", Limit: 1})
			require.NoError(t, err)
			require.Equal(t, schema.BuildFailed, runs[0].Status)
			require.Equal(t, schema.StepIndex, runs[0].FailedStep)
			require.Contains(t, runs[0].Error, tt.reason)

			s.status.Store(0)
			s.dimensions.Store(8)
			require.Equal(t, schema.BuildSuccess, b.process(t, in).Status)
			b.awaitIndexed(t)
			t.Logf("survived: embedder with %s", tt.name)
		})
	}
}

// A task whose title must be compared with others needs the embedder before the vectors do.
func testRefusedEmbedderEndsTasks(t *testing.T) {
	t.Parallel()
	b := newRemoteBench(t, newEmbeddingServer(t, http.StatusUnauthorized))
	b.start(t)
	in := b.input("refused", write(t, filepath.Join(t.TempDir(), "s.jsonl"), said(1, "user", "TODO: write the report on the outage."),
		said(2, "user", "TODO: rename the report of the outage.")))
	_, err := b.try(t.Context(), in)
	requireFailure(t, err, schema.ErrorModelRefused, "this is why: 401")
}

func requireFailure(t *testing.T, err error, failureType, reason string) {
	t.Helper()
	var application *temporal.ApplicationError
	require.ErrorAs(t, err, &application)
	require.Equal(t, failureType, application.Type(), "%v", err)
	require.Contains(t, application.Message(), reason)
}

// While the writer waits for its next attempt, the session's own activity shows which writer it waits for, and the
// writer's shows why.
func TestSessionSaysWhatItsWriterWaitsFor(t *testing.T) {
	t.Parallel()
	s := newEmbeddingServer(t, http.StatusTooManyRequests)
	b := newRemoteBench(t, s)
	b.start(t)
	in := b.input("waiting", write(t, filepath.Join(t.TempDir(), "s.jsonl"), said(1, "user", decision)))
	run, err := b.submit(t.Context(), in)
	require.NoError(t, err)
	pending := func(id string) []*workflow.PendingActivityInfo {
		d, err := b.Temporal.DescribeWorkflowExecution(t.Context(), id, "")
		if _, none := errors.AsType[*serviceerror.NotFound](err); none {
			return nil // The activity says whom it waits for before it starts it.
		}
		require.NoError(t, err)
		return d.GetPendingActivities()
	}
	eventually(t, func() bool {
		for _, waiting := range pending(run.GetID()) {
			var says schema.Heartbeat
			err := converter.GetDefaultDataConverter().FromPayloads(waiting.GetHeartbeatDetails(), &says)
			if err != nil || says.WaitsFor == "" {
				continue
			}
			for _, activity := range pending(says.WaitsFor) {
				failure := activity.GetLastFailure()
				if failure.GetApplicationFailureInfo().GetType() == schema.ErrorModelRateLimited {
					require.Contains(t, failure.GetMessage(), "this is why: 429")
					return true
				}
			}
		}
		return false
	})
	s.status.Store(0)
	var result schema.ProcessSessionResult
	require.NoError(t, run.Get(t.Context(), &result))
	require.Equal(t, 1, result.Counts.Indexed)
}

// The workflow of a collection that the worker's embedder does not write ends with that reason, and
// nothing is written: neither there nor in the embedder's own collection.
func testWriterOfAnotherEmbedder(t *testing.T) {
	t.Parallel()
	b := newRemoteBench(t, newEmbeddingServer(t, 0))
	b.start(t)
	in := b.input("s", write(t, filepath.Join(t.TempDir(), "s.jsonl"), said(1, "user", decision)))
	b.process(t, in)
	outbox := vector.NewOutboxProjector(b.ClickHouse, b.Embedder.Version())
	b.logNotes(t, b.project, "notes", time.Now())
	_, err := b.Log.Project(t.Context(), outbox, b.input("notes", "").Key().Stream())
	require.NoError(t, err)
	// The messages have an index, and a time, of their own.
	const asked = "SELECT job_id FROM vector_outbox WHERE status = 'pending' AND item_kind != 'message'"
	pending := column(t, b.ClickHouse, asked)
	require.NotEmpty(t, pending)

	other := boundary.WriterOf(schema.VectorWriterInput{Collection: schema.VectorCollection("another-embedder")})
	run, err := b.Temporal.SignalWithStartWorkflow(t.Context(), other.ID, schema.SignalWake, nil,
		client.StartWorkflowOptions{ID: other.ID, TaskQueue: schema.QueueMain}, other.Type, other.Input)
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	requireFailure(t, run.Get(ctx, nil), schema.ErrorInvalidInput, "this embedder is not one that was chosen")
	err = boundary.Update{
		Name: schema.UpdateReconcile, ID: "reconcile", Arg: vector.ReconcileInput{Collection: schema.VectorCollection("another-embedder")},
	}.Send(ctx, b.Temporal, nil)
	requireFailure(t, err, schema.ErrorInvalidInput, "this embedder is not one that was chosen")
	require.ElementsMatch(t, pending, column(t, b.ClickHouse, asked))

	mine := vector.NewEnqueuer(b.Log, outbox, b.Temporal)
	require.NoError(t, mine.WakePending(t.Context()))
	b.awaitIndexed(t)
}

// mortalLog is a log whose process dies once it has projected.
type mortalLog struct{ vector.Log }

var errKilled = errors.New("killed")

func (l mortalLog) Project(ctx context.Context, p projection.Projector, stream string) (projection.Progress, error) {
	if _, err := l.Log.Project(ctx, p, stream); err != nil {
		return projection.Progress{}, err
	}
	return projection.Progress{}, errKilled
}

// An enqueue that dies between the outbox and the wake is completed by its retry, although that finds nothing new, and
// by the next start of a worker (I2).
func TestI2KilledEnqueueWakes(t *testing.T) {
	t.Parallel()
	b := newRemoteBench(t, newEmbeddingServer(t, 0))
	outbox := vector.NewOutboxProjector(b.ClickHouse, b.Embedder.Version())
	enqueue := func(session string) {
		// The outbox treats entries like titles: the requested items are in the stream.
		b.logNotes(t, b.project, session, time.Now())
		require.ErrorIs(t, vector.NewEnqueuer(mortalLog{b.Log}, outbox, b.Temporal).Enqueue(t.Context(), b.input(session, "").Key().Stream()), errKilled)
		require.NotEmpty(t, column(t, b.ClickHouse, "SELECT job_id FROM vector_outbox WHERE status = 'pending'"))
	}
	enqueue("before any worker")
	b.start(t)
	b.awaitWorked(t)
	enqueue("retried")
	require.NoError(t, vector.NewEnqueuer(b.Log, outbox, b.Temporal).Enqueue(t.Context(), b.input("retried", "").Key().Stream()))
	b.awaitWorked(t)
}

// awaitWorked waits until the vector writer has looked at every row.
func (b *bench) awaitWorked(t *testing.T) {
	t.Helper()
	eventually(t, func() bool {
		return len(column(t, b.ClickHouse, "SELECT job_id FROM vector_outbox WHERE status = 'pending'")) == 0
	})
}

// A command that repeats a known fact is refused at once, even if it is sent again, and blocks no other command.
func TestDuplicateFactIsRefusedAtOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.start(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	do := func(request, content string) (fact.Result, error) {
		var result fact.Result
		command := fact.Command{
			User: "사용자", Agent: "에이전트/1", RequestID: request, Actor: "ann", At: time.Now(), Op: fact.OpCreate, Content: &content,
		}
		err := boundary.Update{
			Name: schema.UpdateCommand, ID: request + content + time.Now().String(), Arg: command,
		}.Send(ctx, b.Temporal, &result)
		return result, err
	}
	first, err := do("1", "Prefers tabs")
	require.NoError(t, err)
	for range 2 {
		_, err = do("2", " prefers TABS ")
		requireFailure(t, err, schema.ErrorFactRefused, "duplicate fact: "+first.FactID+" says the same")
	}
	third, err := do("3", "Prefers Go")
	require.NoError(t, err)
	require.NotEqual(t, first.FactID, third.FactID)
}

// misdirected is an update whose sender starts the writer of one project with the input of another.
type misdirected struct{ task.ResolveRequest }

func (misdirected) Writer() schema.WriterInput {
	return misnamed{schema.ProjectTasksInput{Project: "two"}}
}

type misnamed struct{ schema.ProjectTasksInput }

func (misnamed) Stream() string { return schema.ProjectStream("one") }

// A workflow that can only fail reports this to its starters: none waits for another run.
func TestUpdateOfFailingWriter(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.start(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	err := boundary.Update{Name: schema.UpdateSession, ID: "u", Arg: misdirected{}}.Send(ctx, b.Temporal, nil)
	requireFailure(t, err, schema.ErrorInvalidInput, "start it with the workflow id")
}

// Started by hand with an unknown field, every workflow fails at once on a real server, and none is blocked.
func TestMistypedInputOnServer(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.start(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for _, workflow := range []string{
		schema.WorkflowProcessSession, schema.WorkflowVectorWriter, schema.WorkflowProjectTasks, schema.WorkflowMemoryWriter,
	} {
		run, err := b.Temporal.ExecuteWorkflow(ctx, client.StartWorkflowOptions{ID: "mistyped-" + workflow, TaskQueue: schema.QueueMain},
			workflow, map[string]any{"sesion": "s", "project": "p", "user": "u"})
		require.NoError(t, err)
		requireFailure(t, run.Get(ctx, nil), schema.ErrorInvalidInput, `read the input of `+workflow+`: there is no field "`)
		d, err := b.Temporal.DescribeWorkflowExecution(ctx, run.GetID(), run.GetRunID())
		require.NoError(t, err)
		require.Equal(t, enums.WORKFLOW_EXECUTION_STATUS_FAILED, d.GetWorkflowExecutionInfo().GetStatus())
	}
}
