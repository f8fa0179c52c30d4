package task

import (
	"slices"

	"axiommind/schema"
)

// transitions are the legal status changes that do not need a reopening.
var transitions = map[schema.TaskStatus][]schema.TaskStatus{
	schema.TaskPending:    {schema.TaskInProgress, schema.TaskBlocked, schema.TaskCancelled},
	schema.TaskInProgress: {schema.TaskPending, schema.TaskBlocked, schema.TaskDone, schema.TaskCancelled},
	schema.TaskBlocked:    {schema.TaskInProgress, schema.TaskPending, schema.TaskDone, schema.TaskCancelled},
}

// reopenings are the status changes that need an explicit reopening.
var reopenings = map[schema.TaskStatus]schema.TaskStatus{
	schema.TaskDone:      schema.TaskInProgress,
	schema.TaskCancelled: schema.TaskPending,
}

// Legal reports whether a task may change from one status to another, by reopening it or not. A change to the same
// status is not legal.
func Legal(from, to schema.TaskStatus, reopen bool) bool {
	if slices.Contains(transitions[from], to) {
		return true
	}
	target, closed := reopenings[from]
	return closed && reopen && target == to
}

// Closed reports whether the status ends a task until it is reopened.
func Closed(status schema.TaskStatus) bool {
	_, closed := reopenings[status]
	return closed
}

// reported returns the status changes that follow from an entry's report, in order, or false if the report is not
// legal. Only a report that reopens a task takes more than one change.
func reported(from, to schema.TaskStatus, mayReopen bool) (steps []schema.TaskStatus, ok bool) {
	switch {
	case from == to:
		return nil, true
	case Legal(from, to, mayReopen):
		return []schema.TaskStatus{to}, true
	case Closed(from) && !Closed(to) && mayReopen:
		return []schema.TaskStatus{reopenings[from], to}, true
	}
	return nil, false
}

// commanded returns the shortest sequence of legal status changes, reopening included, that follows a person's
// command.
func commanded(from, to schema.TaskStatus) []schema.TaskStatus {
	came := map[schema.TaskStatus]schema.TaskStatus{from: ""}
	for queue := []schema.TaskStatus{from}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		if at == to {
			var steps []schema.TaskStatus
			for ; at != from; at = came[at] {
				steps = append(steps, at)
			}
			slices.Reverse(steps)
			return steps
		}
		next := slices.Clone(transitions[at])
		if target, closed := reopenings[at]; closed {
			next = append(next, target)
		}
		for _, n := range next {
			// The path may end in blocked but not pass through it, because blocked needs blockers.
			if _, seen := came[n]; !seen && (n != schema.TaskBlocked || n == to) {
				came[n] = at
				queue = append(queue, n)
			}
		}
	}
	return nil
}

func knownStatus(s schema.TaskStatus) bool {
	return len(transitions[s]) > 0 || Closed(s)
}

func knownPriority(p schema.TaskPriority) bool {
	switch p {
	case schema.PriorityLow, schema.PriorityMedium, schema.PriorityHigh, schema.PriorityCritical:
		return true
	}
	return false
}
