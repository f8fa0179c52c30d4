package dreams

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"axiommind/activities/build"
	"axiommind/starter/command"
)

// when formats the time in the schedule's time zone.
func (s *Schedule) when(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	zone, err := time.LoadLocation(s.TimeZone)
	if err != nil {
		zone = time.UTC
	}
	return t.In(zone).Format("2006-01-02 15:04 MST")
}

// next describes the time of the next run.
func (s *Schedule) next() string {
	switch {
	case s.Paused:
		return "paused"
	case s.Next == nil:
		return "never"
	}
	return s.when(*s.Next)
}

func (s *Schedule) plan() string { return s.Cron + " " + s.TimeZone }

func printApplied(b *strings.Builder, applied appliedSchedule) {
	s := &applied.Schedule
	command.Say(b, "%s %s: dreams of %s at '%s' in %s, up to %s later", applied.Outcome, s.ID, s.scope(), s.Cron, s.TimeZone, s.Jitter)
	switch {
	case s.Paused:
		command.Say(b, "; it is paused, resume it with: %s", build.Command("schedule", "resume", s.ID))
	case s.Next == nil:
		b.WriteString("; it never runs: no such time comes")
	default:
		command.Say(b, "; next %s", s.when(*s.Next))
	}
	b.WriteString("\n")
}

func printSchedules(b *strings.Builder, schedules []Schedule) {
	if len(schedules) == 0 {
		fmt.Fprintln(b, noSchedule)
		return
	}
	command.Table(b, "schedule, dreams of, when, next, last, ended, >missed, >skipped", schedules, func(s Schedule) []any {
		last, ended := "-", "-"
		if len(s.Recent) > 0 {
			last, ended = s.when(s.Recent[0].Scheduled), s.Recent[0].Status
		}
		return []any{s.ID, command.OneLine(s.scope(), 40), s.plan(), s.next(), last, ended, s.Missed, s.Skipped}
	})
	for i := range schedules {
		s := &schedules[i]
		if len(s.Recent) > 0 && s.Recent[0].Summary != "" {
			command.Say(b, "%s: %s\n", s.ID, s.Recent[0].Summary)
		}
		if s.Paused && s.Note != "" {
			command.Say(b, "%s is paused: %s\n", s.ID, s.Note)
		}
		warn(b, s)
	}
}

// warn writes the lost runs and the remedy.
func warn(b *strings.Builder, s *Schedule) {
	if lost := s.lost(); lost != "" {
		command.Say(b, "!! %s: %s\n   → %s\n", s.ID, lost, s.mend())
	}
}

// lost describes how many runs were lost, and why. It is empty if there are none.
func (s *Schedule) lost() string {
	var parts []string
	if s.Missed > 0 {
		parts = append(parts, fmt.Sprintf("%s missed while Temporal was away for longer than %s", command.Plural(s.Missed, "run was", "runs were"), s.CatchUp))
	}
	if s.Skipped > 0 {
		parts = append(parts, fmt.Sprintf("%s skipped because the one before still ran", command.Plural(s.Skipped, "run was", "runs were")))
	}
	return strings.Join(parts, ", ")
}

// mend describes the remedy for lost runs.
func (s *Schedule) mend() string {
	text := "run them: " + build.Command("schedule", "backfill", s.ID) + " --from DAY --to DAY"
	if s.LookbackDays == 0 {
		text += " (no day is lost without: the next run reads all that no dream has read)"
	}
	return text
}

func printSchedule(b *strings.Builder, s *Schedule) {
	command.Say(b, "%s dreams of %s\n", s.ID, s.scope())
	for _, line := range [][2]string{
		{"when", fmt.Sprintf("%s, up to %s later", s.plan(), s.Jitter)},
		{"catch-up", s.CatchUp.String()},
		{"reads", s.reads()},
		{"next", s.next()},
		{"note", s.Note},
		{"runs", fmt.Sprintf("%d, %d missed, %d skipped", s.Runs, s.Missed, s.Skipped)},
	} {
		if line[1] != "" {
			command.Say(b, "  %-9s %s\n", line[0], line[1])
		}
	}
	warn(b, s)
	if len(s.Recent) == 0 {
		fmt.Fprintf(b, "it has not run yet; run it now with: %s\n", build.Command("schedule", "trigger", s.ID))
		return
	}
	command.Table(b, "scheduled, started, ended, outcome, workflow", s.Recent, func(r scheduleRun) []any {
		return []any{s.when(r.Scheduled), s.when(r.Started), r.Status, cmp.Or(command.OneLine(r.Summary, 120), "-"), r.WorkflowID}
	})
}

func (s *Schedule) reads() string {
	text := "all days that no dream has read"
	if s.LookbackDays > 0 {
		text = "the last " + command.Plural(s.LookbackDays, "day", "days")
	}
	if s.AtOnce > 0 {
		text += ", " + command.Plural(s.AtOnce, "memory", "memories") + " at a time"
	}
	return text
}
