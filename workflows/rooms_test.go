package workflows_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"axiommind/activities/boundary"
	"axiommind/activities/build"
	"axiommind/activities/derive"
	"axiommind/activities/entry"
	"axiommind/activities/evidence"
	"axiommind/activities/fact"
	"axiommind/activities/graduate"
	"axiommind/activities/llm"
	"axiommind/activities/task"
	"axiommind/activities/tier"
	"axiommind/activities/transcript"
	"axiommind/activities/vector"
	"axiommind/schema"
)

// rooms replaces the activities of every room, under their names. The test sets the results, and the inputs are kept.
type rooms struct {
	opened   build.Opened
	ingested transcript.IngestResult
	windows  int
	// asked is how often the windows were asked about before.
	// small makes all windows too small to be halved.
	small  bool
	asked  int
	answer func(in llm.ExtractInput) (llm.ExtractResult, error)
	record llm.RecordResult
	// recordedBefore is the result that earlier attempts of the build recorded.
	recordedBefore, recordedNow llm.RecordResult
	aligned                     evidence.AlignResult
	realigned                   evidence.RealignResult
	materialized                entry.MaterializeResult
	checked                     graduate.CheckResult
	resolved                    task.Result
	// summaries is the number of windows that the model summarizes, at most summariesAtOnce in one part.
	summaries, summariesAtOnce int
	summarize                  func(in tier.SummarizeInput) (tier.SummarizedWindow, error)
	// reviewed is the number of windows that the facts of the memory are reviewed with, each for reviewGroups of them.
	reviewed, reviewGroups int
	review                 func(in tier.ReviewInput) (tier.ReviewAnswer, error)
	learned                fact.Result
	// late is how often an erasure finds unlocked streams.
	late       int
	remembered tier.SessionResult
	// edits is the number of events that a comparison of files stores.
	edits   uint64
	indexed vector.SessionResult
	// anew is the number of turns of a rebuild of the collection.
	anew    int
	pending []vector.Result
	dream   dreamRoom
	queueRoom
	batch   batchRoom
	rebuild rebuildRoom
	// ruled is the result of a command of graduation, and passes are the results of its passes.
	ruled  graduate.CommandResult
	passes []graduate.PassResult
	// contradictions counts the conflicts that a model finds.
	contradictions int
	// found are the pages of the memories of a night.
	found []tier.Found
	// refused contains the failures of updates of a batch, by the session's stream.
	refused map[string]*boundary.Failed
	// forgets drops one outcome of a batch.
	forgets bool
	// fail is the error of an activity by its name. before is called before it returns.
	fail   map[string]error
	before func(ctx context.Context, name string)

	mu       sync.Mutex
	recorded []llm.AnsweredWindow
	calls    []string
	inputs   map[string][]any
	// unpublished is true if IngestSession does not publish the session.
	unpublished bool
	// alone records for each call of IngestSession whether it left the entries to others.
	alone []bool
	// within records for each call of an activity whether it was within a workflow task.
	within  map[string][]bool
	largest int
}

// newRooms returns the rooms of a session of two messages in one window, with one memory.
func newRooms() *rooms {
	spec := schema.BuildSpec{
		Extractor:     schema.Extractor{Provider: "rules", Model: "rules-v4", PromptVersion: "1", PromptHash: "0123456789abcdef", SchemaVersion: schema.SchemaVersion},
		EmbedderModel: "hash-v2-384", EmbeddingVersion: "hash-v2-384", IdrisVersion: "unavailable", SchemaVersion: schema.SchemaVersion,
	}
	return &rooms{
		opened: build.Opened{
			BuildID: build.ID(sessionInput().Key(), 1), SessionKey: sessionInput().Key(), Ordinal: 1, First: true, Spec: spec, Head: at(0),
		},
		ingested: transcript.IngestResult{Messages: 2, NewMessages: 2, Head: at(2)},
		windows:  1,
		answer: func(in llm.ExtractInput) (llm.ExtractResult, error) {
			return llm.ExtractResult{Key: "key-of-" + in.Window.Hash, Usage: schema.Usage{Calls: 1, InputTokens: 100, OutputTokens: 10}}, nil
		},
		record:       llm.RecordResult{Entries: 1, Head: at(4)},
		aligned:      evidence.AlignResult{Entries: 1, Aligned: 1, Head: at(5)},
		realigned:    evidence.RealignResult{Pieces: 3, Proven: 2, Unproven: 1, Extractions: 1, BuildID: "b1"},
		materialized: entry.MaterializeResult{Entries: 1, New: 1, Aligned: 1, Proven: 1, Gained: 2, TaskNotes: 1, Facts: 1, Head: at(7)},
		checked:      graduate.CheckResult{Candidates: 1, Verified: 1, Promoted: 1, Head: at(9)},
		resolved:     task.Result{Events: 1},
		summaries:    1,
		summarize: func(in tier.SummarizeInput) (tier.SummarizedWindow, error) {
			return tier.SummarizedWindow{SummaryWindow: in.Window, Model: "m/1", Key: fmt.Sprint("summary-", in.Window.First)}, nil
		},
		reviewGroups: 1,
		review: func(in tier.ReviewInput) (tier.ReviewAnswer, error) {
			return tier.ReviewAnswer{
				ReviewQuestion: in.Question, Key: fmt.Sprint("review-", in.Question.First, "-", in.Question.Group),
				Usage: schema.Usage{Calls: 1, OutputTokens: 3},
			}, nil
		},
		learned:    fact.Result{Events: 1},
		remembered: tier.SessionResult{Facts: fact.Result{Events: 1}, Flushed: "flushed"},
		indexed:    vector.SessionResult{Indexed: 1},
		anew:       4,
		ruled:      graduate.CommandResult{Events: 1},
		dream:      newDreamRoom(),
		rebuild:    rebuildRoom{slices: 1},
		fail:       map[string]error{},
		inputs:     map[string][]any{},
		within:     map[string][]bool{},
	}
}

// at returns the head of a stream with that many events.
func at(seq uint64) schema.StreamHead { return schema.StreamHead{Known: true, Seq: seq} }

// failing makes the activity fail permanently.
func (r *rooms) failing(name, failureType string) *rooms {
	r.fail[name] = temporal.NewNonRetryableApplicationError(name+" can't", failureType, nil)
	return r
}

// called notes a call and its sizes, and returns its result.
func called[T any](ctx context.Context, r *rooms, name string, in any, out func() (T, error)) (T, error) {
	activity.RecordHeartbeat(ctx)
	if r.before != nil {
		r.before(ctx, name)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls = append(r.calls, name)
	r.inputs[name] = append(r.inputs[name], in)
	r.within[name] = append(r.within[name], activity.GetInfo(ctx).IsLocalActivity)
	var none T
	if err := r.fail[name]; err != nil {
		return none, err
	}
	result, err := out()
	if err != nil {
		return none, err
	}
	for _, v := range []any{in, result} {
		if err := r.measure(v); err != nil {
			return none, err
		}
	}
	return result, nil
}

// order returns the names of the activities in the order of their calls. SubmitTasks is moved behind the activities of
// the parallel step. The background work of memory_writer is left out.
func (r *rooms) order() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	calls := slices.DeleteFunc(slices.Clone(r.calls), func(name string) bool { return name == "SyncFiles" })
	tasks, memory := slices.Index(calls, "SubmitTasks"), slices.Index(calls, "SubmitMemory")
	if tasks >= 0 && tasks < memory {
		copy(calls[tasks:], calls[tasks+1:memory+1])
		calls[memory] = "SubmitTasks"
	}
	return calls
}

// turns is order without the background work of the memory's writer.
func (r *rooms) turns() []string {
	return slices.DeleteFunc(r.order(), func(name string) bool { return name == "SyncFiles" })
}

func inputsOf[T any](r *rooms, name string) []T {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := make([]T, 0, len(r.inputs[name]))
	for _, in := range r.inputs[name] {
		out = append(out, in.(T))
	}
	return out
}

// batches returns the sessions of each call of the activity.
func (r *rooms) batches(t *testing.T, name string) (all [][]string) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, in := range r.inputs[name] {
		var sessions []string
		switch in := in.(type) {
		case boundary.Batch[task.ResolveRequest]:
			for _, item := range in.Items {
				sessions = append(sessions, item.SessionID)
			}
		case boundary.Batch[tier.FlushRequest]:
			for _, item := range in.Items {
				sessions = append(sessions, item.SessionID)
			}
		default:
			require.Failf(t, "no batch", "%T", in)
		}
		all = append(all, sessions)
	}
	return all
}

// heads returns the heads of the calls of the activity.
func (r *rooms) heads(name string) (all []schema.StreamHead) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, in := range r.inputs[name] {
		switch in := in.(type) {
		case boundary.Batch[task.ResolveRequest]:
			all = append(all, in.Head)
		case boundary.Batch[tier.FlushRequest]:
			all = append(all, in.Head)
		}
	}
	return all
}

func (r *rooms) OpenBuild(ctx context.Context, in build.OpenInput) (build.Opened, error) {
	return called(ctx, r, "OpenBuild", in, func() (build.Opened, error) { return r.opened, nil })
}

func (r *rooms) CloseBuild(ctx context.Context, in build.CloseInput) error {
	_, err := called(ctx, r, "CloseBuild", in, func() (any, error) { return nil, nil })
	return err
}

func (r *rooms) ProjectSession(ctx context.Context, in build.ProjectInput) error {
	_, err := called(ctx, r, "ProjectSession", in, func() (any, error) { return nil, nil })
	return err
}

func (r *rooms) IdentifySession(ctx context.Context, in schema.ProcessSessionInput) (string, error) {
	return called(ctx, r, "IdentifySession", in, func() (string, error) { return "s1", nil })
}

// IngestSession derives the entries, too, like the real one.
func (r *rooms) IngestSession(ctx context.Context, in derive.IngestInput) (derive.IngestResult, error) {
	r.mu.Lock()
	r.alone = append(r.alone, in.Alone)
	r.mu.Unlock()
	result, _, err := derive.Ingest(ctx, r, in, func() error { return nil })
	result.Published = !r.unpublished
	if result.Derived != nil {
		result.Head = result.Head.Highest(result.Derived.Head)
	}
	return result, err
}

func (r *rooms) Ingest(ctx context.Context, in transcript.IngestInput) (transcript.IngestResult, error) {
	return called(ctx, r, "IngestSession", in, func() (transcript.IngestResult, error) { return r.ingested, nil })
}

func (r *rooms) Publish(context.Context, schema.SessionKey) error { return nil }

func (r *rooms) PublishSession(ctx context.Context, in build.ProjectInput) error {
	_, err := called(ctx, r, "PublishSession", in, func() (any, error) { return nil, nil })
	return err
}

// PlanWindows plans 32 windows at a time, like the real one.
func (r *rooms) PlanWindows(ctx context.Context, in llm.PlanInput) (llm.PlanResult, error) {
	return called(ctx, r, "PlanWindows", in, func() (llm.PlanResult, error) {
		from := len(r.recorded)
		to := min(from+32, r.windows)
		plan := llm.PlanResult{More: to < r.windows, Recorded: r.recordedSoFar()}
		for i := from; i < to; i++ {
			plan.Windows = append(plan.Windows, schema.Window{
				Hash: schema.HashText(fmt.Sprint(i)), First: 10 * i, Last: 10*i + 9, ByteStart: 1 << 20, ByteEnd: 1<<20 + 1<<15, Asked: r.asked, Small: r.small,
			})
		}
		return plan, nil
	})
}

// recordedSoFar returns the result that the build recorded in this and in earlier attempts.
func (r *rooms) recordedSoFar() llm.RecordResult {
	sum := r.recordedBefore
	sum.Add(r.recordedNow)
	return sum
}

func (r *rooms) ExtractWindow(ctx context.Context, in llm.ExtractInput) (llm.ExtractResult, error) {
	return called(ctx, r, "ExtractWindow", in, func() (llm.ExtractResult, error) { return r.answer(in) })
}

func (r *rooms) RecordExtraction(ctx context.Context, in llm.RecordInput) (llm.RecordResult, error) {
	return called(ctx, r, "RecordExtraction", in, func() (llm.RecordResult, error) {
		r.recorded = append(r.recorded, in.Windows...)
		result := r.record
		result.Windows = len(in.Windows)
		for _, w := range in.Windows {
			result.Usage.Add(w.Usage)
			if w.Quarantined != "" {
				result.Quarantined++
				if w.Window.Small {
					result.GivenUp++
				}
			}
		}
		r.recordedNow.Add(result)
		return result, nil
	})
}

func (r *rooms) AlignSession(ctx context.Context, in evidence.AlignInput) (evidence.AlignResult, error) {
	return called(ctx, r, "AlignSession", in, func() (evidence.AlignResult, error) { return r.aligned, nil })
}

// DeriveEntries calls the steps like the real one.
func (r *rooms) DeriveEntries(ctx context.Context, in derive.Input) (derive.Result, error) {
	result, err := derive.Run(ctx, r, in, func() error { return nil })
	r.mu.Lock()
	defer r.mu.Unlock()
	if measured := errors.Join(r.measure(in), r.measure(result)); err == nil {
		err = measured
	}
	return result, err
}

// measure keeps the size of the largest payload.
func (r *rooms) measure(payload any) error {
	data, err := json.Marshal(payload)
	r.largest = max(r.largest, len(data))
	return err
}

func (r *rooms) RealignSession(ctx context.Context, in evidence.RealignInput) (evidence.RealignResult, error) {
	return called(ctx, r, "RealignSession", in, func() (evidence.RealignResult, error) { return r.realigned, nil })
}

func (r *rooms) MaterializeEntries(ctx context.Context, in entry.MaterializeInput) (entry.MaterializeResult, error) {
	return called(ctx, r, "MaterializeEntries", in, func() (entry.MaterializeResult, error) { return r.materialized, nil })
}

func (r *rooms) CheckEntries(ctx context.Context, in graduate.CheckInput) (graduate.CheckResult, error) {
	return called(ctx, r, "CheckEntries", in, func() (graduate.CheckResult, error) { return r.checked, nil })
}

func (r *rooms) WakeGraduation(ctx context.Context, in graduate.WakeInput) error {
	_, err := called(ctx, r, "WakeGraduation", in, func() (any, error) { return nil, nil })
	return err
}
