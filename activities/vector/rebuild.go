package vector

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.temporal.io/sdk/activity"

	"axiommind/activities/boundary"
	"axiommind/schema"
)

// ErrCollectionChanged is returned if a rebuild finds that somebody else has switched the collection. To begin again is
// safe.
var ErrCollectionChanged = boundary.Invalid(schema.ErrorVectorRejected, errors.New("another generation of the collection is in use than when the rebuild began: run it again"))

// ErrUnequal is returned if the new collection does not hold what the log says, and is not switched to.
var ErrUnequal = boundary.Invalid(schema.ErrorVectorRejected, errors.New("the new collection differs from the log"))

// RebuildInput says which collection to make anew, and how.
type RebuildInput struct {
	// Collection is empty for all collections of the worker's embedder.
	Collection string `json:"collection,omitempty"`
	// Verify compares the collection in use with the log, too. DryRun makes the new one and deletes it again.
	Verify bool `json:"verify,omitempty"`
	DryRun bool `json:"dry_run,omitempty"`
	// Run is the run that asks: another one that asks the same may do so because the log has changed since.
	Run string `json:"run,omitempty"`
}

// Writer returns the input of the workflow that makes the collection anew.
func (in RebuildInput) Writer() schema.WriterInput {
	return schema.VectorWriterInput{Collection: in.Collection}
}

// Validate returns an error if no collection is named.
func (in RebuildInput) Validate() error { return ReconcileInput{Collection: in.Collection}.Validate() }

// RebuildResult is what a rebuild has done, and found.
type RebuildResult struct {
	Collection string `json:"collection"`
	// Items counts the objects of the new collection. Copied of them have their vector from the old one, and Embedded have
	// another. Kept were there already, because an earlier attempt had put them there. An item that changed meanwhile is
	// counted each time. Pending are left to the outbox, which has not written them yet: an embedder may need an hour for them.
	Items    int `json:"items"`
	Copied   int `json:"copied"`
	Embedded int `json:"embedded"`
	Kept     int `json:"kept,omitempty"`
	Pending  int `json:"pending,omitempty"`
	// Failed counts the items that could not be written: their outbox rows tell why, and are tried again as usual.
	Failed int `json:"failed"`
	// Missing, Extra and Changed count where the old collection differed from the log, if that was asked for. What the
	// outbox says is not written yet, or has failed, is not a difference.
	Missing int `json:"missing"`
	Extra   int `json:"extra"`
	Changed int `json:"changed"`
	// Examples are some of the differences and failures.
	Examples []string `json:"examples,omitempty"`
	// Switched is true if the name leads to the new collection now.
	Switched bool `json:"switched"`
}

// Differences counts where the old collection differed from the log.
func (r RebuildResult) Differences() int { return r.Missing + r.Extra + r.Changed }

// maxExamples and maxExample bound the examples of a result, in number and in bytes each.
const (
	maxExamples = 20
	maxExample  = 300
)

func (r *RebuildResult) example(format string, args ...any) {
	if len(r.Examples) < maxExamples {
		text := fmt.Sprintf(format, args...)
		if len(text) > maxExample {
			text = shorten(text[:maxExample]) + "…"
		}
		r.Examples = append(r.Examples, text)
	}
}

// Steps of a [Rebuilding].
const (
	stepBegin   = ""
	stepFill    = "fill"
	stepCompare = "compare"
	stepDrop    = "drop"
	stepDone    = "done"
)

// Rebuilding is a rebuild between two turns.
type Rebuilding struct {
	RebuildInput
	// Old and New are the classes in use and to be used.
	Old string `json:"old,omitempty"`
	New string `json:"new,omitempty"`
	// Unfit is true if the old class has settings with which nothing can be written to it.
	Unfit bool   `json:"unfit,omitempty"`
	Step  string `json:"step,omitempty"`
	// Kind, Project and ID tell how far the step is.
	Kind    string `json:"kind,omitempty"`
	Project string `json:"project,omitempty"`
	ID      string `json:"id,omitempty"`
	// Seq is how far the new class follows what was written to the old one: a position of the collection's stream.
	Seq uint64 `json:"seq,omitempty"`
	// Seen counts the items looked at, of about Total.
	Seen  int `json:"seen,omitempty"`
	Total int `json:"total,omitempty"`
	// Wait is how long to wait before the next turn.
	Wait   time.Duration `json:"wait,omitempty"`
	Result RebuildResult `json:"result"`
}

// Done reports whether there is nothing left to do.
func (r Rebuilding) Done() bool { return r.Step == stepDone }

// Switched reports whether the new collection is in use. To begin anew would be to do all again.
func (r Rebuilding) Switched() bool { return r.Result.Switched }

// Count counts the items looked at, of about the total.
func (r Rebuilding) Count() (seen, total int) { return r.Seen, r.Total }

// Title says how far the rebuild is, for people.
func (r Rebuilding) Title() string {
	const title = "make the collection anew"
	switch r.Step {
	case stepBegin:
		return title
	case stepFill:
		return fmt.Sprintf("%s: %d of about %d items", title, r.Seen, r.Total)
	case stepCompare:
		return fmt.Sprintf("%s: compare with the log, at project %q", title, r.Project)
	default:
		return title + ": delete the old one"
	}
}

// RebuildVectors asks the collection's workflow to make it anew beside the one in use, and to switch to it, and waits
// for the result. Several collections are made at the same time, and the result is the sum of theirs.
func (a *Activities) RebuildVectors(ctx context.Context, in RebuildInput) (RebuildResult, error) {
	var sum RebuildResult
	in.Run = activity.GetInfo(ctx).WorkflowExecution.RunID
	versions, err := a.indexes.Versions(ctx)
	if err != nil {
		return sum, boundary.Return(ctx, err)
	}
	all := collections(versions...)
	if in.Collection != "" {
		all = []string{in.Collection}
	}
	made, errs := make([]RebuildResult, len(all)), make([]error, len(all))
	var wait sync.WaitGroup
	for i, collection := range all {
		in := in
		in.Collection = collection
		wait.Go(func() {
			made[i], errs[i] = boundary.Submit[RebuildResult](ctx, a.temporal, schema.UpdateRebuild, in.Run, in)
		})
	}
	wait.Wait()
	for i, err := range errs {
		if err != nil {
			return sum, err
		}
		sum.add(made[i])
	}
	return sum, nil
}

// add adds the result for another collection.
func (r *RebuildResult) add(other RebuildResult) {
	first := r.Collection == ""
	if !first {
		other.Collection = r.Collection + ", " + other.Collection
	}
	other.Items += r.Items
	other.Copied += r.Copied
	other.Embedded += r.Embedded
	other.Kept += r.Kept
	other.Pending += r.Pending
	other.Failed += r.Failed
	other.Missing += r.Missing
	other.Extra += r.Extra
	other.Changed += r.Changed
	other.Examples = append(r.Examples, other.Examples...)
	other.Examples = other.Examples[:min(len(other.Examples), maxExamples)]
	other.Switched = other.Switched && (first || r.Switched)
	*r = other
}

// RebuildCollection does some of a rebuild, and returns how far it is. Only the vector_writer workflow may call it.
// Stopped at any point and called again with the same argument, it skips what it has written.
func (a *Activities) RebuildCollection(ctx context.Context, in Rebuilding) (Rebuilding, error) {
	return boundary.Run(ctx, in, a.rebuild)
}

func (a *Activities) rebuild(ctx context.Context, in Rebuilding) (Rebuilding, error) {
	w, err := a.indexes.Writer(ctx, in.Collection)
	if err != nil {
		return in, err
	}
	return w.Rebuild(ctx, in)
}

// rebuild is one turn of a rebuild.
type rebuild struct {
	*Writer
	*Rebuilding
	// until is when the turn should end.
	until time.Time
	// tenants are the projects whose tenants are known to be in the new class.
	tenants map[string]bool
}

// Rebuild does one turn of a rebuild. The writer may do other work between two turns: a turn begins by following what was
// written meanwhile, and the last one also ends with the switch. So the class that is switched to lacks nothing.
func (w *Writer) Rebuild(ctx context.Context, state Rebuilding) (Rebuilding, error) {
	r := &rebuild{Writer: w, Rebuilding: &state, until: time.Now().Add(w.opts.Turn), tenants: map[string]bool{}}
	r.Wait = 0
	if err := w.project(ctx); err != nil {
		return state, err
	}
	if err := r.stand(ctx); err != nil {
		return state, err
	}
	if r.Step == stepBegin {
		if err := r.begin(ctx); err != nil {
			return state, err
		}
	}
	if r.Step == stepDrop {
		if r.Wait > 0 {
			return state, nil // Another attempt has switched just now.
		}
		return state, r.drop(ctx)
	}
	if err := r.follow(ctx); err != nil {
		return state, err
	}
	if r.Step == stepFill {
		if err := r.fill(ctx); err != nil {
			return state, err
		}
	}
	if r.Step == stepCompare {
		return state, r.compareProjects(ctx)
	}
	return state, nil
}

func (r *rebuild) late() bool { return !time.Now().Before(r.until) }

// stand finds out where the rebuild stands in the store. An attempt that was stopped may have gone further than the
// state tells, and people delete collections.
func (r *rebuild) stand(ctx context.Context) error {
	if r.Step == stepBegin || r.Step == stepDrop {
		return nil
	}
	class, err := r.client.class(ctx, r.collection)
	if err != nil {
		return err
	}
	switch class {
	case r.New:
		r.switched()
		return r.count(ctx)
	case r.Old:
	default:
		return fmt.Errorf("rebuild %q: %w: %q, not %q", r.collection, ErrCollectionChanged, class, r.Old)
	}
	exists, err := r.client.exists(ctx, r.New)
	if err == nil && !exists {
		*r.Rebuilding = Rebuilding{RebuildInput: r.RebuildInput}
	}
	return err
}

// begin makes the new class, or goes on with one that an earlier rebuild has left. One with other settings, and one that
// is older than the class in use, is deleted.
func (r *rebuild) begin(ctx context.Context) error {
	var err error
	r.Old, err = r.client.EnsureCollection(ctx, r.collection)
	if r.Unfit = errors.Is(err, ErrCollection); err != nil && !r.Unfit {
		return err
	}
	made, err := r.client.generations(ctx, r.collection)
	if err != nil {
		return err
	}
	last := max(generation(r.Old), 0)
	for _, class := range made {
		n := generation(class.Class)
		switch {
		case class.Class == r.Old:
		case n > generation(r.Old) && class.Description == schema.EntryClass(class.Class).Description:
			r.New = class.Class
		default:
			if err := r.client.deleteClass(ctx, class.Class); err != nil {
				return err
			}
		}
		last = max(last, n)
	}
	if r.New == "" {
		r.New = schema.VectorGeneration(r.collection, last+1)
	}
	if err := r.client.ensureClass(ctx, schema.EntryClass(r.New)); err != nil {
		return err
	}
	if _, err := r.log.AsWriter(ctx, r.stream(), schema.StreamHead{}); err != nil {
		return err
	}
	counts, err := r.outbox.Counts(ctx, r.opts.Now(), r.opts.Backoff)
	r.Seq, r.Total = r.log.Head(r.stream()).Seq, counts.Pending+counts.Failed+counts.Done
	r.Step, r.Result.Collection = stepFill, r.collection
	return err
}

// switched says that the name leads to the new class, and leaves the old one for a while.
func (r *rebuild) switched() {
	r.Result.Switched, r.Step, r.Wait = true, stepDrop, r.opts.Timing.Vectors
}

// count counts the objects of the new class.
func (r *rebuild) count(ctx context.Context) error {
	tenants, err := r.client.Tenants(ctx, r.New)
	if err != nil {
		return err
	}
	r.Result.Items = 0
	for _, tenant := range tenants {
		n, err := r.client.countTenant(ctx, r.New, tenant)
		if err != nil {
			return err
		}
		r.Result.Items += n
	}
	return nil
}

// drop deletes all generations but the new one.
func (r *rebuild) drop(ctx context.Context) error {
	made, err := r.client.generations(ctx, r.collection)
	if err != nil {
		return err
	}
	for _, class := range made {
		if class.Class != r.New {
			if err := r.client.deleteClass(ctx, class.Class); err != nil {
				return err
			}
		}
	}
	r.Step = stepDone
	return nil
}
