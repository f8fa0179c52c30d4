package workflows

import (
	"cmp"
	"fmt"

	"go.temporal.io/sdk/workflow"

	"axiommind/activities/entry"
	"axiommind/activities/evidence"
	"axiommind/schema"
)

// RealignSession judges the evidence of a session anew that older rules of proof have judged, and makes its
// entries say what comes of it. It writes the session's stream, so its id is that of process_session, and
// neither runs beside the other: started under another one it runs itself as a child.
func RealignSession(ctx workflow.Context, in schema.SessionKey) (schema.RealignSessionResult, error) {
	in.Project, in.User = cmp.Or(in.Project, DefaultProject), cmp.Or(in.User, DefaultUser)
	if err := in.Validate(); err != nil {
		return schema.RealignSessionResult{}, invalidInput(err)
	}
	if id := in.WorkflowID(); workflow.GetInfo(ctx).WorkflowExecution.ID != id {
		return runAs[schema.RealignSessionResult](ctx, owned{schema.WorkflowRealignSession, id, "realign session " + in.SessionID}, in)
	}
	r := &realignSession{session: in, progress: schema.Progress{SessionID: in.SessionID, Status: schema.BuildRunning}}
	err := workflow.SetQueryHandler(ctx, schema.QueryProgress, func() (schema.Progress, error) { return r.progress, nil })
	if err != nil {
		return schema.RealignSessionResult{}, fmt.Errorf("set query handler: %w", err)
	}
	result, err := r.run(ctx)
	if err != nil {
		r.progress.Status = schema.BuildFailed
		return schema.RealignSessionResult{}, describeFailure(r.progress.Step, err).end(err)
	}
	r.progress.Status, r.progress.Step = schema.BuildSuccess, ""
	workflow.SetCurrentDetails(ctx, fmt.Sprintf("%d pieces judged anew · %d newly proven · %d no longer", result.Pieces, result.Proven, result.Unproven))
	return result, nil
}

type realignSession struct {
	session  schema.SessionKey
	progress schema.Progress
}

// run goes on to the entries also where nothing is judged anew now but was once: a run before this one may
// have come no further. They write nothing where there is nothing to say.
func (r *realignSession) run(ctx workflow.Context) (result schema.RealignSessionResult, err error) {
	result.SessionID = r.session.SessionID
	r.progress.Step = schema.StepRealign
	var judged evidence.RealignResult
	in := evidence.RealignInput{SessionKey: r.session, At: workflow.Now(ctx).UTC()}
	if err = workflow.ExecuteActivity(storeWork(ctx, "what older rules judged"), evidences.RealignSession, in).Get(ctx, &judged); err != nil {
		return result, err
	}
	result.Pieces, result.Proven, result.Unproven = judged.Pieces, judged.Proven, judged.Unproven
	if judged.Extractions == 0 {
		return result, nil
	}
	r.progress.BuildID, r.progress.Step = judged.BuildID, schema.StepMaterialize
	made := entry.MaterializeInput{SessionKey: r.session, BuildID: judged.BuildID}
	if err = workflow.ExecuteActivity(storeWork(ctx, "entries"), entries.MaterializeEntries, made).Get(ctx, nil); err != nil {
		return result, err
	}
	r.progress.Step = schema.StepProject
	return result, workflow.ExecuteActivity(storeWork(ctx, "entries, builds, outbox"), builds.ProjectSession, r.session).Get(ctx, nil)
}
