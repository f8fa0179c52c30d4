package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"axiommind/starter/command"
)

// result is the outcome of a run.
type result struct {
	Project  string    `json:"project"`
	Prefix   string    `json:"session_prefix"`
	Fill     *filled   `json:"fill,omitempty"`
	Length   float64   `json:"length_s"`
	Requests []summary `json:"requests"`
	// Given counts the sessions that the system took, and Kept those of them that it has remembered.
	Given   int      `json:"given"`
	Kept    int      `json:"kept"`
	Kills   []string `json:"kills,omitempty"`
	Samples []sample `json:"samples,omitempty"`
}

// filled is how the store was filled, and the costs of one session.
type filled struct {
	Sessions int     `json:"sessions"`
	Seconds  float64 `json:"seconds"`
	// CPU is in milliseconds a session, by process. It is empty away from the machine of the stack.
	CPU map[string]float64 `json:"cpu_ms"`
	// Events and Rows are a session's, and Bytes the growth of the files of each store.
	Events float64            `json:"events"`
	Rows   float64            `json:"rows"`
	Bytes  map[string]float64 `json:"bytes"`
}

func fillOf(n int, took time.Duration, before, after sample) *filled {
	each := func(a, b float64) float64 { return (b - a) / float64(n) }
	f := &filled{
		Sessions: n, Seconds: took.Seconds(), CPU: map[string]float64{},
		Events: each(float64(before.Events), float64(after.Events)), Rows: each(float64(before.Rows), float64(after.Rows)),
		Bytes: map[string]float64{"clickhouse": (1 << 20) * each(before.ClickHouseMiB, after.ClickHouseMiB)},
	}
	if len(after.Processes) > 0 {
		f.Bytes["temporal"] = (1 << 20) * each(before.TemporalMiB, after.TemporalMiB)
		f.Bytes["weaviate"] = (1 << 20) * each(before.WeaviateMiB, after.WeaviateMiB)
	}
	for name, p := range after.Processes {
		f.CPU[name] = 1e3 * each(before.Processes[name].CPU, p.CPU)
	}
	return f
}

// tolerated is the share of requests of a kind that may fail or not be sent, if no server was killed.
const tolerated = 0.05

// failure is the error for a run in which sessions were lost, or many requests failed.
func (r *result) failure() error {
	for _, s := range r.Requests {
		if bad := s.Errors + s.NotSent; len(r.Kills) == 0 && float64(bad) > tolerated*float64(bad+s.Answers) {
			return fmt.Errorf("%d of %d requests (%s) failed or were not sent", bad, bad+s.Answers, s.Kind)
		}
	}
	if r.Kept < r.Given {
		return fmt.Errorf("%d of %d sessions are not remembered: see `starter builds list --project %s --status failed` and `starter queue`, "+
			"or give the queue more time by --settle", r.Given-r.Kept, r.Given, command.ShellWord(r.Project))
	}
	return nil
}

func (r *result) print(out io.Writer) error {
	var b strings.Builder
	say := func(format string, args ...any) { _, _ = fmt.Fprintf(&b, format, args...) }
	if f := r.Fill; f != nil {
		say("\nFilled with %d sessions in %.0f s: %.1f a second.\n", f.Sessions, f.Seconds, float64(f.Sessions)/f.Seconds)
		say("Up to the end of the last one, without the work that follows it, a session took %.0f events and %.0f rows", f.Events, f.Rows)
		for _, name := range []string{"clickhouse", "temporal", "weaviate"} {
			if bytes, there := f.Bytes[name]; there {
				say(", %.1f KiB of %s", bytes/1024, name)
			}
		}
		for _, name := range servers {
			if ms, there := f.CPU[name]; there {
				say(", %.0f ms of the %s's CPU", ms, name)
			}
		}
		say(".\n")
	}
	if len(r.Requests) > 0 {
		say("\nTimes in ms of the answers, from when a request was due, over %.0f s:\n\n", r.Length)
		tw := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
		_, _ = fmt.Fprintln(tw, "request\ta second\tanswers\terrors\tnot sent\tp50\tp90\tp99\tmax\t")
		for _, s := range r.Requests {
			_, _ = fmt.Fprintf(tw, "%s\t%g\t%d\t%d\t%d\t%.0f\t%.0f\t%.0f\t%.0f\t\n", s.Kind, s.Rate, s.Answers, s.Errors, s.NotSent, s.P50, s.P90, s.P99, s.Max)
		}
		_ = tw.Flush()
		for _, s := range r.Requests {
			if s.Asked > 0 {
				say("\n%d of %d searches for a session that was remembered %v before found it among their hits.\n", s.Found, s.Asked, indexed)
			}
			for _, text := range sorted(s.Reasons) {
				say("  %s failed %d times: %s\n", s.Kind, s.Reasons[text], text)
			}
		}
	}
	if len(r.Kills) > 0 {
		say("\nKilled meanwhile: %s.\n", strings.Join(r.Kills, ", "))
	}
	r.growth(&b)
	say("\n%d of %d sessions that the system took are remembered.\nRemove them with: go run ./starter forget --project %s --yes\n", r.Kept, r.Given, command.ShellWord(r.Project))
	_, err := io.WriteString(out, b.String())
	return err
}

func sorted(reasons map[string]int) []string {
	var texts []string
	for text := range reasons {
		texts = append(texts, text)
	}
	slices.SortFunc(texts, func(a, b string) int { return cmp.Or(reasons[b]-reasons[a], strings.Compare(a, b)) })
	return texts
}

// growth prints the sizes at the start, after each quarter, and at the end.
func (r *result) growth(b *strings.Builder) {
	whole := slices.DeleteFunc(slices.Clone(r.Samples), func(s sample) bool { return len(s.Unread) > 0 })
	if len(whole) < 2 {
		return
	}
	var shown []sample
	for q := range 5 {
		shown = append(shown, whole[q*(len(whole)-1)/4])
	}
	_, _ = fmt.Fprintln(b, "\nSizes, the last ones after the queue was empty:")
	_, _ = fmt.Fprintln(b)
	tw := tabwriter.NewWriter(b, 0, 0, 2, ' ', tabwriter.AlignRight)
	row := func(name string, value func(sample) float64) {
		most := 0.0
		for _, s := range shown {
			most = max(most, value(s))
		}
		if most == 0 {
			return
		}
		cells, digits := name+"\t", 0
		if most < 20 && most != float64(int(most)) {
			digits = 1
		}
		for _, s := range shown {
			cells += fmt.Sprintf("%.*f\t", digits, value(s))
		}
		_, _ = fmt.Fprintln(tw, cells)
	}
	row("seconds", func(s sample) float64 { return s.At })
	for _, name := range servers {
		row(name+" memory, MiB", func(s sample) float64 { return s.Processes[name].MiB })
		row(name+" open files", func(s sample) float64 { return float64(s.Processes[name].Files) })
		row(name+" threads", func(s sample) float64 { return float64(s.Processes[name].Threads) })
		row(name+" CPU, s", func(s sample) float64 { return s.Processes[name].CPU })
	}
	row("worker goroutines", func(s sample) float64 { return float64(s.Goroutines) })
	row("events", func(s sample) float64 { return float64(s.Events) })
	row("rows", func(s sample) float64 { return float64(s.Rows) })
	row("parts", func(s sample) float64 { return float64(s.Parts) })
	row("ClickHouse, MiB", func(s sample) float64 { return s.ClickHouseMiB })
	row("Temporal, MiB", func(s sample) float64 { return s.TemporalMiB })
	row("Weaviate, MiB", func(s sample) float64 { return s.WeaviateMiB })
	row("files of both", func(s sample) float64 { return float64(s.DiskFiles) })
	row("open workflows", func(s sample) float64 { return float64(s.Open) })
	row("longest history", func(s sample) float64 { return float64(s.History) })
	_ = tw.Flush()
}
