package durable_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"google.golang.org/protobuf/encoding/protojson"

	"axiommind/deploy/local/stacktest"
	sg "axiommind/workflows/stategraph"
)

var record = flag.Bool("record", false, "record the histories again on a Temporal server")

func TestMain(m *testing.M) { stacktest.Main(m) }

func historyFile(name string) string { return filepath.Join("testdata", name+".json") }

// TestReplay replays a recorded history of each pattern on today's code.
func TestReplay(t *testing.T) {
	t.Parallel()
	for _, p := range patterns {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			require.NoError(t, replay(p.name, register))
		})
	}
}

// A changed graph must fail to replay the history of the old one. Otherwise TestReplay would prove nothing.
func TestReplayDetectsChange(t *testing.T) {
	t.Parallel()
	changed := pattern{name: "join", graph: func() (*graph, error) {
		return builder().AddNode("a", says("a")).AddEdge(sg.START, "a").Compile()
	}}
	err := replay("join", func(r worker.WorkflowRegistry) { registerOne(r, changed) })
	require.ErrorContains(t, err, "TMPRL1100")
}

func replay(name string, register func(worker.WorkflowRegistry)) error {
	r := worker.NewWorkflowReplayer()
	register(r)
	return r.ReplayWorkflowHistoryFromJSONFile(slog.New(slog.DiscardHandler), historyFile(name))
}

// TestRecord runs each pattern on a server and keeps its history.
func TestRecord(t *testing.T) {
	if !*record {
		t.Skip("histories are recorded only with -record")
	}
	ctx := context.Background()
	c, err := client.Dial(client.Options{HostPort: stacktest.Temporal(t), Identity: "recorder", Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	defer c.Close()
	const queue = "stategraph-record"
	w := worker.New(c, queue, worker.Options{})
	register(w)
	w.RegisterActivity(Speak)
	require.NoError(t, w.Start())
	defer w.Stop()
	for _, p := range patterns {
		run, err := c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{TaskQueue: queue}, p.name)
		require.NoError(t, err)
		var got []string
		err = run.Get(ctx, &got)
		require.Equal(t, p.fails, err != nil, "%v", err)
		require.Equal(t, p.want, got)
		saveHistory(ctx, t, c, run, p.name)
	}
}

func saveHistory(ctx context.Context, t *testing.T, c client.Client, run client.WorkflowRun, name string) {
	var h history.History
	it := c.GetWorkflowHistory(ctx, run.GetID(), run.GetRunID(), false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for it.HasNext() {
		event, err := it.Next()
		require.NoError(t, err)
		h.Events = append(h.Events, event)
	}
	compact, err := protojson.Marshal(&h)
	require.NoError(t, err)
	var data bytes.Buffer
	require.NoError(t, json.Indent(&data, compact, "", " "))
	require.NoError(t, os.MkdirAll("testdata", 0o755))
	require.NoError(t, os.WriteFile(historyFile(name), append(data.Bytes(), '\n'), 0o644))
}
