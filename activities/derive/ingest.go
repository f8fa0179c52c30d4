package derive

import (
	"context"
	"log/slog"
	"time"

	"go.temporal.io/sdk/activity"

	"axiommind/activities/boundary"
	"axiommind/activities/build"
	"axiommind/activities/eventlog"
	"axiommind/activities/llm"
	"axiommind/activities/transcript"
	"axiommind/schema"
)

// IngestInput names the session to read and its build.
type IngestInput struct {
	transcript.IngestInput
	// Alone leaves the entries to [Activities.DeriveEntries], so that the log keeps an input whose entries can't be derived.
	Alone bool `json:"alone,omitempty"`
}

// IngestResult counts the session's messages, and the entries that were derived from them.
type IngestResult struct {
	transcript.IngestResult
	// Derived is the result that [Activities.DeriveEntries] would have without answers of a model. It is nil if the entries
	// are left to it, or if there are none to derive.
	Derived *Result `json:"derived,omitempty"`
	// Published is true if the tables have the stream up to its head. Otherwise [Activities.PublishSession] is left to do.
	Published bool `json:"published,omitempty"`
}

// First returns the input of a build's first derivation.
func First(b schema.OpenedBuild, askGivenUp bool, at time.Time) Input {
	return Input{First: b.First, PlanInput: llm.PlanInput{
		SessionKey: b.SessionKey, BuildID: b.BuildID, Extractor: b.Spec.Extractor, At: at, Head: b.Head,
		AskGivenUp: askGivenUp, Statement: b.Statement,
	}}
}

// derives reports whether the build derives entries after the ingest: it found something to do, and continues no build
// that has derived them.
func (in IngestInput) derives(result transcript.IngestResult) bool {
	return !in.Alone && !result.Unchanged && !(result.Resumed && build.Derived(in.Build.Resumable.Step))
}

// IngestSession stores the session's input, after the event that opens the build, and what can be derived from it without a
// model, as one append unless it is long. If the derivation fails, or this is not the first attempt, the input is stored
// alone. Then it publishes the session: the build can be seen to run, and its messages can be found.
func (a *Activities) IngestSession(ctx context.Context, in IngestInput) (IngestResult, error) {
	in.Alone = in.Alone || activity.IsActivity(ctx) && activity.GetInfo(ctx).Attempt > 1
	return boundary.Run(ctx, in, a.ingest)
}

func (a *Activities) ingest(ctx context.Context, in IngestInput) (IngestResult, error) {
	stream := in.Build.Stream()
	headed := func() context.Context { return eventlog.WithHead(ctx, stream, in.Build.Head) }
	holding, held := a.log.Hold(headed(), stream)
	store := func() error { return held.Store(ctx) }
	out, underived, err := Ingest(holding, a.steps, in, store)
	switch {
	case err != nil:
	case underived == nil:
		err = store()
	case ctx.Err() != nil:
		err = underived
	default: // What is held is forgotten.
		slog.WarnContext(ctx, "the entries are left to the next activity", "stream", stream, "reason", underived)
		in.Alone = true
		out, _, err = Ingest(headed(), a.steps, in, store)
	}
	if err != nil {
		return IngestResult{}, err
	}
	if !out.Unchanged {
		out.Stored()
		err := a.steps.Publish(headed(), in.Build.SessionKey)
		if out.Published = err == nil; err != nil { // What is stored counts, whoever publishes it.
			slog.WarnContext(ctx, "the session is left to the step that projects it", "stream", stream, "reason", err)
		}
	}
	out.Head = a.log.Head(stream)
	if out.Derived != nil {
		out.Derived.Head = out.Head
	}
	return out, nil
}

// PublishSession does the rest of an [Activities.IngestSession] that has not published the session.
func (a *Activities) PublishSession(ctx context.Context, in build.ProjectInput) error {
	_, err := boundary.Run(eventlog.WithHead(ctx, in.Stream(), in.Head), in, func(ctx context.Context, in build.ProjectInput) (struct{}, error) {
		return struct{}{}, a.steps.Publish(ctx, in.SessionKey)
	})
	return err
}

// Ingest runs the steps from ingest on. They store their events by store. The error underived is of the derivation alone:
// the result has the input then, which may not be stored.
func Ingest(ctx context.Context, steps Steps, in IngestInput, store func() error) (out IngestResult, underived, err error) {
	if out.IngestResult, err = steps.Ingest(ctx, in.IngestInput); err != nil || !in.derives(out.IngestResult) {
		return out, nil, err
	}
	derived, underived := Run(ctx, steps, First(in.Build, in.Session.AskGivenUp, in.At), store)
	if underived == nil {
		out.Derived = &derived
	}
	return out, underived, nil
}
