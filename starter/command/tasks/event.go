package tasks

import (
	"fmt"
	"reflect"
	"strings"

	"axiommind/schema"
	"axiommind/starter/command"
	"axiommind/starter/command/show"
)

// wording describes one type of event in words, from its payload.
type wording struct {
	payload reflect.Type
	say     func(payload any) string
}

func worded[P any](say func(P) string) wording {
	return wording{reflect.TypeFor[P](), func(payload any) string { return say(payload.(P)) }}
}

// Wordings are the wordings of all events in a project's stream.
var Wordings = []wording{
	worded(func(p schema.TaskCreatedPayload) string {
		text := "created, " + statusWords(string(p.Status))
		if p.ReportedStatus != "" && p.ReportedStatus != p.Status {
			text += fmt.Sprintf(" (reported %s)", p.ReportedStatus)
		}
		return text
	}),
	worded(func(p schema.TaskObservedPayload) string {
		return fmt.Sprintf("spoken of as “%s” (%s)", command.OneLine(p.Title, 80), p.Method)
	}),
	worded(func(p schema.TaskStatusChangedPayload) string {
		text := step(p.From, p.To)
		if p.Reopened {
			text = "reopened: " + text
		}
		return text + liftedText(p.Lifted)
	}),
	worded(func(p schema.TaskPriorityChangedPayload) string {
		return fmt.Sprintf("priority %s → %s", p.From, p.To)
	}),
	worded(func(p schema.TaskTitleChangedPayload) string { return fmt.Sprintf("renamed from “%s”", p.From) }),
	worded(func(p schema.TaskBlockersSetPayload) string {
		return fmt.Sprintf("blockers (%s): %s", p.Mode, blockerNames(p.Blockers)) + liftedText(p.Lifted)
	}),
	worded(func(p schema.TaskTransitionRejectedPayload) string {
		text := "refused"
		if p.To != "" {
			text += " " + step(p.From, p.To)
		}
		if len(p.Blockers) > 0 {
			text += " blockers " + blockerNames(p.Blockers)
		}
		return text + ": " + strings.ReplaceAll(p.Rejection, "_", " ")
	}),
	worded(func(p schema.TaskDoneReportedPayload) string {
		if p.By != "" {
			return "reported done by " + command.Unbroken(p.By)
		}
		return "reported done, " + show.EvidenceStateOfAll(p.EvidenceAligned, p.EvidenceProven, len(p.Evidence) > 0)
	}),
	worded(func(p schema.TaskMergedPayload) string { return "merged into " + p.Into }),
	worded(func(p schema.ConditionDeclaredPayload) string {
		if p.AutoPlaceholder {
			return "something unknown is waited for"
		}
		return fmt.Sprintf("first waited for, as “%s”", command.OneLine(p.Text, 80))
	}),
	worded(func(p schema.ConditionResolvedToPayload) string {
		return fmt.Sprintf("turned out to be %s %s (by %s)", p.Target.Type, command.ShortID(p.Target.ID), strings.ReplaceAll(p.ResolvedBy, "_", " "))
	}),
	worded(func(p schema.ArtifactDeclaredPayload) string {
		return fmt.Sprintf("first spoken of, as “%s”", command.OneLine(p.Text, 80))
	}),
	worded(func(schema.ArtifactClosedPayload) string { return "closed" }),
}

// EventText describes an event's change in words.
func EventText(e schema.Event) string {
	payload, err := schema.DecodePayload(e)
	if err != nil {
		return fmt.Sprintf("%s (unreadable: %v)", e.Type, err)
	}
	for _, w := range Wordings {
		if w.payload == reflect.TypeOf(payload) {
			return w.say(payload)
		}
	}
	return strings.ReplaceAll(e.Type, "_", " ")
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

func blockerNames(blockers []schema.Blocker) string {
	if len(blockers) == 0 {
		return "none"
	}
	names := make([]string, len(blockers))
	for i, b := range blockers {
		names[i] = command.OneLine(b.Text, 60)
		if b.Placeholder {
			names[i] = "something unknown"
		}
	}
	return strings.Join(names, "; ")
}
