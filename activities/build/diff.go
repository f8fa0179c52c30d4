package build

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/entry"
	"axiommind/activities/eventlog"
	"axiommind/activities/projection"
	"axiommind/schema"
)

// ErrOtherSession is returned for two builds of different sessions.
var ErrOtherSession = errors.New("the builds are of different sessions")

// Diff is the difference between two builds of a session: the statements of each extractor by the end of its build.
type Diff struct {
	A Side `json:"a"`
	B Side `json:"b"`
	// OnlyA and OnlyB are entries that share no sentence with one that only the other states.
	OnlyA []schema.Entry `json:"only_a"`
	OnlyB []schema.Entry `json:"only_b"`
	// Changed are entries of both that differ, Same counts those that do not.
	Changed []ChangedEntry `json:"changed"`
	Same    int            `json:"same"`
}

// Side is one of the builds.
type Side struct {
	Run
	Extractor schema.Extractor `json:"extractor"`
	// Entries counts the statements of the extractor by the end of the build, in this build or an earlier one.
	Entries int                 `json:"stated_entries"`
	Seconds float64             `json:"seconds"`
	Steps   []schema.StepMetric `json:"steps"`
}

// ChangedEntry is an entry as each of the builds states it: the same one, or one of the same sentences.
type ChangedEntry struct {
	A schema.Entry `json:"a"`
	B schema.Entry `json:"b"`
	// SameID is true if both are one entry in the log.
	SameID bool              `json:"same_id"`
	Fields []ChangedProperty `json:"fields"`
}

// ChangedProperty is a property of an entry, for people, as each of the builds has it.
type ChangedProperty struct {
	Name string `json:"name"`
	A    string `json:"a"`
	B    string `json:"b"`
}

// Compare compares two builds of a session, each given by its id or by the beginning of it.
func Compare(ctx context.Context, conn driver.Conn, a, b string) (Diff, error) {
	log := projection.New(conn, eventlog.Options{})
	var d Diff
	var stated [2][]schema.Entry
	for i, id := range []string{a, b} {
		run, err := Find(ctx, conn, id)
		if err != nil {
			return Diff{}, err
		}
		side := []*Side{&d.A, &d.B}[i]
		if *side, stated[i], err = readSide(ctx, conn, log.Store, run); err != nil {
			return Diff{}, err
		}
		if i == 1 && d.A.SessionKey != d.B.SessionKey {
			return Diff{}, fmt.Errorf("compare builds %q and %q: %w: one is of %s, the other of %s. Give two builds of one session, as builds list --session shows them",
				d.A.BuildID, d.B.BuildID, ErrOtherSession, sessionText(d.A.SessionKey), sessionText(d.B.SessionKey))
		}
	}
	d.compare(stated[0], stated[1])
	return d, nil
}

func sessionText(k schema.SessionKey) string {
	return fmt.Sprintf("session %q (project %q, user %q, agent %q)", k.SessionID, k.Project, k.User, k.Agent)
}

func readSide(ctx context.Context, conn driver.Conn, log *eventlog.Store, run Run) (Side, []schema.Entry, error) {
	s := Side{Run: run}
	start, err := log.Get(ctx, schema.EventID(schema.BuildStartedKey(run.BuildID)))
	if err != nil {
		return s, nil, fmt.Errorf("read the start of build %q: %w", run.BuildID, err)
	}
	started, err := schema.Decode[schema.BuildStartedPayload](start)
	if err != nil {
		return s, nil, err
	}
	s.Extractor = started.Spec.Extractor
	if run.FinishedAt != nil {
		s.Seconds = run.FinishedAt.Sub(run.StartedAt).Seconds()
	}
	if s.Steps, err = readMetrics(ctx, conn, run); err != nil {
		return s, nil, err
	}
	// The statements of a running build are those made so far.
	stated, err := entry.StatedBy(ctx, log, run.SessionKey, s.Extractor, schema.EventID(schema.BuildFinishedKey(run.BuildID)))
	s.Entries = len(stated)
	return s, stated, err
}

// compare pairs the entries: first those that are the same one, then those that share most of their sentences.
func (d *Diff) compare(a, b []schema.Entry) {
	d.OnlyA, d.OnlyB, d.Changed = []schema.Entry{}, []schema.Entry{}, []ChangedEntry{}
	byID := make(map[string]int, len(b))
	for i := range b {
		byID[b[i].ID] = i
	}
	paired := make([]bool, len(b))
	var left []schema.Entry
	for _, x := range a {
		i, same := byID[x.ID]
		if !same {
			left = append(left, x)
			continue
		}
		paired[i] = true
		d.pair(x, b[i])
	}
	var right []schema.Entry
	for i, y := range b {
		if !paired[i] {
			right = append(right, y)
		}
	}
	d.overlap(left, right)
}

// pair adds a pair, unless both are the same.
func (d *Diff) pair(a, b schema.Entry) {
	fields := properties(a, b)
	if len(fields) == 0 {
		d.Same++
		return
	}
	d.Changed = append(d.Changed, ChangedEntry{A: a, B: b, SameID: a.ID == b.ID, Fields: fields})
}

// overlap pairs entries that share sentences: the largest overlap first, and among equals those of the same type.
func (d *Diff) overlap(a, b []schema.Entry) {
	type candidate struct {
		a, b, bytes int
		sameType    bool
	}
	at := map[int][]int{}
	for j, y := range b {
		for _, e := range y.Evidence {
			if known := at[e.MessageIndex]; e.Found && (len(known) == 0 || known[len(known)-1] != j) {
				at[e.MessageIndex] = append(known, j)
			}
		}
	}
	var candidates []candidate
	for i, x := range a {
		seen := map[int]bool{}
		for _, e := range x.Evidence {
			for _, j := range at[e.MessageIndex] {
				if n := entry.Shared(x.Evidence, b[j].Evidence); n > 0 && !seen[j] {
					seen[j] = true
					candidates = append(candidates, candidate{i, j, n, x.Type == b[j].Type})
				}
			}
		}
	}
	slices.SortFunc(candidates, func(c, d candidate) int {
		byType := 0
		if c.sameType != d.sameType {
			byType = 1
			if c.sameType {
				byType = -1
			}
		}
		return cmp.Or(cmp.Compare(d.bytes, c.bytes), byType, cmp.Compare(c.a, d.a), cmp.Compare(c.b, d.b))
	})
	usedA, usedB := make([]bool, len(a)), make([]bool, len(b))
	for _, c := range candidates {
		if !usedA[c.a] && !usedB[c.b] {
			usedA[c.a], usedB[c.b] = true, true
			d.pair(a[c.a], b[c.b])
		}
	}
	for i, x := range a {
		if !usedA[i] {
			d.OnlyA = append(d.OnlyA, x)
		}
	}
	for j, y := range b {
		if !usedB[j] {
			d.OnlyB = append(d.OnlyB, y)
		}
	}
}

// properties returns the properties in which the entries differ.
func properties(a, b schema.Entry) []ChangedProperty {
	var out []ChangedProperty
	add := func(name, x, y string) {
		if x != y {
			out = append(out, ChangedProperty{name, x, y})
		}
	}
	add("type", string(a.Type), string(b.Type))
	add("title", a.Title, b.Title)
	add("content", a.Content, b.Content)
	add("category", a.Category, b.Category)
	add("section", a.Section, b.Section)
	add("mistake", a.SourceError, b.SourceError)
	add("confidence", confidenceText(a), confidenceText(b))
	x, y := taskOf(a), taskOf(b)
	add("task", x.Title, y.Title)
	add("task status", string(x.Status), string(y.Status))
	add("task priority", string(x.Priority), string(y.Priority))
	add("blocked by", strings.Join(x.BlockedBy, "; "), strings.Join(y.BlockedBy, "; "))
	add("evidence", evidenceText(a), evidenceText(b))
	add("standing", standingText(a), standingText(b))
	return out
}

func taskOf(e schema.Entry) schema.ExtractedTask {
	if e.Task == nil {
		return schema.ExtractedTask{}
	}
	return *e.Task
}

func confidenceText(e schema.Entry) string {
	if e.Confidence == nil {
		return ""
	}
	return fmt.Sprint(*e.Confidence)
}

func standingText(e schema.Entry) string {
	switch {
	case e.EvidenceProven:
		return "proven"
	case e.EvidenceAligned:
		return "aligned"
	}
	return "not aligned"
}

func evidenceText(e schema.Entry) string {
	quotes := make([]string, len(e.Evidence))
	for i, p := range e.Evidence {
		quotes[i] = fmt.Sprintf("message %d: “%s”", p.MessageIndex, p.Quote)
	}
	return strings.Join(quotes, "; ")
}
