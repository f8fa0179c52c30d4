package vector

import (
	"context"
	"fmt"
	"slices"

	"axiommind/schema"
)

// comparePage is the number of projects to compare per query of the outbox.
const comparePage = 100

// compareProjects compares the new class with the outbox, project by project, and then switches.
func (r *rebuild) compareProjects(ctx context.Context) error {
	for {
		found, err := r.outbox.digests(ctx, r.Project, comparePage)
		if err != nil {
			return err
		}
		for _, p := range found {
			if err := r.compareProject(ctx, p); err != nil {
				return fmt.Errorf("rebuild project %q: %w", p.Project, err)
			}
			if r.Project = p.Project; r.Project != FactsProject && r.late() {
				return nil
			}
		}
		if len(found) < comparePage || r.Project == FactsProject {
			return r.finish(ctx)
		}
	}
}

// compareProject repairs the project in the new class if it differs from the outbox.
func (r *rebuild) compareProject(ctx context.Context, p projectDigest) error {
	got, err := r.digest(ctx, p.Project)
	if err != nil {
		return err
	}
	if got != p.digest && !r.DryRun {
		if err := r.mend(ctx, p.Project); err != nil {
			return err
		}
		want, err := r.outbox.digestOf(ctx, p.Project)
		if err != nil {
			return err
		}
		if got, err = r.digest(ctx, p.Project); err != nil {
			return err
		}
		if got != want {
			return fmt.Errorf("%w: %d objects, not %d, or other content: the old one stays in use", ErrUnequal, got.Count, want.Count)
		}
	}
	r.Result.Items += int(got.Count)
	if !r.Verify || r.Unfit {
		return nil
	}
	var report Report
	if err := r.findExtra(ctx, r.Old, p.Project, &report); err != nil {
		return err
	}
	r.Result.Extra += report.Extra
	for _, id := range report.ExtraIDs {
		r.Result.example("not in the log: object %q of project %q", id, p.Project)
	}
	return nil
}

// digest hashes the project's objects in the new class.
func (r *rebuild) digest(ctx context.Context, project string) (digest, error) {
	var d digest
	after := ""
	for {
		page, err := r.client.page(ctx, r.New, project, after, reconcilePage)
		if err != nil || len(page) == 0 {
			return d, err
		}
		for _, o := range page {
			if d.add(o.hash(project)); o.Additional.ID != r.object(o.Kind, o.ItemID) {
				d.add("") // It has the id of another item.
			}
		}
		after = page[len(page)-1].Additional.ID
	}
}

// mend makes the project's objects in the new class match its rows that are done.
func (r *rebuild) mend(ctx context.Context, project string) error {
	if err := r.tenant(ctx, project); err != nil {
		return err
	}
	after := ""
	for {
		rows, err := r.outbox.done(ctx, project, after, 0, fetchPage)
		if err != nil {
			return err
		}
		if len(rows) == 0 {
			return r.removeExtra(ctx, project)
		}
		if err := r.mendRows(ctx, project, rows); err != nil {
			return err
		}
		after = rows[len(rows)-1].JobID()
	}
}

func (r *rebuild) mendRows(ctx context.Context, project string, rows []Row) error {
	ids := make([]string, len(rows))
	for i, row := range rows {
		ids[i] = row.ObjectID()
	}
	objects, err := r.client.fetch(ctx, r.New, project, ids)
	if err != nil {
		return err
	}
	wrong := map[string][]Row{}
	for i, row := range rows {
		if o, ok := objects[ids[i]]; ok {
			if o.hash(project) == row.ContentHash && len(o.Additional.Vector) == r.embedder.Dimensions() {
				continue
			}
			if err := r.client.remove(ctx, r.New, project, ids[i]); err != nil {
				return err
			}
		}
		wrong[row.Kind] = append(wrong[row.Kind], row)
	}
	for kind, rows := range wrong {
		if err := r.mendKind(ctx, kind, project, rows); err != nil {
			return err
		}
	}
	return nil
}

// mendKind puts the items of the rows into the new class. An item that is no longer in its projection can't be written:
// its row is recorded as failed.
func (r *rebuild) mendKind(ctx context.Context, kind, project string, rows []Row) error {
	var items []Item
	var gone []*work
	found, err := r.load(ctx, rows)
	if err != nil {
		return err
	}
	for _, t := range found {
		if t.fault == nil {
			items = append(items, t.item)
			continue
		}
		gone = append(gone, t)
		r.failed(t)
	}
	if err := r.recordAll(ctx, gone); err != nil {
		return err
	}
	if len(items) == 0 {
		return nil
	}
	return r.placeIn(ctx, kind, project, items)
}

// removeExtra deletes the project's objects without a row that is done from the new class.
func (r *rebuild) removeExtra(ctx context.Context, project string) error {
	after := ""
	for {
		page, err := r.client.page(ctx, r.New, project, after, reconcilePage)
		if err != nil || len(page) == 0 {
			return err
		}
		known, err := r.doneObjects(ctx, project, page)
		if err != nil {
			return err
		}
		for _, o := range page {
			if known[o.Additional.ID] {
				continue
			}
			if err := r.client.remove(ctx, r.New, project, o.Additional.ID); err != nil {
				return err
			}
		}
		after = page[len(page)-1].Additional.ID
	}
}

// doneObjects returns the ids of the objects with a row that is done.
func (r *rebuild) doneObjects(ctx context.Context, project string, page []storedItem) (map[string]bool, error) {
	byKind := map[string][]string{}
	for _, o := range page {
		byKind[o.Kind] = append(byKind[o.Kind], o.ItemID)
	}
	known := map[string]bool{}
	for kind, ids := range byKind {
		rows, err := r.outbox.Of(ctx, kind, ids)
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			if row.Project == project && row.Status == schema.OutboxDone {
				known[row.ObjectID()] = true
			}
		}
	}
	return known, nil
}

// finish switches to the new class, which is complete. After a dry run it deletes the new class instead.
func (r *rebuild) finish(ctx context.Context) error {
	if r.Verify && !r.Unfit {
		if err := r.findTenants(ctx); err != nil {
			return err
		}
	}
	if r.DryRun {
		r.Step = stepDone
		return r.client.deleteClass(ctx, r.New)
	}
	if err := r.dropUnknown(ctx); err != nil {
		return err
	}
	if err := r.client.Point(ctx, r.collection, r.New); err != nil {
		return err
	}
	r.switched()
	return nil
}

// dropUnknown deletes the tenants in the new class of projects that the log does not know. An earlier rebuild may have
// left them there before the projects were erased.
func (r *rebuild) dropUnknown(ctx context.Context) error {
	known, err := r.outbox.projects(ctx)
	if err != nil {
		return err
	}
	tenants, err := r.unknownTenants(ctx, r.New, known)
	if err != nil || len(tenants) == 0 {
		return err
	}
	return r.client.deleteTenants(ctx, r.New, tenants)
}

// findTenants counts the objects in the old class of projects that the log does not know.
func (r *rebuild) findTenants(ctx context.Context) error {
	known, err := r.outbox.projects(ctx)
	if err != nil {
		return err
	}
	tenants, err := r.unknownTenants(ctx, r.Old, known)
	if err != nil {
		return err
	}
	slices.Sort(tenants)
	for _, tenant := range tenants {
		n, err := r.client.countTenant(ctx, r.Old, tenant)
		if err != nil {
			return err
		}
		if n > 0 {
			r.Result.Extra += n
			r.Result.example("not in the log: %d objects of the tenant %q", n, tenant)
		}
	}
	return nil
}
