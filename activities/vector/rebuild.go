package vector

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.temporal.io/sdk/activity"

	"axiommind/activities/boundary"
	"axiommind/activities/text"
	"axiommind/schema"
)

// ErrCollectionChanged is returned if another run switched the collection during a rebuild. It is safe to rebuild
// again.
var ErrCollectionChanged = boundary.Invalid(schema.ErrorVectorRejected, errors.New("another generation of the collection is in use than when the rebuild began: run it again"))

// ErrUnequal is returned if the new collection differs from the log. The old one stays in use.
var ErrUnequal = boundary.Invalid(schema.ErrorVectorRejected, errors.New("the new collection differs from the log"))

// RebuildInput names the collection to rebuild and has the options.
type RebuildInput struct {
	// Collection is empty for all collections of the worker's embedder.
	Collection string `json:"collection,omitempty"`
	// Verify also compares the collection in use with the log. DryRun builds the new one and deletes it.
	Verify bool `json:"verify,omitempty"`
	DryRun bool `json:"dry_run,omitempty"`
	// Run is the requesting run. Another run may request the same rebuild again because the log has changed since.
	Run string `json:"run,omitempty"`
}

// Writer returns the input of the workflow that rebuilds the collection.
func (in RebuildInput) Writer() schema.WriterInput {
	return schema.VectorWriterInput{Collection: in.Collection}
}

// Validate returns an error if no collection is named.
func (in RebuildInput) Validate() error { return ReconcileInput{Collection: in.Collection}.Validate() }

// RebuildResult is the result of a rebuild.
type RebuildResult struct {
	Collection string `json:"collection"`
	// Items counts the objects of the new collection. Copied counts those with the vector of the old collection, and
	// Embedded those with a new one. Kept counts those that an earlier attempt had written. An item that changed
	// meanwhile is counted each time. Pending counts the items that are left to the outbox: an embedder may need an
	// hour for them.
	Items    int `json:"items"`
	Copied   int `json:"copied"`
	Embedded int `json:"embedded"`
	Kept     int `json:"kept,omitempty"`
	Pending  int `json:"pending,omitempty"`
	// Failed counts the items that could not be written. Their outbox rows have the reason, and are retried as usual.
	Failed int `json:"failed"`
	// Missing, Extra and Changed count the differences of the old collection from the log, if Verify is set. Items that
	// are pending or failed in the outbox are no differences.
	Missing int `json:"missing"`
	Extra   int `json:"extra"`
	Changed int `json:"changed"`
	// Examples are some of the differences and failures.
	Examples []string `json:"examples,omitempty"`
	// Switched is true if the new collection is in use.
	Switched bool `json:"switched"`
}

// Differences counts the differences of the old collection from the log.
func (r RebuildResult) Differences() int { return r.Missing + r.Extra + r.Changed }

// maxExamples and maxExample bound the examples of a result, in number and in bytes each.
const (
	maxExamples = 20
	maxExample  = 300
)

func (r *RebuildResult) example(format string, args ...any) {
	if len(r.Examples) < maxExamples {
		r.Examples = append(r.Examples, text.Clip(fmt.Sprintf(format, args...), maxExample))
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
	// Old is the class in use, and New its replacement.
	Old string `json:"old,omitempty"`
	New string `json:"new,omitempty"`
	// Unfit is true if the old class can't be written because of its settings.
	Unfit bool   `json:"unfit,omitempty"`
	Step  string `json:"step,omitempty"`
	// Kind, Project and ID are the checkpoint of the step.
	Kind    string `json:"kind,omitempty"`
	Project string `json:"project,omitempty"`
	ID      string `json:"id,omitempty"`
	// Seq is the position in the collection's stream up to which the new class has the writes to the old one.
	Seq uint64 `json:"seq,omitempty"`
	// Seen counts the processed items, of about Total.
	Seen  int `json:"seen,omitempty"`
	Total int `json:"total,omitempty"`
	// Wait is how long to wait before the next turn.
	Wait   time.Duration `json:"wait,omitempty"`
	Result RebuildResult `json:"result"`
}

// Done reports whether there is nothing left to do.
func (r Rebuilding) Done() bool { return r.Step == stepDone }

// Switched reports whether the new collection is in use. A restarted rebuild would repeat all of the work.
func (r Rebuilding) Switched() bool { return r.Result.Switched }

// Count returns the number of processed items and the approximate total.
func (r Rebuilding) Count() (seen, total int) { return r.Seen, r.Total }

// Title describes the progress of the rebuild for people.
func (r Rebuilding) Title() string {
	const title = "rebuild the collection"
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

// RebuildVectors asks the collection's workflow to rebuild it in a shadow class and switch to that, and waits for the
// result. Several collections are rebuilt concurrently, and the result is the sum of theirs.
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

// RebuildCollection does one turn of a rebuild and returns its new state. Only the vector_writer workflow may call it.
// If it is stopped and called again with the same argument, it skips the objects that it has written.
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
	// until is the time when the turn should end.
	until time.Time
	// tenants has the projects whose tenants are known to exist in the new class.
	tenants map[string]bool
}

// Rebuild does one turn of a rebuild. The writer may do other work between two turns. So a turn begins by copying the
// writes since the last one, and the last turn ends with the switch. The new class is then complete.
func (w *Writer) Rebuild(ctx context.Context, state Rebuilding) (Rebuilding, error) {
	r := &rebuild{Writer: w, Rebuilding: &state, until: time.Now().Add(w.opts.Turn), tenants: map[string]bool{}}
	r.Wait = 0
	if err := w.project(ctx); err != nil {
		return state, err
	}
	if err := r.syncState(ctx); err != nil {
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

// syncState updates the state from the vector store. A stopped attempt may have gone further than the state records, and
// people delete collections.
func (r *rebuild) syncState(ctx context.Context) error {
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

// begin creates the new class, or continues with one that an earlier rebuild left. Leftovers with other settings, or
// older than the class in use, are deleted.
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
	if err := r.client.ensureClass(ctx, r.client.entryClass(r.New)); err != nil {
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

// switched records that the new class is in use, and keeps the old one for a while.
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
