package workflows

import (
	"errors"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"axiommind/activities/task"
	"axiommind/schema"
)

var tasks *task.Activities

// ProjectTasks is the only writer of a project's stream. It ends when nothing comes for a while; the
// next update starts it again.
func ProjectTasks(ctx workflow.Context, in schema.ProjectTasksInput) error {
	if want := schema.WorkflowID(schema.ProjectStream(in.Project)); workflow.GetInfo(ctx).WorkflowExecution.ID != want {
		return temporal.NewNonRetryableApplicationError("start it with the workflow id "+want, schema.ErrorInvalidInput, nil)
	}
	p := &projectTasks{project: in.Project}
	if err := p.setup(ctx); err != nil {
		return err
	}
	long, err := p.loop(ctx)
	if err != nil || !long {
		return err
	}
	return workflow.NewContinueAsNewError(ctx, schema.WorkflowProjectTasks, in)
}

type projectTasks struct {
	serial
	project string
}

func (p *projectTasks) setup(ctx workflow.Context) error {
	return errors.Join(
		workflow.SetUpdateHandlerWithOptions(ctx, schema.UpdateSession, p.session,
			workflow.UpdateHandlerOptions{Validator: func(in task.SessionInput) error { return p.admitFor(in.Project) }}),
		workflow.SetUpdateHandlerWithOptions(ctx, schema.UpdateCommand, p.command,
			workflow.UpdateHandlerOptions{Validator: p.validate}),
		workflow.SetQueryHandler(ctx, schema.QueryQueue, p.state),
	)
}

func (p *projectTasks) validate(c task.Command) error {
	if err := c.Validate(); err != nil {
		return invalidInput(err)
	}
	return p.admitFor(c.Project)
}

// admitFor refuses what is of another project: its workflow alone writes its stream.
func (p *projectTasks) admitFor(project string) error {
	if project != p.project {
		return wrongWriter(schema.ProjectStream(project))
	}
	return p.admit()
}

func (p *projectTasks) session(ctx workflow.Context, in task.SessionInput) (result task.Result, err error) {
	err = p.do(ctx, "session "+in.SessionID, func(ctx workflow.Context) error {
		call := storeWork(ctx, "task notes of "+in.SessionID)
		return workflow.ExecuteActivity(call, tasks.ResolveTasks, in).Get(ctx, &result)
	})
	return result, err
}

func (p *projectTasks) command(ctx workflow.Context, c task.Command) (result task.Result, err error) {
	err = p.do(ctx, "command "+c.RequestID, func(ctx workflow.Context) error {
		return workflow.ExecuteActivity(storeWork(ctx, "command of "+c.Actor), tasks.RunTaskCommand, c).Get(ctx, &result)
	})
	return result, err
}
