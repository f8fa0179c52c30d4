package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"axiommind/schema"
)

// eventText says in words what a task event changed.
func eventText(e schema.Event) string {
	switch e.Type {
	case schema.TaskCreated:
		return words(e, func(p schema.TaskCreatedPayload) string {
			text := "created, " + statusWords(string(p.Status))
			if p.ReportedStatus != "" && p.ReportedStatus != p.Status {
				text += fmt.Sprintf(" (reported %s)", p.ReportedStatus)
			}
			return text
		})
	case schema.TaskStatusChanged:
		return words(e, func(p schema.TaskStatusChangedPayload) string {
			text := step(p.From, p.To)
			if p.Reopened {
				text = "reopened: " + text
			}
			return text + liftedText(p.Lifted)
		})
	case schema.TaskPriorityChanged:
		return words(e, func(p schema.TaskPriorityChangedPayload) string {
			return fmt.Sprintf("priority %s → %s", p.From, p.To)
		})
	case schema.TaskTitleChanged:
		return words(e, func(p schema.TaskTitleChangedPayload) string { return fmt.Sprintf("renamed from “%s”", p.From) })
	case schema.TaskBlockersSet:
		return words(e, func(p schema.TaskBlockersSetPayload) string {
			return fmt.Sprintf("blockers (%s): %s", p.Mode, blockerNames(p.Blockers)) + liftedText(p.Lifted)
		})
	case schema.TaskTransitionRejected:
		return words(e, func(p schema.TaskTransitionRejectedPayload) string {
			text := "refused"
			if p.To != "" {
				text += " " + step(p.From, p.To)
			}
			if len(p.Blockers) > 0 {
				text += " blockers " + blockerNames(p.Blockers)
			}
			return text + ": " + strings.ReplaceAll(p.Rejection, "_", " ")
		})
	case schema.TaskDoneReported:
		return words(e, func(p schema.TaskDoneReportedPayload) string {
			return "reported done, " + standingOfAll(p.EvidenceAligned, p.EvidenceProven, len(p.Evidence) > 0)
		})
	case schema.TaskMerged:
		return words(e, func(p schema.TaskMergedPayload) string { return "merged into " + p.Into })
	case schema.TaskObserved:
		return words(e, func(p schema.TaskObservedPayload) string {
			return fmt.Sprintf("spoken of as “%s” (%s)", oneLine(p.Title, 80), p.Method)
		})
	default:
		return strings.ReplaceAll(e.Type, "_", " ")
	}
}

func step(from, to schema.TaskStatus) string {
	return statusWords(string(from)) + " → " + statusWords(string(to))
}

func liftedText(blockers []schema.Blocker) string {
	if len(blockers) == 0 {
		return ""
	}
	return ", no longer waits for " + blockerNames(blockers)
}

func words[P any](e schema.Event, say func(P) string) string {
	var p P
	if err := json.Unmarshal(e.Payload, &p); err != nil {
		return fmt.Sprintf("%s (unreadable: %v)", e.Type, err)
	}
	return say(p)
}

func blockerNames(blockers []schema.Blocker) string {
	if len(blockers) == 0 {
		return "none"
	}
	names := make([]string, len(blockers))
	for i, b := range blockers {
		names[i] = oneLine(b.Text, 60)
		if b.Placeholder {
			names[i] = "something unknown"
		}
	}
	return strings.Join(names, "; ")
}
