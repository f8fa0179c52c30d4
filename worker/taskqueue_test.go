package main_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/schema"
)

// Workers that each serve some of the task queues process a session together, and its queue too.
func TestTaskQueuesApart(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, queue := range []string{schema.QueueMain, schema.QueueModel, schema.QueueVector, schema.QueueMemory} {
		b.cfg.TaskQueues = []string{queue}
		b.start(t)
	}
	in := b.input("apart", "")
	in.Messages = []schema.InlineMessage{{Role: "user", Content: decision}}
	require.Equal(t, schema.BuildSuccess, b.process(t, in).Status)
	require.NotEmpty(t, b.requireProven(t, "apart"))
	b.awaitIndexed(t)
	queued := b.queued("ann", "queued", "1", decision)
	queued.Now = true
	b.enqueue(t, queued)
	eventually(t, func() bool { return len(b.texts(t, "ann", queued.Thread)) > 0 })
}
