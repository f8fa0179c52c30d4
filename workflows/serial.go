package workflows

import (
	"fmt"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"axiommind/schema"
)

// maxUpdates is how many updates one run of a serial writer does before it continues as new: well
// below what a server accepts in a run.
const maxUpdates = 500

// serial does the updates that a stream's only writer is sent, one after the other, in the order
// they came.
type serial struct {
	queue    []*request
	running  string
	done     int
	draining bool
}

// request is an update that waits for its turn.
type request struct {
	name     string
	run      func(ctx workflow.Context) error
	err      error
	finished bool
}

// admit refuses updates while the run is about to be followed by another one.
func (s *serial) admit() error {
	if s.draining {
		return temporal.NewApplicationError("this run is about to continue as new: send the update again", schema.ErrorDraining)
	}
	return nil
}

// wrongWriter refuses an update that is for another stream. It names the writer of that one, not the one
// asked.
func wrongWriter(stream string) error {
	message := fmt.Sprintf("the update is for another writer: send it to the workflow %q", schema.WorkflowID(stream))
	return temporal.NewNonRetryableApplicationError(message, schema.ErrorScopeMismatch, nil)
}

// do waits for the request's turn and runs it.
func (s *serial) do(ctx workflow.Context, name string, run func(workflow.Context) error) error {
	r := &request{name: name, run: run}
	s.queue = append(s.queue, r)
	if err := workflow.Await(ctx, func() bool { return r.finished }); err != nil {
		return err
	}
	return r.err
}

// loop works until no update came for the idle time. It returns true when the run has grown so long
// that another one should follow; nothing is waiting then.
func (s *serial) loop(ctx workflow.Context) (long bool, err error) {
	for {
		if s.done >= maxUpdates || workflow.GetInfo(ctx).GetContinueAsNewSuggested() {
			s.draining = true
			s.work(ctx)
			return true, workflow.Await(ctx, func() bool { return workflow.AllHandlersFinished(ctx) })
		}
		came, err := workflow.AwaitWithTimeout(ctx, idleTime, func() bool { return len(s.queue) > 0 })
		if err != nil {
			return false, err
		}
		if !came && workflow.AllHandlersFinished(ctx) {
			return false, nil
		}
		s.work(ctx)
	}
}

func (s *serial) work(ctx workflow.Context) {
	for len(s.queue) > 0 {
		r := s.queue[0]
		s.queue, s.running = s.queue[1:], r.name
		r.err = r.run(ctx)
		r.finished, s.running = true, ""
		s.done++
	}
}

// state is what QueryQueue answers.
func (s *serial) state() (schema.WriterQueue, error) {
	q := schema.WriterQueue{Running: s.running, Waiting: []string{}, Done: s.done}
	for _, r := range s.queue {
		q.Waiting = append(q.Waiting, r.name)
	}
	return q, nil
}
