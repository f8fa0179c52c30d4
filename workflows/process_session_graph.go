package workflows

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"axiommind/activities/build"
	"axiommind/activities/derive"
	"axiommind/schema"
	"axiommind/workflows/stategraph"
)

// The state of process_session consists of small results of steps. The data is in the event log.
var (
	sessionOpened = stategraph.LastValue[build.Opened]("opened")
	// sessionHead is the head of the session's stream, which no other workflow writes.
	sessionHead = stategraph.Reduce("head", schema.StreamHead.Highest, schema.StreamHead{})
	// sessionResumed is the build that this one continues, if any.
	sessionResumed = stategraph.LastValue[schema.ResumedBuild]("resumed")
	// sessionDerived is the result of the steps from extract to check.
	sessionDerived = stategraph.LastValue[derive.Result]("derived")
	sessionStatus  = stategraph.LastValue[schema.BuildStatus]("status")
	sessionCounts  = stategraph.Reduce("counts", addCounts, schema.BuildCounts{})
	sessionUsage   = stategraph.Reduce("usage", addUsage, schema.Usage{})
	// sessionFailed keeps the first failure, in the order of step names, of parallel steps.
	sessionFailed = stategraph.Reduce("failed", firstFailure, stepFailure{})
)

// stepFailure is the failure of a build as the table build_runs records it.
type stepFailure struct{ Step, Type, Error string }

// end returns the error that ends a workflow: the step, and the cause's own type and message.
func (f stepFailure) end(cause error) error {
	if temporal.IsCanceledError(cause) {
		return temporal.NewCanceledError(f.Step)
	}
	return temporal.NewNonRetryableApplicationError(f.Step+": "+f.Error, f.Type, cause)
}

func firstFailure(acc, v stepFailure) stepFailure {
	if acc.Step != "" {
		return acc
	}
	return v
}

func addUsage(acc, v schema.Usage) schema.Usage {
	acc.Add(v)
	return acc
}

func addCounts(acc, v schema.BuildCounts) schema.BuildCounts {
	acc.Messages += v.Messages
	acc.NewMessages += v.NewMessages
	acc.SkippedLines += v.SkippedLines
	acc.Redacted += v.Redacted
	acc.Windows += v.Windows
	acc.Quarantined += v.Quarantined
	acc.GivenUp += v.GivenUp
	acc.Entries += v.Entries
	acc.NewEntries += v.NewEntries
	acc.Rejected += v.Rejected
	acc.AlignedEntries += v.AlignedEntries
	acc.TaskNotes += v.TaskNotes
	acc.Facts += v.Facts
	acc.ProvenEntries += v.ProvenEntries
	acc.GainedEntries += v.GainedEntries
	acc.SupersededEntries += v.SupersededEntries
	acc.RestoredEntries += v.RestoredEntries
	acc.CandidateEntries += v.CandidateEntries
	acc.VerifiedEntries += v.VerifiedEntries
	acc.PromotedEntries += v.PromotedEntries
	acc.Indexed += v.Indexed
	acc.IndexFailed += v.IndexFailed
	return acc
}

type sessionState = stategraph.State

type sessionStep func(ctx workflow.Context, s sessionState) (stategraph.Update, error)

// sessionGraph returns the graph of process_session. A step that fails leads to fail_build.
func sessionGraph(p *processSession) (*stategraph.Graph[workflow.Context], error) {
	g := stategraph.New[workflow.Context](stategraph.Root(sessionOpened, sessionHead, sessionResumed, sessionDerived, sessionStatus, sessionCounts, sessionUsage, sessionFailed))
	add := func(name string, step sessionStep) { g.AddNode(name, p.measured(name, step)) }
	add(schema.StepOpenBuild, p.openBuild)
	add(schema.StepIngest, p.ingest)
	add(schema.StepExtract, p.extract)
	add(schema.StepAlign, p.align)
	add(schema.StepMaterialize, p.materialize)
	add(schema.StepCheck, p.check)
	add(schema.StepTasks, p.resolveTasks)
	add(schema.StepMemory, p.updateMemory)
	add(schema.StepProject, p.project)
	add(schema.StepIndex, p.index)
	g.AddNode(schema.StepCloseBuild, p.closeBuild)
	g.AddNode(schema.StepFailBuild, p.failBuild)

	g.AddEdge(stategraph.START, schema.StepOpenBuild)
	then(g, schema.StepOpenBuild, schema.StepIngest, nil)
	g.AddConditionalEdges(schema.StepIngest, "outcome", afterIngest, stategraph.Paths(
		schema.StepExtract, schema.StepTasks, schema.StepMemory,
		schema.StepProject, schema.StepIndex, schema.StepCloseBuild, schema.StepFailBuild, stategraph.END,
	))
	then(g, schema.StepExtract, schema.StepAlign, ended(schema.BuildEmpty, schema.StepMemory))
	then(g, schema.StepAlign, schema.StepMaterialize, nil)
	then(g, schema.StepMaterialize, schema.StepCheck, nil)
	g.AddConditionalEdges(schema.StepCheck, "outcome", func(s sessionState) ([]stategraph.Target, error) {
		if sessionFailed.Get(s).Step != "" {
			return []stategraph.Target{stategraph.To(schema.StepFailBuild)}, nil
		}
		return writersOf(sessionCounts.Get(s)), nil
	}, stategraph.Paths(schema.StepTasks, schema.StepMemory, schema.StepProject, schema.StepFailBuild))
	g.AddEdge(schema.StepTasks, schema.StepProject)
	g.AddConditionalEdges(schema.StepMemory, "outcome", stategraph.Choose(func(s sessionState) string {
		switch {
		case sessionStatus.Get(s) != schema.BuildEmpty:
			return "ok" // Also after a failure, because the parallel step leads there too.
		case sessionFailed.Get(s).Step != "":
			return "failed"
		default:
			return string(schema.BuildEmpty)
		}
	}), stategraph.PathMap{
		"ok": schema.StepProject, "failed": schema.StepFailBuild, string(schema.BuildEmpty): schema.StepCloseBuild,
	})
	then(g, schema.StepProject, schema.StepIndex, nil)
	then(g, schema.StepIndex, schema.StepCloseBuild, nil)
	g.AddEdge(schema.StepCloseBuild, stategraph.END)
	g.AddEdge(schema.StepFailBuild, stategraph.END)
	return g.Compile()
}

// afterIngest leads to the first step that has something to do. If one of the parallel steps failed, the other may have
// failed, too, because only the first by name is recorded.
func afterIngest(s sessionState) ([]stategraph.Target, error) {
	step := cmp.Or(sessionResumed.Get(s).Step, schema.StepExtract)
	switch step {
	case schema.StepAlign, schema.StepMaterialize, schema.StepCheck: // The extract step includes them.
		step = schema.StepExtract
	}
	switch {
	case sessionFailed.Get(s).Step != "":
		step = schema.StepFailBuild
	case sessionStatus.Get(s) == schema.BuildUnchanged:
		step = stategraph.END
	case step == schema.StepTasks:
		return writersOf(sessionCounts.Get(s)), nil
	}
	return []stategraph.Target{stategraph.To(step)}, nil
}

// writersOf returns the parallel steps that pass results to other writers. A session without results for a writer does
// not wait for it.
func writersOf(counts schema.BuildCounts) (targets []stategraph.Target) {
	if counts.TaskNotes > 0 {
		targets = append(targets, stategraph.To(schema.StepTasks))
	}
	if counts.Facts > 0 || counts.Messages > 0 {
		targets = append(targets, stategraph.To(schema.StepMemory))
	}
	if len(targets) == 0 {
		targets = append(targets, stategraph.To(schema.StepProject))
	}
	return targets
}

// exit is an exception to the usual order: a build with the status continues at another step.
type exit struct {
	status schema.BuildStatus
	to     string
}

func ended(s schema.BuildStatus, to string) *exit { return &exit{s, to} }

// then leads from a step to the next one, to fail_build if it failed, or through the exit.
func then(g *stategraph.StateGraph[workflow.Context], from, next string, way *exit) {
	paths := stategraph.PathMap{"ok": next, "failed": schema.StepFailBuild}
	if way != nil {
		paths[string(way.status)] = way.to
	}
	g.AddConditionalEdges(from, "outcome", stategraph.Choose(func(s sessionState) string {
		switch {
		case sessionFailed.Get(s).Step != "":
			return "failed"
		case way != nil && sessionStatus.Get(s) == way.status:
			return string(way.status)
		default:
			return "ok"
		}
	}), paths)
}

// measured times a step and turns its error into state. It skips the step if one of two parallel steps before it has
// failed. The graph then continues at fail_build.
func (p *processSession) measured(name string, step sessionStep) stategraph.Node[workflow.Context] {
	return func(ctx workflow.Context, s sessionState) (stategraph.Result, error) {
		if sessionFailed.Get(s).Step != "" {
			return nil, nil
		}
		p.progress.Step = name
		start := workflow.Now(ctx)
		update, err := step(ctx, s)
		if err != nil {
			if p.cause == nil {
				p.cause = err
			}
			update = append(update, sessionFailed.Add(describeFailure(name, err)))
		}
		metric := measured(ctx, name, start, err)
		if done := detailsOf(err).Metrics; len(done) > 0 {
			p.metrics = append(p.metrics, spread(metric.LatencyMS, done)...)
			return update, nil
		}
		if of, ok := p.derivedIn[name]; ok && err == nil {
			metric = of
		}
		p.metrics = append(p.metrics, metric)
		return update, nil
	}
}

// spread returns the metrics of steps that share one activity. The first also gets the time of the model, which is the
// rest of the total.
func spread(totalMS float64, metrics []schema.StepMetric) []schema.StepMetric {
	out := slices.Clone(metrics)
	for _, m := range metrics[1:] {
		totalMS -= m.LatencyMS
	}
	out[0].LatencyMS = max(out[0].LatencyMS, totalMS)
	return out
}

// measured returns the metric of a step that has ended.
func measured(ctx workflow.Context, step string, start time.Time, err error) schema.StepMetric {
	m := schema.StepMetric{
		Step: step, StartedAt: start.UTC(), Success: err == nil,
		LatencyMS: float64(workflow.Now(ctx).Sub(start).Microseconds()) / 1e3,
	}
	if err != nil {
		m.Error = describeFailure(step, err).Error
	}
	return m
}

// describeFailure returns the type and the message of the activity's own error, without the errors that
// Temporal wraps around it.
func describeFailure(step string, err error) stepFailure {
	var application *temporal.ApplicationError
	if errors.As(err, &application) {
		return stepFailure{Step: cmp.Or(detailsOf(err).Step, step), Type: application.Type(), Error: application.Message()}
	}
	if temporal.IsCanceledError(err) {
		return stepFailure{Step: step, Type: schema.ErrorCancelled, Error: "cancelled"}
	}
	var timeout *temporal.TimeoutError
	if errors.As(err, &timeout) {
		return stepFailure{Step: step, Type: schema.ErrorTimeout, Error: err.Error()}
	}
	return stepFailure{Step: step, Type: schema.ErrorInternal, Error: err.Error()}
}

// detailsOf returns the details of the failure of an activity of several steps.
func detailsOf(err error) (f derive.Failure) {
	var application *temporal.ApplicationError
	if errors.As(err, &application) && application.HasDetails() {
		_ = application.Details(&f)
	}
	return f
}
