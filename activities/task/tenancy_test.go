package task_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"axiommind/activities/clickhouse"
	"axiommind/activities/eventlog"
	"axiommind/activities/task"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
)

func TestI10NoReadCrossesProjects(t *testing.T) {
	t.Parallel()
	names, random := stacktest.SomeNames(t)
	noReadCrossesProjects(t, names, random)
}

// No query returns a task of another project, from the tables or as of a time, although all projects have the same
// tasks.
func noReadCrossesProjects(t *testing.T, names []string, random *rand.Rand) {
	t.Helper()
	b := newBundle(t)
	tables := task.NewTables(b.conn)
	entries, ids, all := map[string][]string{}, map[string][]string{}, []string{}
	var everyEntry []string
	for _, project := range names {
		reports := []schema.Entry{
			b.report(project, "Ship it", schema.TaskBlocked, "VPN", "PROJ-7"), b.report(project, "Write it up", schema.TaskPending),
			b.report(project, "Deploy", schema.TaskDone),
		}
		for _, e := range reports {
			entries[project], everyEntry = append(entries[project], e.ID), append(everyEntry, e.ID)
		}
		b.apply(t, project, reports...)
		for e, err := range b.log.Stream(t.Context(), schema.ProjectStream(project), eventlog.StreamOptions{}) {
			require.NoError(t, err)
			payload, err := schema.DecodePayload(e)
			require.NoError(t, err)
			for _, of := range payload.(schema.EntityChange).Entities() {
				if !slices.Contains(ids[project], of.ID) {
					ids[project], all = append(ids[project], of.ID), append(all, of.ID)
				}
			}
		}
	}
	for _, project := range names {
		other := names[random.IntN(len(names))]
		mine := ids[project]
		for _, s := range []task.Selection{{Project: project}, {Project: project, AsOf: noon.AddDate(1, 0, 0)}} {
			views, err := b.queries.ListTasks(t.Context(), s, "")
			require.NoError(t, err)
			require.Len(t, views, 3)
			blocked, err := b.queries.ListBlockedTasks(t.Context(), s)
			require.NoError(t, err)
			require.Len(t, blocked, 1)
			reported, err := b.queries.ListTasksReportedDone(t.Context(), s)
			require.NoError(t, err)
			require.Len(t, reported, 1)
			for _, v := range slices.Concat(views, blocked, reported) {
				require.Contains(t, mine, v.Task.ID)
				for _, blocker := range slices.Concat(v.Blockers, v.Suggestions) {
					require.Contains(t, mine, blocker.ID)
					require.Contains(t, mine, blocker.Effective.ID)
				}
			}
			found, err := b.queries.Entities(t.Context(), s, all)
			require.NoError(t, err)
			require.Len(t, found, len(mine))
			observers, err := b.queries.Observers(t.Context(), s, all)
			require.NoError(t, err)
			for id, of := range observers {
				require.Contains(t, mine, id)
				require.Subset(t, entries[project], of)
			}
			detail, err := b.queries.GetTaskDetail(t.Context(), s, "Ship it")
			require.NoError(t, err)
			require.Contains(t, mine, detail.Task.ID)
			for _, item := range detail.History {
				require.Equal(t, project, item.Event.Project)
			}
			foreign, err := b.queries.GetTaskDetail(t.Context(), task.Selection{Project: other}, detail.Task.ID)
			if project != other {
				require.ErrorIs(t, err, task.ErrNotFound, "%q", foreign.Task.Title)
			}
		}
		found, err := tables.Read(t.Context(), project, task.Wants{Entries: everyEntry, IDs: all, Targets: all, Titles: []string{"Ship it", "Deploy"}})
		require.NoError(t, err)
		require.Len(t, found.Observed, 3)
		for id := range found.Observed {
			require.Contains(t, entries[project], id)
		}
		require.Len(t, found.Entities, len(mine))
		for target, from := range found.Pointing {
			require.Contains(t, mine, target)
			require.Subset(t, mine, from)
		}
		for _, of := range found.Titles {
			require.Subset(t, mine, of)
		}
		types := []schema.EntityType{schema.EntityTask, schema.EntityCondition, schema.EntityArtifact}
		prefixed, err := tables.Prefixed(t.Context(), project, types, "", 1000)
		require.NoError(t, err)
		require.ElementsMatch(t, mine, prefixed)
		titled, err := tables.Titled(t.Context(), project, types, "", 1000)
		require.NoError(t, err)
		require.Len(t, titled, len(mine))
		reported, err := tables.ReportedDone(t.Context(), project, 1000)
		require.NoError(t, err)
		require.Subset(t, mine, reported)
	}
}

// A read of tasks without a project is refused.
func TestI10EmptyProjectIsRefused(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.apply(t, "p", b.report("p", "Ship it", schema.TaskBlocked, "VPN"))
	ctx, tables, types := t.Context(), task.NewTables(b.conn), []schema.EntityType{schema.EntityTask}
	for name, read := range map[string]func() error{
		"ids":           func() error { _, err := tables.Read(ctx, "", task.Wants{IDs: []string{"x"}}); return err },
		"titles":        func() error { _, err := tables.Read(ctx, "", task.Wants{Titles: []string{"Ship it"}}); return err },
		"prefixed":      func() error { _, err := tables.Prefixed(ctx, "", types, "", 9); return err },
		"titled":        func() error { _, err := tables.Titled(ctx, "", types, "", 9); return err },
		"reported done": func() error { _, err := tables.ReportedDone(ctx, "", 9); return err },
		"observers":     func() error { _, err := b.queries.Observers(ctx, task.Selection{}, []string{"x"}); return err },
	} {
		require.ErrorIs(t, read(), clickhouse.ErrNoScope, name)
	}
	for _, s := range []task.Selection{{}, {AsOf: noon.Add(time.Hour)}} {
		for name, read := range map[string]func() error{
			"list":        func() error { _, err := b.queries.ListTasks(ctx, s, ""); return err },
			"blocked":     func() error { _, err := b.queries.ListBlockedTasks(ctx, s); return err },
			"suggested":   func() error { _, err := b.queries.ListTasksWithOnlySuggestedBlockers(ctx, s); return err },
			"placeholder": func() error { _, err := b.queries.ListTasksWithUnknownPlaceholderBlocker(ctx, s); return err },
			"reported":    func() error { _, err := b.queries.ListTasksReportedDone(ctx, s); return err },
			"resolved":    func() error { _, err := b.queries.ListResolvedConditions(ctx, s); return err },
			"entities":    func() error { _, err := b.queries.Entities(ctx, s, []string{"x"}); return err },
			"detail":      func() error { _, err := b.queries.GetTaskDetail(ctx, s, "Ship it"); return err },
		} {
			require.ErrorIs(t, read(), task.ErrCommand, fmt.Sprint(name, s))
		}
	}
}
