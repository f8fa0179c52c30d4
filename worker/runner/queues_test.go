package runner

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/activities/erase"
	"axiommind/schema"
	"axiommind/worker/service"
	"axiommind/worker/settings"
)

// The settings choose the task queues of a worker, and a mistake is found before any server is asked.
func TestTaskQueues(t *testing.T) {
	t.Parallel()
	noQueue := settings.Servers{NoQueue: true}
	all := slices.Sorted(maps.Keys((&rooms{erase: &erase.Activities{}}).activities()))
	require.ElementsMatch(t, all, schema.TaskQueues(), "each task queue has its activities")
	for _, c := range []struct {
		cfg    service.Config
		serves []string
		err    string
	}{
		{service.Config{EraserDSN: "http://e"}, all, ""},
		{service.Config{}, []string{schema.QueueMain, schema.QueueModel, schema.QueueVector, schema.QueueMemory}, ""},
		{service.Config{Servers: noQueue}, []string{schema.QueueMain, schema.QueueModel, schema.QueueVector}, ""},
		{service.Config{TaskQueues: []string{schema.QueueModel}, EraserDSN: "http://e"}, []string{schema.QueueModel}, ""},
		{service.Config{TaskQueues: []string{schema.QueueMain, schema.QueueMemory}, Servers: noQueue}, []string{schema.QueueMain}, ""},
		{service.Config{TaskQueues: []string{schema.QueueMemory}, Servers: noQueue}, nil, `--task-queue "axiommind-memory": --no-queue switches it off, and no other task queue is named`},
		{service.Config{TaskQueues: []string{schema.QueueErase}}, nil, `--task-queue "axiommind-erase": a worker serves it with --eraser-dsn only`},
		{service.Config{TaskQueues: []string{"모델"}}, nil, `--task-queue "모델": want one of axiommind, axiommind-model, axiommind-vector, axiommind-memory, axiommind-erase`},
		{service.Config{QueueRates: []string{"axiommind-vector=0"}}, nil, `--queue-rate "axiommind-vector=0": want a number above 0 and up to 100000 behind the =`},
		{service.Config{QueueRates: []string{"axiommind-model=1"}}, nil, `--queue-rate "axiommind-model=1": give it by --model-rate`},
		{service.Config{QueueRates: []string{"axiommind-memory=1"}}, nil, `--queue-rate "axiommind-memory=1": this task queue has workflows and no activities of its own, so it has no rate`},
		{service.Config{WorkerRates: []string{"axiommind-memory=1"}}, nil, `--worker-rate "axiommind-memory=1": this task queue has workflows and no activities of its own, so it has no rate`},
		{service.Config{WorkerRates: []string{"axiommind-vector=1", "axiommind-vector=2"}}, nil, `--worker-rate "axiommind-vector=2": axiommind-vector has a rate already: give one for each task queue`},
	} {
		if err := checkQueues(&c.cfg); c.err != "" {
			require.EqualError(t, err, c.err)
			continue
		}
		require.ElementsMatch(t, c.serves, slices.DeleteFunc(schema.TaskQueues(), func(q string) bool { return !serves(&c.cfg, q) }))
	}
}

// Each task queue has its own rates, and pollers that follow the backlog if the settings say so.
func TestPaced(t *testing.T) {
	t.Parallel()
	cfg := service.Config{QueueRates: []string{"axiommind-vector=20"}, WorkerRates: []string{"axiommind-vector=2.5", "axiommind-model=1"}, ModelRate: 7}
	require.NoError(t, checkQueues(&cfg))
	options := workerOptions(cfg)
	index, model := paced(&cfg, schema.QueueVector, options[schema.QueueVector]), paced(&cfg, schema.QueueModel, options[schema.QueueModel])
	require.Equal(t, []float64{20, 2.5, 7, 1}, []float64{
		index.TaskQueueActivitiesPerSecond, index.WorkerActivitiesPerSecond, model.TaskQueueActivitiesPerSecond, model.WorkerActivitiesPerSecond,
	})
	require.Nil(t, index.ActivityTaskPollerBehavior)
	cfg.MaxPollers = 1
	require.NotNil(t, paced(&cfg, schema.QueueMain, options[schema.QueueMain]).WorkflowTaskPollerBehavior)
}
