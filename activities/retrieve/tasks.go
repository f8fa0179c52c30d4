package retrieve

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"axiommind/activities/entry"
	"axiommind/activities/task"
	"axiommind/activities/text"
	"axiommind/activities/vector"
	"axiommind/schema"
)

// TaskHit is the task that a hit of [KindTask] is, or that came of the task note that a hit of [KindEntry] is. The title is
// that of the hit.
type TaskHit struct {
	ID       string              `json:"id"`
	Status   schema.TaskStatus   `json:"status"`
	Priority schema.TaskPriority `json:"priority,omitempty"`
}

// tasks turns candidates into hits, one for each task that exists.
func (r *search) tasks(ctx context.Context, candidates []vector.Candidate, t *tally) ([]*claim, error) {
	best := map[string]vector.Candidate{}
	for _, c := range candidates {
		id, _, _ := strings.Cut(c.ItemID, "/")
		if !related(c) {
			t.unrelated++
			continue
		}
		if known, ok := best[id]; !ok || c.Score > known.Score {
			best[id] = c
		}
	}
	if len(best) == 0 {
		return nil, nil
	}
	all := slices.Sorted(maps.Keys(best))
	var ids []string
	var found map[string]task.Entity
	group, reading := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		ids, err = r.ownTasks(reading, slices.Clone(all))
		return err
	})
	group.Go(func() (err error) {
		found, err = r.taskQueries().Entities(reading, r.tasksThen(), all)
		return err
	})
	if err := group.Wait(); err != nil {
		return nil, fmt.Errorf("read tasks: %w", err)
	}
	var out []*claim
	for _, id := range ids {
		e, ok := found[id]
		switch {
		case !ok:
			t.dropped++
			continue
		case e.ResolvesTo != nil:
			continue // It was merged into another one, which has its titles.
		}
		c := best[id]
		h := Hit{
			Kind:     KindTask,
			Entry:    schema.Entry{Scope: schema.Scope{Project: r.query.Project, User: r.query.User}, Title: e.Title, Stage: e.Stage, Status: e.Status, OccurredAt: e.UpdatedAt},
			Tracked:  &TaskHit{e.ID, e.TaskStatus, e.Priority},
			Explain:  r.weights.explainCandidate(c, cmp.Or(r.weights.Task, 1), 1, 1),
			Sessions: []Statement{},
		}
		h.Score, h.Explain.Share = h.Explain.Score(), r.terms.Share(e.Title)
		out = append(out, &claim{Hit: h, members: []Hit{h}})
	}
	return out, nil
}

func (r *search) taskQueries() *task.Queries { return task.NewQueries(r.log, r.conn) }

// tasksThen selects the tasks of the project at the time that the query asks about.
func (r *search) tasksThen() task.Selection {
	return task.Selection{Project: r.query.Project, AsOf: r.query.AsOf}
}

// ownTasks returns the tasks with an entry that the query admits. A task belongs to a project, and the work of other
// users in it is not in the user's memory. So a task has the agents, sessions and times of its entries.
func (r *search) ownTasks(ctx context.Context, taskIDs []string) ([]string, error) {
	observers, err := r.taskQueries().Observers(ctx, r.tasksThen(), taskIDs)
	if err != nil {
		return nil, fmt.Errorf("find the entries about them: %w", err)
	}
	rows, err := r.entries.ByID(ctx, entry.InProject(r.query.Project).IDs(slices.Concat(slices.Collect(maps.Values(observers))...)), entry.Lifecycle)
	if err != nil {
		return nil, fmt.Errorf("read the entries about them: %w", err)
	}
	return slices.DeleteFunc(taskIDs, func(id string) bool {
		return !slices.ContainsFunc(observers[id], func(entryID string) bool {
			row, ok := rows[entryID]
			return ok && r.query.matches(row.Entry)
		})
	}), nil
}

// join puts claims of all kinds into one list, the best first. A task is merged into the note that it came of, if the
// note is listed: evidence is not a result of its own.
func join(entries, tasks, others []*claim) []*claim {
	notes := map[string]*claim{}
	for _, c := range entries {
		if c.Type == schema.EntryTaskNote {
			notes[text.Title(c.Title)] = c
		}
	}
	all := slices.Clone(entries)
	for _, c := range tasks {
		if note := notes[text.Title(c.Title)]; note != nil {
			note.Tracked = c.Tracked
			continue
		}
		all = append(all, c)
	}
	all = append(all, others...)
	slices.SortStableFunc(all, byScore)
	return all
}
