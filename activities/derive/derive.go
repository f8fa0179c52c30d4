// Package derive makes a session's entries from its source and a model's answers. The events of the steps ingest, extract,
// align, materialize and check are usually one append, and those up to a model's questions another one. The steps ask no
// server but the log's, so interrupted ones are repeated.
package derive

import (
	"context"
	"errors"
	"time"

	"go.temporal.io/sdk/temporal"

	"axiommind/activities/boundary"
	"axiommind/activities/build"
	"axiommind/activities/entry"
	"axiommind/activities/eventlog"
	"axiommind/activities/evidence"
	"axiommind/activities/graduate"
	"axiommind/activities/llm"
	"axiommind/activities/transcript"
	"axiommind/schema"
)

// Steps are the work of the rooms.
type Steps interface {
	Ingest(context.Context, transcript.IngestInput) (transcript.IngestResult, error)
	// Publish projects the stored events of the session, and has the messages among them indexed.
	Publish(context.Context, schema.SessionKey) error
	PlanWindows(context.Context, llm.PlanInput) (llm.PlanResult, error)
	RecordExtraction(context.Context, llm.RecordInput) (llm.RecordResult, error)
	AlignSession(context.Context, evidence.AlignInput) (evidence.AlignResult, error)
	MaterializeEntries(context.Context, entry.MaterializeInput) (entry.MaterializeResult, error)
	CheckEntries(context.Context, graduate.CheckInput) (graduate.CheckResult, error)
}

// Rooms are the rooms of the steps.
type Rooms struct {
	Log        *eventlog.Store
	Transcript *transcript.Activities
	Build      *build.Activities
	Index      build.Indexer
	LLM        *llm.Activities
	Entry      *entry.Activities
	Graduate   *graduate.Activities
}

// Ingest implements [Steps].
func (r Rooms) Ingest(ctx context.Context, in transcript.IngestInput) (transcript.IngestResult, error) {
	return transcript.Ingest(ctx, r.Transcript, in)
}

// Publish implements [Steps].
func (r Rooms) Publish(ctx context.Context, session schema.SessionKey) error {
	return build.Publish(ctx, r.Build, session, r.Index)
}

// PlanWindows implements [Steps].
func (r Rooms) PlanWindows(ctx context.Context, in llm.PlanInput) (llm.PlanResult, error) {
	return llm.Plan(ctx, r.LLM, in)
}

// RecordExtraction implements [Steps].
func (r Rooms) RecordExtraction(ctx context.Context, in llm.RecordInput) (llm.RecordResult, error) {
	return llm.Record(ctx, r.LLM, in)
}

// AlignSession implements [Steps].
func (r Rooms) AlignSession(ctx context.Context, in evidence.AlignInput) (evidence.AlignResult, error) {
	return evidence.AlignSession(ctx, r.Log, in)
}

// MaterializeEntries implements [Steps].
func (r Rooms) MaterializeEntries(ctx context.Context, in entry.MaterializeInput) (entry.MaterializeResult, error) {
	return r.Entry.MaterializeEntries(ctx, in)
}

// CheckEntries implements [Steps].
func (r Rooms) CheckEntries(ctx context.Context, in graduate.CheckInput) (graduate.CheckResult, error) {
	return r.Graduate.CheckEntries(ctx, in)
}

// Activities derive the entries of sessions.
type Activities struct {
	log   *eventlog.Store
	steps Steps
}

// NewActivities returns the activities over the log.
func NewActivities(log *eventlog.Store, steps Steps) (*Activities, error) {
	if log == nil || steps == nil {
		return nil, errors.New("derive activities: no event log or no steps")
	}
	return &Activities{log: log, steps: steps}, nil
}

// Input names the session, with the answers of a model to the windows of the previous plan.
type Input struct {
	llm.PlanInput
	// First is true if no build of the session has been before: then one without entries has nothing to align.
	First bool `json:"first,omitempty"`
	// Answered are the windows of the plan before, and Before is the rest of that plan.
	Answered []llm.AnsweredWindow `json:"answered,omitempty"`
	Before   Before               `json:"before,omitzero"`
}

// Before is the rest of a plan whose windows are answered.
type Before struct {
	More     bool             `json:"more"`
	Recorded llm.RecordResult `json:"recorded"`
}

// Result counts the derived entries, or contains the windows to ask the model about first.
type Result struct {
	// Plan has windows while there are questions for the model.
	Plan llm.PlanResult `json:"plan"`
	// Empty is true if the session's first build has found nothing.
	Empty        bool                    `json:"empty,omitempty"`
	Aligned      evidence.AlignResult    `json:"aligned"`
	Materialized entry.MaterializeResult `json:"materialized"`
	Checked      graduate.CheckResult    `json:"checked"`
	// Metrics are the metrics of the completed steps, in order.
	Metrics []schema.StepMetric `json:"metrics"`
	// Head is the head of the session's stream.
	Head schema.StreamHead `json:"head,omitzero"`
}

// Failure is the detail of an error of [Activities.DeriveEntries].
type Failure struct {
	// Step is the step that failed, and Metrics are the metrics of the steps up to it.
	Step    string              `json:"step"`
	Metrics []schema.StepMetric `json:"metrics"`
	// Recorded counts the extractions of the build that are stored, if the answers of a model are among them.
	Recorded *llm.RecordResult `json:"recorded,omitempty"`
}

// DeriveEntries records the answers, and makes the next plan if there is more to ask. Otherwise it derives the entries. It
// stores the record of answers first, since those cost money, and all other events together.
func (a *Activities) DeriveEntries(ctx context.Context, in Input) (Result, error) {
	return boundary.Run(eventlog.WithHead(ctx, in.Stream(), in.Head), in, a.derive)
}

func (a *Activities) derive(ctx context.Context, in Input) (Result, error) {
	holding, held := a.log.Hold(ctx, in.Stream())
	result, err := Run(holding, a.steps, in, func() error { return held.Store(ctx) })
	if err != nil {
		return Result{}, err
	}
	result.Head = a.log.Head(in.Stream())
	return result, nil
}

// Run runs the steps. They store their events by store.
func Run(ctx context.Context, steps Steps, in Input, store func() error) (Result, error) {
	r := run{in: in}
	err := r.step(ctx, schema.StepExtract, func() error {
		if err := r.extract(ctx, steps); err != nil {
			return err
		}
		if len(in.Answered) == 0 && !r.ends() {
			return nil
		}
		if err := store(); err != nil {
			return err
		}
		if recorded := r.Plan.Recorded; len(in.Answered) > 0 {
			r.recorded = &recorded
		}
		return nil
	})
	if err != nil || r.ends() {
		return r.Result, err
	}
	err = r.step(ctx, schema.StepAlign, func() (err error) {
		r.Aligned, err = steps.AlignSession(ctx, evidence.AlignInput{SessionKey: in.SessionKey, BuildID: in.BuildID, At: in.At, Head: r.Head})
		r.Head = r.Head.Highest(r.Aligned.Head)
		return err
	})
	if err != nil {
		return r.Result, err
	}
	err = r.step(ctx, schema.StepMaterialize, func() (err error) {
		r.Materialized, err = steps.MaterializeEntries(ctx, entry.MaterializeInput{
			SessionKey: in.SessionKey, BuildID: in.BuildID, Head: r.Head, Builder: entry.Builder{Extractor: in.Extractor, At: in.At},
		})
		r.Head = r.Head.Highest(r.Materialized.Head)
		return err
	})
	if err != nil {
		return r.Result, err
	}
	err = r.step(ctx, schema.StepCheck, func() (err error) {
		r.Checked, err = steps.CheckEntries(ctx, graduate.CheckInput{SessionKey: in.SessionKey, BuildID: in.BuildID, At: in.At, Head: r.Head})
		r.Head = r.Head.Highest(r.Checked.Head)
		if err != nil {
			return err
		}
		return store()
	})
	return r.Result, err
}

// run is one run of the steps.
type run struct {
	Result
	in       Input
	recorded *llm.RecordResult
}

// ends reports whether extract is the last step for now.
func (r *run) ends() bool { return len(r.Plan.Windows) > 0 || r.Empty }

// extract records the answers, and plans the next windows unless they were all. A plan of a local model is done when it
// is made.
func (r *run) extract(ctx context.Context, steps Steps) (err error) {
	in := r.in
	r.Head, r.Plan = in.Head, llm.PlanResult{Recorded: in.Before.Recorded}
	open := len(in.Answered) == 0 || in.Before.More
	if len(in.Answered) > 0 {
		recorded, err := steps.RecordExtraction(ctx, llm.RecordInput{
			SessionKey: in.SessionKey, BuildID: in.BuildID, Extractor: in.Extractor, Windows: in.Answered, At: in.At, Head: in.Head,
		})
		if err != nil {
			return err
		}
		r.Plan.Recorded.Add(recorded)
		r.Head, open = r.Head.Highest(recorded.Head), open || recorded.Open()
	}
	for open {
		if err := ctx.Err(); err != nil { // Held events ask no server.
			return err
		}
		plan := in.PlanInput
		plan.Head = r.Head
		if r.Plan, err = steps.PlanWindows(ctx, plan); err != nil {
			return err
		}
		r.Head = r.Head.Highest(r.Plan.Recorded.Head)
		open = r.Plan.More && len(r.Plan.Windows) == 0
	}
	found := r.Plan.Recorded
	// A later build may have extractions of an earlier one to align although it added none.
	r.Empty = in.First && len(r.Plan.Windows) == 0 && found.Entries == 0 && found.Unfinished() == 0
	return nil
}

// step runs a step and times it.
func (r *run) step(ctx context.Context, name string, work func() error) error {
	start, err := time.Now(), ctx.Err()
	if err == nil {
		err = boundary.Recovered(ctx, work)
	}
	m := schema.StepMetric{Step: name, StartedAt: start.UTC(), Success: err == nil, LatencyMS: float64(time.Since(start).Microseconds()) / 1e3}
	r.Metrics = append(r.Metrics, m)
	if err == nil {
		return nil
	}
	returned := boundary.Return(ctx, err)
	var application *temporal.ApplicationError
	if !errors.As(returned, &application) {
		return returned
	}
	r.Metrics[len(r.Metrics)-1].Error = application.Message()
	return temporal.NewApplicationErrorWithOptions(application.Message(), application.Type(), temporal.ApplicationErrorOptions{
		NonRetryable: application.NonRetryable(), NextRetryDelay: application.NextRetryDelay(),
		Details: []any{Failure{Step: name, Metrics: r.Metrics, Recorded: r.recorded}},
	})
}
