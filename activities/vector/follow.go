package vector

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"axiommind/activities/boundary"
	"axiommind/activities/projection"
	"axiommind/schema"
)

// maxFollow bounds the pause of [Indexes.Follow] between two attempts, in units of the first pause.
const maxFollow = 30

// Follow indexes everything with this process's embedder, then switches searches to it and deletes the vectors of the
// earlier versions. It returns when this is done, when a process with another embedder was started since, or when the
// context ends. The next process continues the work of a killed one, since the log and the outboxes have its whole
// state.
func (x *Indexes) Follow(ctx context.Context, logger *slog.Logger) {
	logged := ""
	first := x.opts.withDefaults().Timing.Follow
	for wait := first; ; wait = min(2*wait, maxFollow*first) {
		done, err := x.followOnce(ctx, logger)
		if done || ctx.Err() != nil {
			return
		}
		if err != nil && err.Error() != logged {
			logged = err.Error()
			logger.Warn("the embedder is not in use yet", "embedder", x.own.Version(), "reason", err)
		}
		if !sleep(ctx, wait) {
			return
		}
	}
}

// sleep waits, and returns false if the context ends.
func sleep(ctx context.Context, wait time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(wait):
		return true
	}
}

func (x *Indexes) followOnce(ctx context.Context, logger *slog.Logger) (done bool, err error) {
	own := x.own.Version()
	choice, err := x.Now(ctx)
	switch {
	case err != nil:
		return false, err
	case choice.Chosen != own:
		logger.Info("another embedder was chosen since", "embedder", own, "chosen", choice.Chosen)
		return true, nil
	case choice.Used != own:
		complete, err := x.advance(ctx, own)
		if err != nil || !complete {
			return false, err
		}
		if choice, err = x.use(ctx, own); err == nil && choice.Used == own {
			logger.Info("everything is indexed: searches use the embedder", "embedder", own)
		}
		return false, err
	}
	err = x.clear(ctx, choice, logger)
	return err == nil, err
}

// advance brings the indexes of the version up to date with the log, and reports whether they are complete. The
// comparison with the vector store comes last, because it costs most. It also finds missing objects of rows that are
// done since an earlier use of the version.
func (x *Indexes) advance(ctx context.Context, version string) (complete bool, err error) {
	status, err := x.catchUp(ctx, version)
	if err != nil || status.Due > 0 {
		return false, err
	}
	for i, collection := range collections(version) {
		var report Report
		id := fmt.Sprintf("complete/%s/%d/%d", version, i, time.Now().UnixNano())
		err := boundary.Update{Name: schema.UpdateReconcile, ID: id, Arg: ReconcileInput{Collection: collection}}.Send(ctx, x.temporal, &report)
		if err != nil || report.Repaired()-report.Failed > 0 {
			return false, err
		}
	}
	return true, nil
}

// catchUp enqueues the items of the log that the outboxes of the version lack, and wakes their writers.
func (x *Indexes) catchUp(ctx context.Context, version string) (OutboxCounts, error) {
	for _, index := range schema.Indexes(version) {
		if _, err := x.log.ProjectAll(ctx, NewOutboxProjector(x.conn, index)); err != nil {
			return OutboxCounts{}, err
		}
	}
	if err := x.wake(ctx, version); err != nil {
		return OutboxCounts{}, err
	}
	return x.counts(ctx, version)
}

// counts counts the rows of all indexes of the version.
func (x *Indexes) counts(ctx context.Context, version string) (sum OutboxCounts, err error) {
	for _, index := range schema.Indexes(version) {
		n, err := NewOutbox(x.conn, index).Counts(ctx, time.Now(), x.opts.withDefaults().Backoff)
		if err != nil {
			return sum, err
		}
		sum.Pending += n.Pending
		sum.Failed += n.Failed
		sum.Permanent += n.Permanent
		sum.Done += n.Done
		sum.Due += n.Due
		sum.NextRetry = sooner(sum.NextRetry, n.NextRetry)
	}
	return sum, nil
}

// largest is how many projects [Indexes.Lost] counts the objects of.
const largest = 3

// Lost returns the projects with indexed items of which the vector store has none, as after the loss of its disk, and how many
// projects have indexed items. A project whose tenant is there is counted only if it is one of the largest.
func (x *Indexes) Lost(ctx context.Context, version string) (lost []string, projects int, err error) {
	for _, index := range schema.Indexes(version) {
		done, err := NewOutbox(x.conn, index).Projects(ctx)
		if err != nil {
			return nil, 0, err
		}
		collection := schema.VectorCollection(index)
		tenants, err := x.client.Tenants(ctx, collection)
		if err != nil {
			return nil, 0, err
		}
		names := slices.SortedFunc(maps.Keys(done), func(a, b string) int { return cmp.Or(cmp.Compare(done[b], done[a]), cmp.Compare(a, b)) })
		projects = max(projects, len(names))
		for i, project := range names {
			_, there := slices.BinarySearch(tenants, schema.VectorTenant(project))
			if there && i < largest {
				n, err := x.client.Count(ctx, collection, project)
				if err != nil {
					return nil, 0, err
				}
				there = n > 0
			}
			if !there && !slices.Contains(lost, project) {
				lost = append(lost, project)
			}
		}
	}
	return lost, projects, nil
}

// clear deletes the vectors of versions that are no longer needed, after the time that a search with one may take. The
// deletion is recorded first: a later choice of the version compares its index with the vector store. The next process
// deletes the leftovers of a killed one.
func (x *Indexes) clear(ctx context.Context, choice Choice, logger *slog.Logger) error {
	if len(choice.Old) > 0 {
		if !sleep(ctx, x.opts.withDefaults().Timing.Embedder+x.opts.withDefaults().Timing.Vectors) {
			return ctx.Err()
		}
		// Another worker may have indexed a session with the earlier version.
		if _, err := x.catchUp(ctx, x.own.Version()); err != nil {
			return err
		}
	}
	for _, version := range choice.Old {
		var err error
		if choice, err = x.drop(ctx, version); err != nil {
			return err
		}
	}
	for _, version := range choice.Dropped {
		n, err := x.delete(ctx, version)
		if err != nil {
			return err
		}
		if n > 0 {
			logger.Info("the vectors of an embedder that is not in use any longer are deleted", "embedder", version, "projects", n)
		}
	}
	return nil
}

// delete deletes the tenants of the log's projects in the collections of the version, and the collections if no other
// tenants are left: another database may use the same vector store. It returns the number of deleted tenants.
func (x *Indexes) delete(ctx context.Context, version string) (n int, err error) {
	for _, index := range schema.Indexes(version) {
		collection := schema.VectorCollection(index)
		stored, err := x.client.Tenants(ctx, collection)
		if err != nil || stored == nil {
			return n, err
		}
		known, err := NewOutbox(x.conn, index).projects(ctx)
		if err != nil {
			return n, err
		}
		mine := map[string]bool{}
		for _, p := range known {
			mine[schema.VectorTenant(p.Project)] = true
		}
		others := slices.DeleteFunc(slices.Clone(stored), func(tenant string) bool { return mine[tenant] })
		if n += len(stored) - len(others); len(others) == 0 {
			err = x.client.DeleteCollection(ctx, collection)
		} else if len(stored) > len(others) {
			err = x.client.deleteTenants(ctx, collection, slices.Collect(maps.Keys(mine)))
		}
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// IndexStatus is the progress of the indexes of an embedding version.
type IndexStatus struct {
	Version string `json:"version"`
	// Behind counts the streams of the log with events that are not enqueued yet.
	Behind int `json:"behind"`
	OutboxCounts
}

// Status returns the progress of the indexes of a version.
func (x *Indexes) Status(ctx context.Context, version string) (IndexStatus, error) {
	counts, err := x.counts(ctx, version)
	if err != nil {
		return IndexStatus{}, err
	}
	status := IndexStatus{Version: version, OutboxCounts: counts}
	var outboxes []projection.Projector
	for _, index := range schema.Indexes(version) {
		outboxes = append(outboxes, NewOutboxProjector(x.conn, index))
	}
	standings, err := x.log.ProjectionStatuses(ctx, outboxes...)
	for _, s := range standings {
		status.Behind += int(s.Behind)
	}
	return status, err
}
