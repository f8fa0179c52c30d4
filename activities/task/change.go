package task

import (
	"slices"

	"axiommind/schema"
)

// Change is a change that an act made to one entity, or to a task that waited for it.
type Change struct {
	schema.EntityRef
	// Kind is one of the Changed constants.
	Kind string `json:"what"`
	// From and To are statuses, priorities or titles. For a merge and a resolution, To is an id.
	From string `json:"from,omitempty"`
	To   string `json:"to,omitempty"`
	// Blockers are the task's current or suggested blockers. Lifted are the removed blockers.
	Blockers []string `json:"blockers,omitempty"`
	Lifted   []string `json:"lifted,omitempty"`
}

// Kinds of changes.
const (
	ChangedStatus   = "status"
	ChangedPriority = "priority"
	ChangedTitle    = "title"
	ChangedBlockers = "blockers"
	ChangedMerged   = "merged"
	ChangedResolved = "resolved"
	ChangedClosed   = "closed"
	// ChangedReported is a report of done, and ChangedSuggested a suggestion of blockers. Both await a person's
	// confirmation.
	ChangedReported  = "reported"
	ChangedSuggested = "suggested"
)

// maxChanges bounds the number of changes in a result.
const maxChanges = 100

// changesOf returns the changes by the events of one act, in order. Several steps of a status are one change.
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
		before := slices.IndexFunc(out, func(d Change) bool { return d.ID == c.ID && d.Kind == c.Kind })
		switch {
		case before < 0:
			out = append(out, c)
		case c.Kind == ChangedStatus:
			out[before].To, out[before].Lifted = c.To, append(out[before].Lifted, c.Lifted...)
		default:
			out[before] = c
		}
	}
	// If a task was blocked and still is, only its blockers have changed.
	return slices.DeleteFunc(out, func(c Change) bool { return c.Kind == ChangedStatus && c.From == c.To }), nil
}

func (o occurrence) change() (Change, bool) {
	kind, ids := o.subjects()
	c := Change{EntityRef: schema.EntityRef{Type: kind, ID: ids[0]}}
	switch p := o.payload.(type) {
	case schema.TaskStatusChangedPayload:
		c.Kind, c.From, c.To, c.Lifted = ChangedStatus, string(p.From), string(p.To), texts(p.Lifted)
	case schema.TaskPriorityChangedPayload:
		c.Kind, c.From, c.To = ChangedPriority, string(p.From), string(p.To)
	case schema.TaskTitleChangedPayload:
		c.Kind, c.From, c.To = ChangedTitle, clip(p.From), clip(p.To)
	case schema.TaskBlockersSetPayload:
		c.Kind, c.Blockers, c.Lifted = ChangedBlockers, texts(p.Blockers), texts(p.Lifted)
		if p.Mode == schema.BlockersSuggest {
			c.Kind = ChangedSuggested
		}
	case schema.TaskDoneReportedPayload:
		c.Kind = ChangedReported
	case schema.TaskMergedPayload:
		c.Kind, c.To = ChangedMerged, p.Into
	case schema.ConditionResolvedToPayload:
		c.Kind, c.To = ChangedResolved, p.Target.ID
	case schema.ArtifactClosedPayload:
		c.Kind = ChangedClosed
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
