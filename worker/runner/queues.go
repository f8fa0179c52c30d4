package runner

import (
	"fmt"
	"slices"
	"strings"

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
	if !slices.ContainsFunc(schema.TaskQueues(), func(queue string) bool { return serves(c, queue) }) {
		return fmt.Errorf("--task-queue %q: --no-queue switches it off, and no other task queue is named", schema.QueueMemory)
	}
	return nil
}
