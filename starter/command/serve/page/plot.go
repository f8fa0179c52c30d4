package page

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"axiommind/activities/build"
	"axiommind/activities/task"
	"axiommind/schema"
	"axiommind/starter/command"
)

// Sizes of a plot, in its own units.
const (
	plotWidth, plotHeight = 640, 140
	plotBottom            = 18
)

// plot is a plot of bars that are stacked by series, one for each day.
type plot struct {
	Title         string
	Width, Height int
	Bars          []bar
	Labels        []label
	Legend        []series
	// Highest is the value of the highest bar.
	Highest string
	Empty   bool
}

// bar is a part of a bar, with its words.
type bar struct {
	X, Y, Width, Height float64
	Class, Title        string
}

type label struct {
	X    float64
	Text string
}

// series is a value of each day.
type series struct {
	Name, Class string
	of          func(build.Day) float64
}

// newPlot draws the series of the days.
func newPlot(title, format string, days any, all ...series) plot {
	known, _ := days.([]build.Day)
	list := filled(known, time.Now().UTC())
	p := plot{Title: title, Width: plotWidth, Height: plotHeight, Legend: all, Empty: true}
	highest := 0.0
	for _, d := range list {
		sum := 0.0
		for _, s := range all {
			sum += s.of(d)
		}
		highest = max(highest, sum)
	}
	p.Highest, p.Empty = fmt.Sprintf(format, highest), highest == 0
	if p.Empty {
		return p
	}
	slot := min(plotWidth/float64(len(list)), 48)
	for i, d := range list {
		x, y := float64(i)*slot, float64(plotHeight-plotBottom)
		for _, s := range all {
			value := s.of(d)
			if value <= 0 {
				continue
			}
			height := value / highest * (plotHeight - plotBottom - 4)
			y -= height
			p.Bars = append(p.Bars, bar{round(x + 1), round(y), round(slot - 2), round(height), s.Class, fmt.Sprintf("%s: %s "+format, d.Date, s.Name, value)})
		}
		if every := max(1, len(list)/6); i%every == 0 {
			p.Labels = append(p.Labels, label{round(x), d.Date[5:]})
		}
	}
	return p
}

// plotDays is how many days a plot shows, as the read of the overview does.
const plotDays = 30

// filled returns the last days up to now, with those that the list lacks.
func filled(known []build.Day, now time.Time) []build.Day {
	list := make([]build.Day, plotDays)
	for i := range list {
		list[i].Date = now.AddDate(0, 0, i+1-plotDays).Format(time.DateOnly)
		if at := slices.IndexFunc(known, func(d build.Day) bool { return d.Date == list[i].Date }); at >= 0 {
			list[i] = known[at]
		}
	}
	return list
}

func round(x float64) float64 { return math.Round(x*10) / 10 }

func outcomes(days any) plot {
	return newPlot("Builds by outcome", "%.0f", days,
		series{"succeeded", "good", func(d build.Day) float64 { return float64(d.Success) }},
		series{"empty", "plain", func(d build.Day) float64 { return float64(d.Empty) }},
		series{"partial", "warn", func(d build.Day) float64 { return float64(d.Partial) }},
		series{"failed", "bad", func(d build.Day) float64 { return float64(d.Failed) }},
		series{"unfinished", "open", func(d build.Day) float64 { return float64(d.Unfinished) }})
}

func stagePlot(days any) plot {
	return newPlot("Memories that rose to a stage", "%.0f", days,
		series{"candidate", "warn", func(d build.Day) float64 { return float64(d.Reached[schema.StageCandidate]) }},
		series{"verified", "plain", func(d build.Day) float64 { return float64(d.Reached[schema.StageVerified]) }},
		series{"certified", "good", func(d build.Day) float64 { return float64(d.Reached[schema.StageCertified]) }})
}

func tokens(days any) plot {
	return newPlot("Tokens of models", "%.0f", days,
		series{"in", "plain", func(d build.Day) float64 { return float64(d.Usage.InputTokens) }},
		series{"out", "good", func(d build.Day) float64 { return float64(d.Usage.OutputTokens + d.Usage.ThoughtTokens) }})
}

func costs(days any) plot {
	return newPlot("Cost of models", "$%.2f", days, series{"spent", "warn", func(d build.Day) float64 { return d.Usage.CostUSD }})
}

func waits(days any) plot {
	return newPlot("Longest wait in a queue", "%.1f s", days, series{"waited", "warn", func(d build.Day) float64 { return d.MaxWait }})
}

func times(days any) plot {
	return newPlot("Median time of a build", "%.1f s", days, series{"took", "plain", func(d build.Day) float64 { return d.MedianSeconds }})
}

// Sizes of a graph, in its own units.
const (
	boxWidth, boxHeight = 210, 44
	gapX, gapY          = 60, 14
	mostTitle           = 30
)

// graph is a graph of tasks and their blockers: a blocker is to the left of all that waits for it.
type graph struct {
	Width, Height int
	Boxes         []box
	Arrows        []arrow
}

// box is an entity of the graph.
type box struct {
	X, Y, Width, Height int
	// Class is the type of the entity, and Settled is true if no task need wait for it any longer.
	Class, Title, Whole, ID string
	IsTask, Settled         bool
	level                   int
}

// arrow leads from a blocker to a task that waits for it.
type arrow struct{ X1, Y1, X2, Y2, Middle int }

// newGraph lays out the graph of the blocked tasks.
func newGraph(tasks any) graph {
	list, _ := tasks.([]task.View)
	boxes := map[string]*box{}
	add := func(id, class, title string) {
		if boxes[id] == nil {
			boxes[id] = &box{Class: class, ID: id, Title: command.OneLine(title, mostTitle), Whole: title, IsTask: class == string(schema.EntityTask)}
		}
	}
	type edge struct{ from, to string }
	var edges []edge
	for _, t := range list {
		add(t.Task.ID, string(t.Task.Type), t.Task.Title)
		for _, b := range t.Blockers {
			add(b.Effective.ID, string(b.Effective.Type), cmp.Or(b.Effective.Title, b.Title))
			boxes[b.Effective.ID].Settled = !b.Effective.Open
			edges = append(edges, edge{b.Effective.ID, t.Task.ID})
		}
	}
	// The longest way to a box is no longer than the number of boxes: there are no cycles, and if there were, this would end.
	for range boxes {
		for _, e := range edges {
			if from, to := boxes[e.from], boxes[e.to]; to.level <= from.level && from.level < len(boxes) {
				to.level = from.level + 1
			}
		}
	}
	g := graph{}
	rows := map[int]int{}
	for _, b := range slices.SortedFunc(maps.Values(boxes), func(a, b *box) int {
		return cmp.Or(a.level-b.level, cmp.Compare(a.Whole, b.Whole), cmp.Compare(a.ID, b.ID))
	}) {
		b.X, b.Y, b.Width, b.Height = b.level*(boxWidth+gapX), rows[b.level]*(boxHeight+gapY), boxWidth, boxHeight
		rows[b.level]++
		g.Width, g.Height = max(g.Width, b.X+boxWidth), max(g.Height, b.Y+boxHeight)
		g.Boxes = append(g.Boxes, *b)
	}
	for _, e := range edges {
		from, to := boxes[e.from], boxes[e.to]
		x := from.X + boxWidth
		g.Arrows = append(g.Arrows, arrow{x, from.Y + boxHeight/2, to.X, to.Y + boxHeight/2, (x + to.X) / 2})
	}
	return g
}
