package workflows

import (
	"go.temporal.io/sdk/workflow"

	"axiommind/activities/build"
	"axiommind/activities/derive"
	"axiommind/activities/entry"
	"axiommind/activities/evidence"
	"axiommind/activities/graduate"
	"axiommind/activities/task"
	"axiommind/activities/transcript"
	"axiommind/activities/vector"
	"axiommind/schema"
	"axiommind/workflows/stategraph"
)

// Typed nil pointers name the activities.
var (
	builds      *build.Activities
	transcripts *transcript.Activities
	derives     *derive.Activities
	evidences   *evidence.Activities
	entries     *entry.Activities
	graduates   *graduate.Activities
)

func (p *processSession) openBuild(ctx workflow.Context, _ sessionState) (stategraph.Update, error) {
	result, err := quickly(storeWork(ctx, "session "+p.input.SessionID), builds.OpenBuild, p.openInput())
	p.progress.BuildID = result.BuildID
	if result.Retried != nil {
		retry := p.input.Retry
		p.input, result.Retried = *result.Retried, nil
		p.input.Retry = retry
	}
	return stategraph.Update{sessionOpened.Set(result), sessionHead.Add(result.Head)}, err
}

// build returns the build with the current head of the session's stream.
func (p *processSession) build(s sessionState) build.Opened {
	b := sessionOpened.Get(s)
	b.Head = sessionHead.Get(s)
	return b
}

func (p *processSession) ingest(ctx workflow.Context, s sessionState) (stategraph.Update, error) {
	start := workflow.Now(ctx)
	in := transcript.IngestInput{Session: p.input, Build: p.build(s), At: p.started}
	result, err := readSource(storeWork(ctx, p.source()), p.source(), derives.IngestSession, func(killed bool) derive.IngestInput {
		return derive.IngestInput{IngestInput: in, Alone: killed}
	})
	if err != nil {
		return nil, err
	}
	p.ingested, p.queuedTo = !result.Unchanged, result.QueuedTo
	if p.published = result.Published; p.published {
		p.projected = result.Head
	}
	if p.first = result.Derived; p.first != nil && len(p.first.Plan.Windows) == 0 {
		p.timed(ctx, start, append([]schema.StepMetric{{Step: schema.StepIngest, StartedAt: start.UTC(), Success: true}}, p.first.Metrics...))
	}
	update := stategraph.Update{sessionCounts.Add(p.counted(schema.BuildCounts{
		Messages: result.Messages, NewMessages: result.NewMessages, SkippedLines: result.SkippedLines, Redacted: result.Redacted,
	})), sessionHead.Add(result.Head)}
	switch {
	case result.Unchanged:
		update = append(update, sessionStatus.Set(schema.BuildUnchanged))
	case result.Resumed:
		from := *in.Build.Resumable
		update = append(update, sessionResumed.Set(from.ResumedBuild), sessionCounts.Add(p.counted(from.Counts)))
	}
	return update, nil
}

func (p *processSession) source() string { return p.input.Source().String() }

// counted adds the counts of a step to the progress query.
func (p *processSession) counted(c schema.BuildCounts) schema.BuildCounts {
	p.progress.Counts = addCounts(p.progress.Counts, c)
	return c
}

// align does nothing: [processSession.extract] has done the work, and there is nothing to count.
func (p *processSession) align(workflow.Context, sessionState) (stategraph.Update, error) {
	return nil, nil
}

func (p *processSession) materialize(_ workflow.Context, s sessionState) (stategraph.Update, error) {
	m := sessionDerived.Get(s).Materialized
	return stategraph.Update{sessionCounts.Add(p.counted(schema.BuildCounts{
		Entries: m.Entries, NewEntries: m.New, AlignedEntries: m.Aligned,
		ProvenEntries: m.Proven, GainedEntries: m.Gained, TaskNotes: m.TaskNotes, Facts: m.Facts,
		SupersededEntries: m.Superseded, RestoredEntries: m.Restored,
	}))}, nil
}

func (p *processSession) check(_ workflow.Context, s sessionState) (stategraph.Update, error) {
	c := sessionDerived.Get(s).Checked
	return stategraph.Update{sessionCounts.Add(p.counted(schema.BuildCounts{
		CandidateEntries: c.Candidates, VerifiedEntries: c.Verified, PromotedEntries: c.Promoted,
	}))}, nil
}

func (p *processSession) resolveTasks(ctx workflow.Context, s sessionState) (stategraph.Update, error) {
	in := task.ResolveRequest{SessionKey: p.input.Key(), BuildID: sessionOpened.Get(s).BuildID, Head: sessionHead.Get(s)}
	_, err := call(storeWork(ctx, "task notes"), tasks.SubmitTasks, in)
	return nil, err
}

func (p *processSession) project(ctx workflow.Context, s sessionState) (stategraph.Update, error) {
	in := build.ProjectInput{SessionKey: p.input.Key(), Head: sessionHead.Get(s)}
	if !p.published || !in.Head.Known || in.Head != p.projected {
		work := builds.ProjectSession
		if !p.published {
			work = derives.PublishSession
		}
		if err := doQuickly(storeWork(ctx, "entries, builds, outbox"), work, in); err != nil {
			return nil, err
		}
		p.published, p.projected = true, in.Head
	}
	c, b := sessionCounts.Get(s), sessionOpened.Get(s)
	unfinished := !b.First && !b.Completed // The build before may have made entries and ended before it woke graduation.
	if c.NewEntries+c.GainedEntries+c.SupersededEntries+c.RestoredEntries+c.PromotedEntries > 0 || unfinished {
		wakeGraduation(ctx, p.input.Project)
	}
	return nil, nil
}

// wakeGraduation makes graduation consider the changes of a session. A failure fails no build, because the project's
// next session wakes it, too.
func wakeGraduation(ctx workflow.Context, project string) {
	err := doQuickly(storeWork(ctx, "tell graduation"), graduates.WakeGraduation, graduate.WakeInput{Project: project})
	if err != nil {
		workflow.GetLogger(ctx).Warn("graduation is not told of the session", "project", project, "reason", err)
	}
}

func (p *processSession) index(ctx workflow.Context, s sessionState) (stategraph.Update, error) {
	opened := sessionOpened.Get(s)
	in := vector.IndexRequest{
		SessionKey: p.input.Key(), BuildID: opened.BuildID, EmbeddingVersion: opened.Spec.EmbeddingVersion,
		Again: p.input.Retry != "", Head: sessionHead.Get(s),
	}
	result, err := call(vectorWork(ctx, "vectors of the session"), vectors.IndexSession, in)
	if err != nil {
		return nil, err
	}
	return stategraph.Update{sessionCounts.Add(p.counted(schema.BuildCounts{
		Indexed: result.Indexed, IndexFailed: result.Failed,
	}))}, nil
}

func (p *processSession) closeBuild(ctx workflow.Context, s sessionState) (stategraph.Result, error) {
	p.progress.Step = schema.StepCloseBuild
	c := sessionCounts.Get(s)
	end := schema.BuildSuccess
	switch {
	case c.Quarantined > 0 || c.IndexFailed > 0:
		end = schema.BuildPartial
	case c.Entries == 0:
		end = schema.BuildEmpty
	}
	if err := p.close(ctx, s, schema.BuildFinishedPayload{Status: end}); err != nil {
		return nil, err
	}
	return stategraph.Update{sessionStatus.Set(end)}, nil
}

// failBuild records the failure even when the workflow is being cancelled.
func (p *processSession) failBuild(ctx workflow.Context, s sessionState) (stategraph.Result, error) {
	p.progress.Step, p.progress.Status = schema.StepFailBuild, schema.BuildFailed
	if sessionOpened.Get(s).BuildID == "" {
		return nil, nil // The log could not even be read.
	}
	f := sessionFailed.Get(s)
	ctx, cancel := workflow.NewDisconnectedContext(ctx)
	defer cancel()
	err := p.close(ctx, s, schema.BuildFinishedPayload{
		Status: schema.BuildFailed, FailedStep: f.Step, Error: f.Error, ErrorType: f.Type,
	})
	return nil, err
}

func (p *processSession) close(ctx workflow.Context, s sessionState, end schema.BuildFinishedPayload) error {
	b := p.build(s)
	end.BuildID, end.SessionID, end.ExtractorID = b.BuildID, p.input.SessionID, b.Spec.Extractor.ID()
	end.Counts, end.Usage, end.Metrics = sessionCounts.Get(s), sessionUsage.Get(s), p.metrics
	in := build.CloseInput{Build: b, Input: p.input, Finished: end, StartedAt: p.started, At: workflow.Now(ctx).UTC()}
	if p.ingested {
		in.Input.Messages = nil
	}
	if p.ingested && !p.published && end.FailedStep != schema.StepProject {
		// That step was not reached: at least the messages are to be found.
		work := build.ProjectInput{SessionKey: p.input.Key(), Head: b.Head}
		if err := doQuickly(storeWork(ctx, "messages"), derives.PublishSession, work); err != nil {
			workflow.GetLogger(ctx).Warn("the session is not published", "reason", err)
		}
	}
	return doQuickly(storeWork(ctx, string(end.Status)), builds.CloseBuild, in)
}
