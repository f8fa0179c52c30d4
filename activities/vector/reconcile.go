package vector

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"axiommind/schema"
)

// reconcilePage is the number of rows, and of objects, that reconcile reads at a time.
const reconcilePage = 500

// maxReported is the maximum number of extra objects that a [Report] names.
const maxReported = 20

// Report counts the drift that [Writer.Reconcile] found.
type Report struct {
	// Checked counts the outbox rows that were compared with their items.
	Checked int `json:"checked"`
	// Missing, Changed, Stale, NotEnqueued and Failed count the items requested again, by reason: see the Drift
	// constants of package schema.
	Missing     int `json:"missing"`
	Changed     int `json:"changed"`
	Stale       int `json:"stale"`
	NotEnqueued int `json:"not_enqueued"`
	Failed      int `json:"failed"`
	// Extra counts the objects in the vector store that the log does not know. They are not deleted, since a search
	// drops objects without a row. ExtraIDs names the first of them.
	Extra    int      `json:"extra"`
	ExtraIDs []string `json:"extra_ids,omitempty"`
	// UnknownTenants are tenants that belong to no project with rows.
	UnknownTenants []string     `json:"unknown_tenants,omitempty"`
	Outbox         OutboxCounts `json:"outbox"`
}

// Repaired returns the number of items that were requested again.
func (r Report) Repaired() int { return r.Missing + r.Changed + r.Stale + r.NotEnqueued + r.Failed }

// Reconcile compares the items, the outbox and the vector store and requests repairs. It creates the collection if it
// is missing, and enqueues items that failed or were never enqueued. It makes rows pending again if their item has
// changed, or if their object is missing or differs. For each project it compares the counts and a sample, and all
// objects only if these differ. [Writer.IndexPending] then does the work.
func (w *Writer) Reconcile(ctx context.Context) (Report, error) {
	var report Report
	if err := w.project(ctx); err != nil {
		return report, err
	}
	if _, err := w.client.EnsureCollection(ctx, w.collection); err != nil {
		return report, err
	}
	for _, source := range w.sources {
		if err := w.reconcileSource(ctx, source, &report); err != nil {
			return report, err
		}
	}
	byProject, err := w.outbox.projects(ctx)
	if err != nil {
		return report, err
	}
	for _, p := range byProject {
		if err := w.reconcileProject(ctx, p, &report); err != nil {
			return report, fmt.Errorf("reconcile project %q: %w", p.Project, err)
		}
	}
	if report.UnknownTenants, err = w.unknownTenants(ctx, w.collection, byProject); err != nil {
		return report, err
	}
	report.Outbox, err = w.outbox.Counts(ctx, w.opts.Now(), w.opts.Backoff)
	return report, err
}

// reconcileSource compares the items of one kind with their rows.
func (w *Writer) reconcileSource(ctx context.Context, source Source, report *Report) error {
	project, id := "", ""
	for {
		items, err := source.After(ctx, project, id, reconcilePage)
		if err != nil || len(items) == 0 {
			return err
		}
		ids := make([]string, len(items))
		for i, item := range items {
			ids[i] = item.ID
		}
		rows, err := w.outbox.Of(ctx, source.Kind(), ids)
		if err != nil {
			return err
		}
		var drifted []drift
		for _, item := range items {
			row, ok := rows[item.ID]
			switch {
			case !ok:
				report.NotEnqueued++
				drifted = append(drifted, drift{w.newRow(item), schema.DriftUnknown})
			case row.Status == schema.OutboxDone && row.ContentHash != item.ContentHash():
				report.Stale++
				drifted = append(drifted, drift{row, schema.DriftStale})
			case row.Status == schema.OutboxFailed:
				report.Failed++
				drifted = append(drifted, drift{row, schema.DriftFailed})
			}
		}
		report.Checked += len(items)
		if err := w.recordDrift(ctx, drifted); err != nil {
			return err
		}
		last := items[len(items)-1]
		project, id = last.Project, last.ID
	}
}

func (w *Writer) newRow(item Item) Row {
	return Row{
		VectorItem: schema.VectorItem{Kind: item.Kind, ID: item.ID, EmbeddingVersion: w.version},
		Project:    item.Project, CreatedAt: w.opts.Now().UTC().Truncate(time.Microsecond),
	}
}

// projectCount is the number of a project's rows that are done.
type projectCount struct {
	Project string
	Done    int
}

// reconcileProject compares the rows of one project that are done with the objects of its tenant.
func (w *Writer) reconcileProject(ctx context.Context, p projectCount, report *Report) error {
	if err := w.client.EnsureTenant(ctx, w.collection, p.Project); err != nil {
		return err
	}
	stored, err := w.client.Count(ctx, w.collection, p.Project)
	if err != nil {
		return err
	}
	whole := stored != p.Done
	offset := 0
	if !whole && p.Done > w.opts.Sample {
		offset = rand.IntN(p.Done - w.opts.Sample + 1)
	}
	if !whole {
		rows, err := w.outbox.done(ctx, p.Project, "", offset, w.opts.Sample)
		if err != nil {
			return err
		}
		drifted, err := w.compare(ctx, p.Project, rows)
		if err != nil {
			return err
		}
		whole = len(drifted) > 0
	}
	if !whole {
		return nil
	}
	if err := w.compareAll(ctx, p.Project, report); err != nil {
		return err
	}
	return w.findExtra(ctx, w.collection, p.Project, report)
}

// compareAll requests again every row of the project whose object is missing or differs.
func (w *Writer) compareAll(ctx context.Context, project string, report *Report) error {
	after := ""
	for {
		rows, err := w.outbox.done(ctx, project, after, 0, reconcilePage)
		if err != nil || len(rows) == 0 {
			return err
		}
		drifted, err := w.compare(ctx, project, rows)
		if err != nil {
			return err
		}
		for _, d := range drifted {
			if d.reason == schema.DriftMissing {
				report.Missing++
			} else {
				report.Changed++
			}
		}
		if err := w.recordDrift(ctx, drifted); err != nil {
			return err
		}
		after = rows[len(rows)-1].JobID()
	}
}

// compare returns the rows whose objects are missing or differ.
func (w *Writer) compare(ctx context.Context, project string, rows []Row) ([]drift, error) {
	var out []drift
	for page := range slices.Chunk(rows, reconcilePage) {
		ids := make([]string, len(page))
		for i, r := range page {
			ids[i] = r.ObjectID()
		}
		objects, err := w.client.Lookup(ctx, w.collection, project, ids)
		if err != nil {
			return nil, err
		}
		for i, r := range page {
			object, ok := objects[ids[i]]
			switch {
			case !ok:
				out = append(out, drift{r, schema.DriftMissing})
			case object.ContentHash != r.ContentHash || object.ItemID != r.ID || object.Kind != r.Kind:
				out = append(out, drift{r, schema.DriftChanged})
			}
		}
	}
	return out, nil
}

// findExtra counts the project's objects without a row.
func (w *Writer) findExtra(ctx context.Context, collection, project string, report *Report) error {
	after := ""
	for {
		objects, err := w.client.List(ctx, collection, project, after, reconcilePage)
		if err != nil || len(objects) == 0 {
			return err
		}
		byKind := map[string][]string{}
		for _, o := range objects {
			byKind[o.Kind] = append(byKind[o.Kind], o.ItemID)
		}
		known := map[string]bool{}
		for kind, ids := range byKind {
			rows, err := w.outbox.Of(ctx, kind, ids)
			if err != nil {
				return err
			}
			for _, r := range rows {
				if r.Project == project {
					known[r.ObjectID()] = true
				}
			}
		}
		for _, o := range objects {
			if known[o.ID] {
				continue
			}
			report.Extra++
			if len(report.ExtraIDs) < maxReported {
				report.ExtraIDs = append(report.ExtraIDs, o.ID)
			}
		}
		after = objects[len(objects)-1].ID
	}
}

func (w *Writer) unknownTenants(ctx context.Context, collection string, known []projectCount) ([]string, error) {
	tenants, err := w.client.Tenants(ctx, collection)
	if err != nil {
		return nil, err
	}
	var unknown []string
	for _, tenant := range tenants {
		if !slices.ContainsFunc(known, func(p projectCount) bool { return schema.VectorTenant(p.Project) == tenant }) {
			unknown = append(unknown, tenant)
		}
	}
	return unknown, nil
}

type drift struct {
	row    Row
	reason string
}

// recordDrift makes the rows pending.
func (w *Writer) recordDrift(ctx context.Context, drifted []drift) error {
	for page := range slices.Chunk(drifted, w.opts.BatchSize) {
		payload := schema.VectorDriftedPayload{Collection: w.collection}
		var states []string
		for _, d := range page {
			payload.Items = append(payload.Items, schema.DriftedVector{
				VectorItem: d.row.VectorItem, Project: d.row.Project, EnqueuedAt: d.row.CreatedAt, Reason: d.reason,
			})
			states = append(states, d.row.state()...)
		}
		event, err := w.event(payload, "", schema.VectorDriftedKey(w.collection, states))
		if err != nil {
			return err
		}
		if _, err := w.append(ctx, []schema.Event{event}); err != nil {
			return err
		}
	}
	return nil
}
