package task

import (
	"slices"

	"axiommind/schema"
)

// Change is a change that an act made to one entity, or to a task that waited for it.
type Change struct {
	schema.EntityRef
	// What is one of the constants below.
	What string `json:"what"`
	// From and To are statuses, priorities or titles. For a merge and a resolution, To is an id.
	From string `json:"from,omitempty"`
	To   string `json:"to,omitempty"`
	// Blockers are those that the task has now, or that are suggested. Lifted are the blockers it no longer waits for.
	Blockers []string `json:"blockers,omitempty"`
	Lifted   []string `json:"lifted,omitempty"`
}

// Values of Change.What.
const (
	ChangedStatus   = "status"
	ChangedPriority = "priority"
	ChangedTitle    = "title"
	ChangedBlockers = "blockers"
	ChangedMerged   = "merged"
	ChangedResolved = "resolved"
	ChangedClosed   = "closed"
	// ChangedReported and ChangedSuggested wait for a person: that the task is done, and blockers.
	ChangedReported  = "reported"
	ChangedSuggested = "suggested"
)

// maxChanges bounds the number of changes in a result.
const maxChanges = 100

// changesOf returns the changes that the events of one act make, in order. Several steps of a status are one change.
func changesOf(events []schema.Event) ([]Change, error) {
	var out []Change
	for _, e := range events {
		o, err := readEvent(e)
		if err != nil {
			return nil, err
		}
		c, ok := o.change()
		if !ok {
			continue
		}
		before := slices.IndexFunc(out, func(d Change) bool { return d.ID == c.ID && d.What == c.What })
		switch {
		case before < 0:
			out = append(out, c)
		case c.What == ChangedStatus:
			out[before].To, out[before].Lifted = c.To, append(out[before].Lifted, c.Lifted...)
		default:
			out[before] = c
		}
	}
	// If a task was blocked and still is, only its blockers have changed.
	return slices.DeleteFunc(out, func(c Change) bool { return c.What == ChangedStatus && c.From == c.To }), nil
}

func (o occurrence) change() (Change, bool) {
	kind, ids := o.subjects()
	c := Change{EntityRef: schema.EntityRef{Type: kind, ID: ids[0]}}
	switch p := o.payload.(type) {
	case schema.TaskStatusChangedPayload:
		c.What, c.From, c.To, c.Lifted = ChangedStatus, string(p.From), string(p.To), texts(p.Lifted)
	case schema.TaskPriorityChangedPayload:
		c.What, c.From, c.To = ChangedPriority, string(p.From), string(p.To)
	case schema.TaskTitleChangedPayload:
		c.What, c.From, c.To = ChangedTitle, clip(p.From), clip(p.To)
	case schema.TaskBlockersSetPayload:
		c.What, c.Blockers, c.Lifted = ChangedBlockers, texts(p.Blockers), texts(p.Lifted)
		if p.Mode == schema.BlockersSuggest {
			c.What = ChangedSuggested
		}
	case schema.TaskDoneReportedPayload:
		c.What = ChangedReported
	case schema.TaskMergedPayload:
		c.What, c.To = ChangedMerged, p.Into
	case schema.ConditionResolvedToPayload:
		c.What, c.To = ChangedResolved, p.Target.ID
	case schema.ArtifactClosedPayload:
		c.What = ChangedClosed
	default:
		return c, false
	}
	return c, true
}

func texts(blockers []schema.Blocker) []string {
	const shown = 5
	out := make([]string, 0, min(len(blockers), shown+1))
	for i, b := range blockers {
		if i == shown {
			return append(out, "…")
		}
		out = append(out, clip(b.Text))
	}
	return out
}
