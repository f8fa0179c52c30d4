package workflows

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"axiommind/activities/build"
	"axiommind/activities/derive"
	"axiommind/schema"
	"axiommind/workflows/durable"
	"axiommind/workflows/stategraph"
)

// Defaults of a scope that the input leaves open.
const (
	DefaultProject = "default"
	DefaultUser    = "default"
)

// ProcessSession turns one session into memory. It is the only writer of the session's stream, because its id is
// [schema.SessionKey.WorkflowID]. Started under another id it runs itself as a child.
func ProcessSession(ctx workflow.Context, in schema.ProcessSessionInput) (schema.ProcessSessionResult, error) {
	in.Project = cmp.Or(in.Project, DefaultProject)
	in.User = cmp.Or(in.User, DefaultUser)
	if err := validate(in); err != nil {
		return schema.ProcessSessionResult{}, invalidInput(err)
	}
	if in.SessionID == "" {
		id, err := identify(ctx, in)
		if err != nil {
			return schema.ProcessSessionResult{}, err
		}
		in.SessionID = id
	}
	if err := in.Key().Validate(); err != nil {
		return schema.ProcessSessionResult{}, invalidInput(err)
	}
	if id := in.Key().WorkflowID(); !hasID(ctx, id) {
		return runAsOwner[schema.ProcessSessionResult](ctx, id, "process session "+in.SessionID, in)
	}
	p := &processSession{
		input:    in,
		started:  workflow.Now(ctx).UTC(),
		progress: schema.Progress{SessionID: in.SessionID, Status: schema.BuildRunning},
	}
	if err := serveProgress(ctx, &p.progress); err != nil {
		return schema.ProcessSessionResult{}, err
	}
	return p.run(ctx)
}

// identify finds the id of the session. It reads no file in a workflow task, because the server would retry that task
// without end even if the file kills workers.
func identify(ctx workflow.Context, in schema.ProcessSessionInput) (string, error) {
	const summary = "find the session's id"
	if in.URI == "" {
		return quickly(storeWork(ctx, summary), transcripts.IdentifySession, in)
	}
	return readSource(storeWork(ctx, summary), in.Source().String(), transcripts.IdentifySession, func(bool) schema.ProcessSessionInput { return in })
}

func invalidInput(err error) error {
	return temporal.NewNonRetryableApplicationError(err.Error(), schema.ErrorInvalidInput, nil)
}

// validate checks all of the input except the session's id, which may not be known yet.
func validate(in schema.ProcessSessionInput) error {
	size := 0
	for _, m := range in.Messages {
		size += len(m.Content)
	}
	if err := errors.Join(validateSource(in), in.CheckStatement()); err != nil {
		return err
	}
	switch {
	case size > schema.MaxInlineBytes:
		return fmt.Errorf("messages hold %d bytes, more than %d: give a longer session by uri", size, schema.MaxInlineBytes)
	case !slices.Contains(schema.FlushReasons(), in.Flush):
		return fmt.Errorf("flush %q: want one of %q", in.Flush, schema.FlushReasons())
	}
	if err := schema.CheckWorkflowID(in.Notify); err != nil {
		return fmt.Errorf("notify: %w", err)
	}
	return in.Key().Scope.Validate()
}

// validateSource checks that the input names exactly one source.
func validateSource(in schema.ProcessSessionInput) error {
	inline := in.Messages != nil
	switch {
	case in.Retry != "":
		name := schema.ProcessSessionInput{Project: in.Project, User: in.User, Agent: in.Agent, SessionID: in.SessionID, Retry: in.Retry, AskGivenUp: in.AskGivenUp}
		if inline || !reflect.DeepEqual(in, name) {
			return fmt.Errorf("retry takes the input of build %q: give no more with it than project, user, agent, session_id and ask_given_up", in.Retry)
		}
	case in.AskGivenUp:
		return errors.New("ask_given_up is for a build that is tried again: give retry with it")
	case len(in.Queued) > 0 && (inline || in.FromLog || in.URI != "" || in.Grant != "" || in.Format != "" || in.Date != ""):
		return errors.New("queued names messages of the queue: leave out uri, messages, from_log, grant, format and date")
	case len(in.Queued) > MaxQueuedAtOnce || !slices.IsSorted(in.Queued):
		return fmt.Errorf("queued names %d positions: want up to %d, in order", len(in.Queued), MaxQueuedAtOnce)
	case len(in.Queued) > 0:
	case in.FromLog && (in.URI != "" || inline || in.Grant != "" || in.Format != "" || in.Date != ""):
		return errors.New("from_log reads no source: leave out uri, messages, grant, format and date")
	case in.FromLog:
	case in.URI != "" && len(in.Messages) > 0:
		return errors.New("give either uri or messages, not both")
	case in.URI == "" && !inline:
		return errors.New("give uri or messages: there is no session to process")
	}
	if in.SessionID == "" && (in.FromLog || in.Retry != "" || len(in.Queued) > 0) {
		return errors.New("give session_id: from_log, retry and queued are for a session that is known")
	}
	return nil
}

// MaxQueuedAtOnce is the maximum number of a queue's contexts in one build.
const MaxQueuedAtOnce = 500

// processSession is one run over a session.
type processSession struct {
	// input is the input of the workflow. For a retry it becomes that of the retried build, with Retry set, once the
	// build is found.
	input    schema.ProcessSessionInput
	started  time.Time
	progress schema.Progress
	metrics  []schema.StepMetric
	// derivedIn are the metrics by name of the steps that share an activity.
	derivedIn map[string]schema.StepMetric
	cause     error
	// queuedTo is the position of the last context of the queue that was read.
	queuedTo uint64
	// first is the result of the first derivation, until the step extract takes it.
	first *derive.Result
	// published is true once the messages are requested from their index, and projected is where the session's stream ended
	// then.
	published bool
	projected schema.StreamHead
	// ingested is true once the start of the build and the messages are in the log.
	ingested bool
}

func (p *processSession) run(ctx workflow.Context) (schema.ProcessSessionResult, error) {
	p.progress.Step = schema.StepOpenBuild
	graph, err := sessionGraph(p)
	if err != nil {
		return schema.ProcessSessionResult{}, err
	}
	thread := graph.NewThread(durable.Runner{})
	state, err := thread.Invoke(ctx, stategraph.Update{})
	if err != nil {
		return schema.ProcessSessionResult{}, p.stopped(ctx, thread, err)
	}
	if p.cause != nil {
		return schema.ProcessSessionResult{}, p.failure(sessionFailed.Get(state))
	}
	p.progress.Status, p.progress.Step = sessionStatus.Get(state), ""
	result := schema.ProcessSessionResult{
		SessionID: p.input.SessionID, BuildID: sessionOpened.Get(state).BuildID, Status: sessionStatus.Get(state),
		Counts: sessionCounts.Get(state), Usage: sessionUsage.Get(state), QueuedTo: p.queuedTo,
	}
	workflow.SetCurrentDetails(ctx, describe(result, sessionResumed.Get(state)))
	return result, nil
}

// stopped returns the error of a run whose graph did not finish. The run was cancelled between two steps, or the end of
// the build could not be recorded.
func (p *processSession) stopped(ctx workflow.Context, thread *stategraph.Thread[workflow.Context], err error) error {
	cause, failed := durable.Cause(err), sessionFailed.Get(thread.State())
	if failed.Step == "" {
		failed, p.cause = describeFailure(p.progress.Step, cause), cause
		if err := thread.UpdateAs(stategraph.END, stategraph.Update{sessionFailed.Add(failed)}); err != nil {
			return err
		}
	}
	if temporal.IsCanceledError(cause) {
		if _, err := p.failBuild(ctx, thread.State()); err != nil {
			workflow.GetLogger(ctx).Error("the failure is not recorded", "step", failed.Step, "reason", err)
		}
	}
	return p.failure(failed)
}

// failure returns the error that ends the workflow. Its details tell a queue which of its contexts were stored.
func (p *processSession) failure(f stepFailure) error {
	err := f.end(p.cause)
	if failed, ok := err.(*temporal.ApplicationError); ok && p.queuedTo > 0 { //nolint:errorlint // It was just made.
		return temporal.NewApplicationErrorWithOptions(failed.Message(), failed.Type(), temporal.ApplicationErrorOptions{
			NonRetryable: true, Cause: p.cause, Details: []any{schema.QueuedRead{To: p.queuedTo}},
		})
	}
	return err
}

func describe(r schema.ProcessSessionResult, resumed schema.ResumedBuild) string {
	c, from := r.Counts, ""
	if resumed.BuildID != "" {
		from = fmt.Sprintf(" · goes on with build `%s` at `%s`", resumed.BuildID, resumed.Step)
	}
	return fmt.Sprintf("**%s** · %d messages (%d new, %d lines skipped) · %d windows (%d quarantined) · %d entries "+
		"(%d new, %d aligned, %d proven, %d gained evidence, %d candidates, %d verified, %d items rejected) · %d vectors (%d failed) · %d model calls, %d + %d tokens",
		r.Status, c.Messages, c.NewMessages, c.SkippedLines, c.Windows, c.Quarantined, c.Entries, c.NewEntries,
		c.AlignedEntries, c.ProvenEntries, c.GainedEntries, c.CandidateEntries, c.VerifiedEntries, c.Rejected, c.Indexed, c.IndexFailed,
		r.Usage.Calls, r.Usage.InputTokens, r.Usage.OutputTokens) + from
}

func (p *processSession) openInput() build.OpenInput {
	return build.OpenInput{
		SessionKey: p.input.Key(), IncludeTools: p.input.IncludeTools, FromLog: p.input.FromLog, Retry: p.input.Retry,
		AskGivenUp: p.input.AskGivenUp, Statement: p.input.Statement,
	}
}
