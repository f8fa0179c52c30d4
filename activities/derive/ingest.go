package derive

import (
	"context"
	"log/slog"

	"go.temporal.io/sdk/activity"

	"axiommind/activities/boundary"
	"axiommind/activities/build"
	"axiommind/activities/eventlog"
	"axiommind/activities/llm"
	"axiommind/activities/transcript"
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
}

// derivation returns the input of the first derivation.
func (in IngestInput) derivation() Input {
	b := in.Build
	return Input{First: b.First, PlanInput: llm.PlanInput{
		SessionKey: b.SessionKey, BuildID: b.BuildID, Extractor: b.Spec.Extractor, At: in.At, Head: b.Head,
		AskGivenUp: in.Session.AskGivenUp, Statement: b.Statement,
	}}
}

// derives reports whether the build derives entries after the ingest: it found something to do, and continues no build
// that has derived them.
func (in IngestInput) derives(result transcript.IngestResult) bool {
	return !in.Alone && !result.Unchanged && !(result.Resumed && build.Derived(in.Build.Resumable.Step))
}

// IngestSession stores the session's input, after the event that opens the build, and what can be derived from it without a
// model. It is one append. From then on the build can be seen to run, and its messages can be found. If the derivation
// fails, or an attempt before this one did, the input is stored alone.
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
		if err := a.steps.Publish(headed(), in.IngestInput, out.IngestResult); err != nil {
			return IngestResult{}, err
		}
	}
	out.Head = a.log.Head(stream)
	if out.Derived != nil {
		out.Derived.Head = out.Head
	}
	return out, nil
}

// Ingest runs the steps from ingest on. They store their events by store. The error underived is of the derivation alone:
// the result has the input then, which may not be stored.
func Ingest(ctx context.Context, steps Steps, in IngestInput, store func() error) (out IngestResult, underived, err error) {
	if out.IngestResult, err = steps.Ingest(ctx, in.IngestInput); err != nil || !in.derives(out.IngestResult) {
		return out, nil, err
	}
	derived, underived := Run(ctx, steps, in.derivation(), store)
	if underived == nil {
		out.Derived = &derived
	}
	return out, underived, nil
}
