package runner

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.temporal.io/sdk/worker"

	"axiommind/schema"
	"axiommind/worker/service"
)

// serves reports whether the settings let the worker serve the task queue.
func serves(c *service.Config, queue string) bool {
	if queue == schema.QueueMemory && c.NoQueue || queue == schema.QueueErase && c.EraserDSN == "" {
		return false
	}
	return len(c.TaskQueues) == 0 || slices.Contains(c.TaskQueues, queue)
}

// checkQueues refuses task queues that no worker or only another one serves, and settings that leave none.
func checkQueues(c *service.Config) error {
	for _, name := range c.TaskQueues {
		switch {
		case !slices.Contains(schema.TaskQueues(), name):
			return fmt.Errorf("--task-queue %q: want one of %s", name, strings.Join(schema.TaskQueues(), ", "))
		case name == schema.QueueErase && c.EraserDSN == "":
			return fmt.Errorf("--task-queue %q: a worker serves it with --eraser-dsn only", name)
		}
	}
	for setting, given := range map[string][]string{"--queue-rate": c.QueueRates, "--worker-rate": c.WorkerRates} {
		if _, err := rates(setting, given); err != nil {
			return err
		}
	}
	if !slices.ContainsFunc(schema.TaskQueues(), func(queue string) bool { return serves(c, queue) }) {
		return fmt.Errorf("--task-queue %q: --no-queue switches it off, and no other task queue is named", schema.QueueMemory)
	}
	return nil
}

// rates returns the rates that a setting gives, by task queue.
func rates(setting string, given []string) (map[string]float64, error) {
	out := map[string]float64{}
	for _, one := range given {
		queue, number, _ := strings.Cut(one, "=")
		rate, err := strconv.ParseFloat(number, 64)
		switch {
		case !slices.Contains(schema.TaskQueues(), queue):
			return nil, fmt.Errorf("%s %q: want a task queue and a number, as in %s=20; the task queues are %s", setting, one, schema.QueueVector, strings.Join(schema.TaskQueues(), ", "))
		case err != nil || !(rate > 0 && rate <= service.MaxModelRate):
			return nil, fmt.Errorf("%s %q: want a number above 0 and up to %d behind the =", setting, one, int(service.MaxModelRate))
		case queue == schema.QueueModel && setting == "--queue-rate":
			return nil, fmt.Errorf("%s %q: give it by --model-rate", setting, one)
		case queue == schema.QueueMemory:
			return nil, fmt.Errorf("%s %q: this task queue has workflows and no activities of its own, so it has no rate", setting, one)
		case out[queue] > 0:
			return nil, fmt.Errorf("%s %q: %s has a rate already: give one for each task queue", setting, one, queue)
		}
		out[queue] = rate
	}
	return out, nil
}

// paced sets the rates and the pollers of the settings, which [checkQueues] has checked.
func paced(c *service.Config, queue string, o worker.Options) worker.Options {
	all, _ := rates("--queue-rate", c.QueueRates)
	own, _ := rates("--worker-rate", c.WorkerRates)
	if rate := all[queue]; rate > 0 {
		o.TaskQueueActivitiesPerSecond = rate
	}
	o.WorkerActivitiesPerSecond = own[queue]
	if c.MaxPollers == 0 {
		return o
	}
	// A worker of workflows needs two: one of them takes the tasks of workflows that it remembers.
	most := max(c.MaxPollers, 2)
	scaled := worker.NewPollerBehaviorAutoscaling(worker.PollerBehaviorAutoscalingOptions{
		InitialNumberOfPollers: min(most, 5), MinimumNumberOfPollers: 1, MaximumNumberOfPollers: most,
	})
	o.WorkflowTaskPollerBehavior, o.ActivityTaskPollerBehavior = scaled, scaled
	return o
}
