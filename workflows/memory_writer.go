package workflows

import (
	"errors"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"axiommind/activities/fact"
	"axiommind/schema"
)

var facts *fact.Activities

// MemoryWriter is the only writer of what is remembered of a user by an agent. It ends when nothing
// comes for a while; the next update starts it again.
func MemoryWriter(ctx workflow.Context, in schema.MemoryWriterInput) error {
	if want := schema.WorkflowID(schema.MemoryStream(in.User, in.Agent)); workflow.GetInfo(ctx).WorkflowExecution.ID != want {
		return temporal.NewNonRetryableApplicationError("start it with the workflow id "+want, schema.ErrorInvalidInput, nil)
	}
	m := &memoryWriter{user: in.User, agent: in.Agent}
	if err := m.setup(ctx); err != nil {
		return err
	}
	long, err := m.loop(ctx)
	if err != nil || !long {
		return err
	}
	return workflow.NewContinueAsNewError(ctx, schema.WorkflowMemoryWriter, in)
}

type memoryWriter struct {
	serial
	user, agent string
}

func (m *memoryWriter) setup(ctx workflow.Context) error {
	return errors.Join(
		workflow.SetUpdateHandlerWithOptions(ctx, schema.UpdateSession, m.session,
			workflow.UpdateHandlerOptions{Validator: func(in fact.SessionInput) error { return m.admitFor(in.User, in.Agent) }}),
		workflow.SetUpdateHandlerWithOptions(ctx, schema.UpdateCommand, m.command,
			workflow.UpdateHandlerOptions{Validator: m.validate}),
		workflow.SetQueryHandler(ctx, schema.QueryQueue, m.state),
	)
}

func (m *memoryWriter) validate(c fact.Command) error {
	if err := c.Validate(); err != nil {
		return invalidInput(err)
	}
	return m.admitFor(c.User, c.Agent)
}

// admitFor refuses what is of another user or agent: its workflow alone writes its stream.
func (m *memoryWriter) admitFor(user, agent string) error {
	if user != m.user || agent != m.agent {
		return wrongWriter(schema.MemoryStream(user, agent))
	}
	return m.admit()
}

func (m *memoryWriter) session(ctx workflow.Context, in fact.SessionInput) (result fact.Result, err error) {
	err = m.do(ctx, "session "+in.SessionID, func(ctx workflow.Context) error {
		return workflow.ExecuteActivity(storeWork(ctx, "facts of "+in.SessionID), facts.UpdateFacts, in).Get(ctx, &result)
	})
	return result, err
}

func (m *memoryWriter) command(ctx workflow.Context, c fact.Command) (result fact.Result, err error) {
	err = m.do(ctx, "command "+c.RequestID, func(ctx workflow.Context) error {
		return workflow.ExecuteActivity(storeWork(ctx, "command of "+c.Actor), facts.RunFactCommand, c).Get(ctx, &result)
	})
	return result, err
}
