package evaluation

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"axiommind/activities/retrieve/eval"
	"axiommind/starter/command"
)

// maxWorse bounds the list of questions that got worse.
const maxWorse = 20

func printEval(b *strings.Builder, o *evalOptions, r evalReport) {
	run := r.Run
	command.Say(b, "%s: %s", o.goldSet, command.Plural(run.GoldSet.Questions, "question", "questions"))
	if run.Half != eval.HalfAll {
		command.Say(b, " (the half %s)", string(run.Half))
	}
	command.Say(b, ", %s; embedder %s, alpha %s, %d results asked for, %s at a time\n\n",
		command.Plural(run.Overall.Refs, "reference", "references"), run.Embedder, run.Settings["alpha"], run.Limit,
		command.Plural(run.Concurrency, "question", "questions"))
	groups := groupsOf(run)
	if len(r.Ablations) > 0 {
		settings := []group{{"default", run.Overall}}
		for _, x := range r.Ablations {
			settings = append(settings, group{x.Name, x.Run.Overall})
		}
		renderMetrics(b, "setting", settings)
		b.WriteString("\n")
	}
	renderMetrics(b, "questions of", groups)
	b.WriteString("\n")
	renderHits(b, groups)
	sayAbstained(b, run)
	if o.out != "" {
		command.Say(b, "\nwritten to %s\n", o.out)
	}
	if r.Comparison != nil {
		sayComparison(b, o, *r.Comparison)
	}
}

// group is a row of a table.
type group struct {
	name string
	eval.Summary
}

// groupsOf returns all questions, and those of each category and language if there are several.
func groupsOf(run eval.Result) []group {
	out := []group{{"all", run.Overall}}
	for _, part := range []struct {
		word   string
		groups map[string]eval.Summary
	}{{"category ", run.Categories}, {"language ", run.Languages}} {
		if len(part.groups) < 2 {
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(part.groups)) {
			out = append(out, group{part.word + command.OneLine(name, 40), part.groups[name]})
		}
	}
	return out
}

func renderMetrics(b *strings.Builder, head string, groups []group) {
	titles := head + ", >n, >r@1, >r@5, >r@10, >95 %, >r@20, >mrr, >ndcg@10, >p50, >p95, >p99"
	command.Table(b, titles, groups, func(g group) []any {
		s := g.Summary
		return []any{
			g.name, s.Questions + s.Abstentions, figure(s, "recall@1"), figure(s, "recall@5"), figure(s, "recall@10"), interval(s), figure(s, "recall@20"),
			figure(s, "mrr"), figure(s, "ndcg@10"), millis(s.Latency.P50), millis(s.Latency.P95), millis(s.Latency.P99),
		}
	})
	b.WriteString("\n")
}

// renderHits writes the table of how often any and all references were found.
func renderHits(b *strings.Builder, groups []group) {
	names := []string{"hit@1", "hit@5", "hit@10", "hit@20", "all@1", "all@5", "all@10", "all@20"}
	command.Table(b, "questions of, >"+strings.Join(names, ", >"), groups, func(g group) []any {
		row := []any{g.name}
		for _, name := range names {
			row = append(row, figure(g.Summary, name))
		}
		return row
	})
	b.WriteString("\n")
}

// figure formats a metric, or a dash if no question has a value for it.
func figure(s eval.Summary, name string) string {
	v, ok := s.Metric(name)
	if !ok {
		return "-"
	}
	return fmt.Sprintf("%.3f", v)
}

func interval(s eval.Summary) string {
	if s.Questions == 0 {
		return "-"
	}
	return fmt.Sprintf("%.3f–%.3f", s.Interval[0], s.Interval[1])
}

func millis(d time.Duration) string {
	return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond))
}

func sayAbstained(b *strings.Builder, run eval.Result) {
	s := run.Overall
	if s.Abstentions > 0 {
		command.Say(b, "\n%s that nothing answers: nothing is returned for %.3f of them\n",
			command.Plural(s.Abstentions, "question", "questions"), s.Abstained)
	}
	if s.Questions > 0 && !slices.ContainsFunc(run.Questions, func(a eval.Answer) bool { return a.Returned > 0 }) {
		b.WriteString("\nNothing was returned for any question: are the sessions processed, in the projects of the questions?\n")
	}
}

func sayComparison(b *strings.Builder, o *evalOptions, c eval.Comparison) {
	command.Say(b, "\ncompared with %s:\n", o.compare)
	for _, change := range c.Changes {
		if change.MaxDrop == nil && change.Before == change.After {
			continue
		}
		command.Say(b, "  %-9s  %.3f → %.3f  %+.3f", change.Metric, change.Before, change.After, change.After-change.Before)
		if change.Failed {
			command.Say(b, "  fell by more than %.3f", *change.MaxDrop)
		}
		b.WriteString("\n")
	}
	command.Say(b, "%s got worse, %d got better\n", command.Plural(len(c.Worse), "question", "questions"), c.Better)
	for _, q := range c.Worse[:min(maxWorse, len(c.Worse))] {
		if len(q.Before) == 0 {
			command.Say(b, "  %s: something is returned\n", command.OneLine(q.ID, 60))
			continue
		}
		command.Say(b, "  %s: found at %s, and at %s before\n", command.OneLine(q.ID, 60), ranksText(q.After), ranksText(q.Before))
	}
	command.SayMore(b, "  ", len(c.Worse)-maxWorse)
}

// ranksText lists the ranks of a question's references, with a dash for those that were not found.
func ranksText(ranks []int) string {
	words := make([]string, len(ranks))
	for i, r := range ranks {
		words[i] = "-"
		if r > 0 {
			words[i] = fmt.Sprint(r)
		}
	}
	return strings.Join(words, ", ")
}
