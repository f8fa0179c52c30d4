package workflows

import (
	"cmp"
	"fmt"

	"go.temporal.io/sdk/workflow"

	"axiommind/activities/build"
	"axiommind/activities/entry"
	"axiommind/activities/evidence"
	"axiommind/activities/graduate"
	"axiommind/schema"
)

// RealignSession judges evidence again that an older rule of proof judged, and updates the session's entries. It writes
// the session's stream, so it has the id of process_session, and the two never run at the same time. Started under
// another id it runs itself as a child.
func RealignSession(ctx workflow.Context, in schema.SessionKey) (schema.RealignSessionResult, error) {
	in.Project, in.User = cmp.Or(in.Project, DefaultProject), cmp.Or(in.User, DefaultUser)
	if err := in.Validate(); err != nil {
		return schema.RealignSessionResult{}, invalidInput(err)
	}
	if id := in.WorkflowID(); !hasID(ctx, id) {
		return runAsOwner[schema.RealignSessionResult](ctx, id, "realign session "+in.SessionID, in)
	}
	r := &realignSession{session: in, progress: schema.Progress{SessionID: in.SessionID, Status: schema.BuildRunning}}
	if err := serveProgress(ctx, &r.progress); err != nil {
		return schema.RealignSessionResult{}, err
	}
	result, err := r.run(ctx)
	if err != nil {
		r.progress.Status = schema.BuildFailed
		return schema.RealignSessionResult{}, describeFailure(r.progress.Step, err).end(err)
	}
	r.progress.Status, r.progress.Step = schema.BuildSuccess, ""
	workflow.SetCurrentDetails(ctx, fmt.Sprintf("%d pieces judged again · %d newly proven · %d no longer", result.Pieces, result.Proven, result.Unproven))
	return result, nil
}

type realignSession struct {
	session  schema.SessionKey
	progress schema.Progress
}

// run updates the entries even if this run judged nothing, as long as some run did, because that run may have stopped
// before them. Updates without a change write nothing.
func (r *realignSession) run(ctx workflow.Context) (result schema.RealignSessionResult, err error) {
	result.SessionID = r.session.SessionID
	r.progress.Step = schema.StepRealign
	in := evidence.RealignInput{SessionKey: r.session, At: workflow.Now(ctx).UTC()}
	judged, err := call(storeWork(ctx, "evidence judged by older rules"), evidences.RealignSession, in)
	if err != nil {
		return result, err
	}
	result.Pieces, result.Proven, result.Unproven = judged.Pieces, judged.Proven, judged.Unproven
	if judged.Extractions == 0 {
		return result, nil
	}
	r.progress.BuildID, r.progress.Step = judged.BuildID, schema.StepMaterialize
	made := entry.MaterializeInput{SessionKey: r.session, BuildID: judged.BuildID, Head: judged.Head}
	materialized, err := call(storeWork(ctx, "entries"), entries.MaterializeEntries, made)
	if err != nil {
		return result, err
	}
	r.progress.Step = schema.StepCheck
	check := graduate.CheckInput{
		SessionKey: r.session, BuildID: judged.BuildID, At: in.At, Head: judged.Head.Highest(materialized.Head),
	}
	checked, err := call(storeWork(ctx, "obligations of entries"), graduates.CheckEntries, check)
	if err != nil {
		return result, err
	}
	r.progress.Step = schema.StepProject
	project := build.ProjectInput{SessionKey: r.session, Head: check.Head.Highest(checked.Head)}
	if err := doQuickly(storeWork(ctx, "entries, builds, outbox"), builds.ProjectSession, project); err != nil {
		return result, err
	}
	wakeGraduation(ctx, r.session.Project)
	return result, nil
}
