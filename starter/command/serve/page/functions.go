package page

import (
	"encoding/json"
	"fmt"
	"html/template"
	"math"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"time"

	"axiommind/activities/batch"
	"axiommind/activities/build"
	"axiommind/activities/graduate"
	"axiommind/activities/task"
	"axiommind/activities/tier"
	"axiommind/schema"
	"axiommind/starter/command"
	"axiommind/starter/command/feed"
	"axiommind/starter/command/show"
)

// functions are those of the templates.
var functions = template.FuncMap{
	"short": command.ShortID, "words": spaced, "when": when,
	"plural":  func(n any, one, many string) string { return command.Plural(int(reflect.ValueOf(n).Int()), one, many) },
	"session": command.ShownSession, "head": func(n int, s string) string { return command.OneLine(s, n) },
	"seconds": func(s float64) string { return fmt.Sprintf("%.1f s", s) }, "score": func(x float64) string { return fmt.Sprintf("%.3f", x) },
	"percent": percent, "dollars": func(x float64) string { return fmt.Sprintf("$%.2f", x) },
	"segments": segments, "evidence": func(e schema.Evidence) string { return show.EvidenceState(e, show.ProofDifferences) },
	"passage": passage, "stages": schema.Stages, "reached": func(s, of schema.Stage) bool { return of.Rank() <= s.Rank() },
	"measures": graduate.Measures, "count": func(m graduate.Measure, h graduate.Health) int { return m.Count(h) }, "total": total, "refused": refusedDream, "merged": merged, "dropped": dropped,
	"outcomes": outcomes, "stagePlot": stagePlot, "reachedCount": func(d build.Day, stage string) int { return d.Reached[schema.Stage(stage)] }, "tokens": tokens, "costs": costs, "waits": waits, "times": times, "board": board, "taskStatuses": schema.TaskStatuses,
	"difflines": diffLines, "tree": tree,
	"list": func(items ...string) []string { return items }, "running": func(s schema.BuildStatus) bool { return s == schema.BuildRunning },
	"len0": length, "tab": newTab, "act": newButton, "later": newLater, "fieldOf": newInput, "stageOf": func(s schema.Stage, of schema.Status) standing { return standing{s, of} },
	"toggle": toggle, "anyRunning": anyRunning, "underway": underway, "heading": func(s string) string { return strings.ReplaceAll(s, "\n", " › ") },
	"sourceLink": sourceLink, "lineLink": lineLink, "filters": filters, "filtered": filtered, "isMessage": isMessage,
	"graphOf": func(d *data, tasks any) listed { return listed{data: d, Graph: newGraph(tasks)} }, "plus": func(a, b int) int { return a + b }, "minus": func(a, b, c int) int { return a - b - c },
	"thousandth": func(x float64) float64 { return x / 1000 }, "took": took, "longest": longest,
	"share": func(x, of float64) float64 { return round(200 * x / max(of, 1)) },
}

// tab is a link of the head of the page.
type tab struct {
	Link, Text string
	Here       bool
}

// newTab returns the link to a view. It is marked in the views that belong to it, of which it is the first.
func newTab(d *data, text string, views ...string) tab {
	return tab{d.Link(views[0]), text, slices.Contains(views, d.View)}
}

// button leads to the form of a change.
type button struct{ Link, Text string }

func newButton(d interface {
	Do(operation string, pairs ...string) string
}, text, operation string, pairs ...string,
) button {
	return button{d.Do(operation, pairs...), text}
}

// newLater is a link to a view, which a script replaces by the view itself.
func newLater(d *data, text string, parts ...string) button { return button{d.Link(parts...), text} }

// input is a field of a form with its value.
type input struct {
	Field
	Value string
}

func newInput(f Field, of *form) input { return input{f, of.Value(f.Name)} }

// Long reports whether the value is text of several lines.
func (i input) Long() bool {
	return slices.Contains([]string{"because", "reason", "with", "content", "text", "query", "decision"}, i.Name)
}

// standing is how far a memory is confirmed, and whether it is believed.
type standing struct {
	Stage  schema.Stage
	Status schema.Status
}

// toggle returns the other value of a parameter that is set or not.
func toggle(q url.Values, name string) string {
	if q.Get(name) != "" {
		return ""
	}
	return "true"
}

func anyRunning(builds any) bool {
	list, _ := builds.([]build.Run)
	return slices.ContainsFunc(list, func(r build.Run) bool { return r.Status == schema.BuildRunning })
}

// batchPause is how long a batch may be silent before it counts as stopped.
const batchPause = 10 * time.Minute

// underway reports whether a batch makes progress.
func underway(batches any) bool {
	list, _ := batches.([]batch.Summary)
	return slices.ContainsFunc(list, func(s batch.Summary) bool { return !s.Done() && time.Since(s.Latest) < batchPause })
}

// sourceLink returns the address of a source of core memory.
func sourceLink(d *data, id, kind, session, project string) string {
	switch {
	case kind == string(schema.SourceEntry):
		return d.Link("entries", id, "?", "project", project)
	case kind == string(schema.SourceFact):
		return d.Link("facts", id)
	case session != "":
		return d.Link("sessions", session, "?", "project", project)
	}
	return d.Link("memory", "versions")
}

// lineLink returns the address of the item that a line in the life of an entry is about, or "".
func lineLink(d *data, l graduate.Line) string {
	switch l.Moment {
	case graduate.MomentContested, graduate.MomentResolved:
		return d.Link("conflicts", l.ID)
	case graduate.MomentDecided:
		return d.Link("decisions", l.ID)
	}
	return ""
}

// filter is a choice of the search.
type filter struct {
	Name   string
	Values []string
}

func filters() []filter {
	return []filter{
		{"kind", []string{"entry", "task", "message", "fact"}},
		{"type", texts(schema.EntryTypes())},
		{"stage", texts(schema.Stages())},
		{"status", texts(schema.Statuses())},
	}
}

func texts[T ~string](list []T) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = string(s)
	}
	return out
}

func filtered(q url.Values) bool {
	for _, name := range []string{"kind", "type", "stage", "status", "from", "to", "as_of", "superseded"} {
		if q.Get(name) != "" {
			return true
		}
	}
	return false
}

// isMessage reports whether the view of a memory shows a message: an id may be the handle of one.
func isMessage(value any) bool { return !reflect.ValueOf(value).FieldByName("Proofs").IsValid() }

func took(from time.Time, to *time.Time) string {
	if to == nil {
		return "–"
	}
	return fmt.Sprintf("%.1f s", to.Sub(from).Seconds())
}

func longest(steps []schema.StepMetric) (most float64) {
	for _, s := range steps {
		most = max(most, s.LatencyMS)
	}
	return most
}

// length returns the length of a list, which may be missing.
func length(list any) int {
	if v := reflect.ValueOf(list); v.Kind() == reflect.Slice {
		return v.Len()
	}
	return 0
}

// spaced returns a name of the API as words.
func spaced(name any) string { return strings.ReplaceAll(fmt.Sprint(name), "_", " ") }

func when(t any) string {
	switch at := t.(type) {
	case time.Time:
		if !at.IsZero() {
			return command.When(at)
		}
	case *time.Time:
		if at != nil {
			return command.When(*at)
		}
	}
	return "–"
}

func percent(part, whole int) string {
	if whole == 0 {
		return "–"
	}
	// Nearly all is not all.
	return fmt.Sprintf("%g %%", math.Floor(1000*float64(part)/float64(whole))/10)
}

// total sums up the measures of the page's scope. A value of another type has none.
func total(d *data, counted any) (sum graduate.Health) {
	list, _ := counted.([]graduate.Health)
	for _, h := range list {
		if h.User == d.Scope.User && (d.Scope.Agent == "" || h.Agent == d.Scope.Agent) {
			sum = sum.Plus(h)
		}
	}
	return sum
}

// refusedDream returns the latest dream if it was refused. A later one settles it.
func refusedDream(dreams any) *tier.Dream {
	list, _ := dreams.([]tier.Dream)
	if len(list) == 0 || list[0].Status != schema.DreamIsRefused {
		return nil
	}
	return &list[0]
}

// merged and dropped part the lines that a version lacks: another line says the same, or none does.
func merged(all []schema.DroppedItem) []schema.DroppedItem {
	return slices.DeleteFunc(slices.Clone(all), func(i schema.DroppedItem) bool { return i.By == "" })
}

func dropped(all []schema.DroppedItem) []schema.DroppedItem {
	return slices.DeleteFunc(slices.Clone(all), func(i schema.DroppedItem) bool { return i.By != "" })
}

// piece is a part of a message, with the memories that it proves.
type piece struct {
	Text string
	// Of are the memories, by their ids, and Proven is true if one of them is proven.
	Of     []string
	Proven bool
}

// segments cuts the text of a message of a session where its marked spans begin and end.
func segments(m feed.ReadMessage) (out []piece) {
	spans := make([][]schema.Span, len(m.Memories))
	for i, of := range m.Memories {
		spans[i] = of.Spans
	}
	for _, s := range show.Segments(m.Text, spans) {
		p := piece{Text: s.Text}
		for _, i := range s.In {
			p.Of = append(p.Of, m.Memories[i].EntryID)
			p.Proven = p.Proven || m.Memories[i].Proven
		}
		out = append(out, p)
	}
	return out
}

// passage returns a proof in the sentences around it.
func passage(p show.Proof) show.Passage {
	if held, known := show.PassageOf(p.Evidence); known && p.Holds {
		return held
	}
	if !p.Holds {
		return show.Passage{Quoted: p.Quote}
	}
	return show.Passage{Before: p.Before, Quoted: p.Text, After: p.After}
}

// column is a column of the board of tasks.
type column struct {
	Name  string
	Tasks []task.View
}

// board sorts the tasks into columns. A task that is reported done waits for a person.
func board(tasks any) []column {
	list, _ := tasks.([]task.View)
	names := []string{"reported done", string(schema.TaskBlocked), string(schema.TaskInProgress), string(schema.TaskPending), string(schema.TaskDone), string(schema.TaskCancelled)}
	columns := make([]column, len(names))
	for i, name := range names {
		columns[i].Name = name
	}
	for _, t := range list {
		name := string(t.Task.TaskStatus)
		if t.Task.DoneReport != nil {
			name = names[0]
		}
		if at := slices.Index(names, name); at >= 0 {
			columns[at].Tasks = append(columns[at].Tasks, t)
		}
	}
	return columns
}

// line is a line of a diff.
type line struct{ Class, Text string }

func diffLines(diff string) (out []line) {
	for text := range strings.Lines(diff) {
		text = strings.TrimSuffix(text, "\n")
		class := "same"
		switch {
		case strings.HasPrefix(text, "+++"), strings.HasPrefix(text, "---"):
			class = "file"
		case strings.HasPrefix(text, "@@"):
			class = "place"
		case strings.HasPrefix(text, "+"):
			class = "added"
		case strings.HasPrefix(text, "-"):
			class = "removed"
		}
		out = append(out, line{class, text})
	}
	return out
}

// node is a value for people, whatever its type.
type node struct {
	Name, Text string
	Nodes      []node
}

// mostNodes bounds the items of a list that a tree shows.
const mostNodes = 200

// tree returns the value as the API encodes it. Empty parts are left out.
func tree(value any) []node {
	raw, err := json.Marshal(value)
	if err != nil {
		return []node{{Text: err.Error()}}
	}
	decoder := json.NewDecoder(strings.NewReader(string(raw)))
	decoder.UseNumber()
	_, nodes := grow(decoder)
	return nodes
}

// grow decodes the next value, and keeps the order of its fields.
func grow(d *json.Decoder) (text string, nodes []node) {
	token, err := d.Token()
	if err != nil {
		return "", nil
	}
	switch open := token.(type) {
	case json.Delim:
		for i := 0; d.More(); i++ {
			var n node
			if open == '{' {
				name, _ := d.Token()
				n.Name = spaced(name)
			}
			if n.Text, n.Nodes = grow(d); (n.Text != "" || n.Nodes != nil) && i < mostNodes {
				nodes = append(nodes, n)
			}
		}
		_, _ = d.Token()
		return "", nodes
	case nil:
		return "", nil
	default:
		return fmt.Sprint(token), nil
	}
}
