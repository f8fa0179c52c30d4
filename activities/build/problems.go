package build

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"golang.org/x/sync/errgroup"

	"axiommind/activities/clickhouse"
	"axiommind/activities/entry"
	"axiommind/activities/llm"
	"axiommind/schema"
)

// Kinds of problems.
const (
	// ProblemLine is a line of the source that was repaired or skipped.
	ProblemLine = "line"
	// ProblemWindow is a window without a complete answer. ProblemItem is an item of an answer that was rejected.
	ProblemWindow = "window"
	ProblemItem   = "item"
	// ProblemFact is a fact that was not stored. ProblemTask is a change of a task that was refused, or a task note
	// that led to no task.
	ProblemFact = "fact"
	ProblemTask = "task"
	// ProblemVector is an entry or task title that search by meaning cannot find.
	ProblemVector = "vector"
)

// Problem is a part of a build's input that did not become memory, and the reason.
type Problem struct {
	// Kind is one of the constants above.
	Kind   string `json:"kind"`
	Where  string `json:"where"`
	Reason string `json:"reason"`
	// Retry is the remedy. It is empty if none is needed.
	Retry string `json:"retry,omitempty"`
	// Type is the type of the failure that left a window without a complete answer.
	Type string `json:"type,omitempty"`
	// Asked counts how often the model was asked about a window, this build included.
	Asked int `json:"asked,omitempty"`
}

// readProblems collects the skipped, rejected and quarantined items in the build's events, and the vectors that are
// missing now.
func (d *Detail) readProblems(ctx context.Context, conn driver.Conn) error {
	var started schema.BuildStartedPayload
	reads, ctx := errgroup.WithContext(ctx)
	parts := make([]problemReader, 4)
	for i, read := range []func(*problemReader, context.Context) error{
		(*problemReader).session, (*problemReader).facts, (*problemReader).changes, (*problemReader).ofEntries,
	} {
		p := &parts[i]
		*p = problemReader{conn: conn, run: d.Run, started: &started}
		reads.Go(func() error { return read(p, ctx) })
	}
	if err := reads.Wait(); err != nil {
		return fmt.Errorf("read problems of build %q: %w", d.BuildID, err)
	}
	d.Problems = []Problem{}
	for _, p := range parts {
		d.Problems = append(d.Problems, p.out...)
	}
	d.Resumed, d.Unread, d.Redacted = started.Resumed, started.Unread, started.Redacted
	return nil
}

// problemReader collects problems of one kind.
type problemReader struct {
	conn driver.Conn
	run  Run
	// started is filled from the session's own stream.
	started *schema.BuildStartedPayload
	out     []Problem
}

func (p *problemReader) add(found Problem) { p.out = append(p.out, found) }

// events yields the build's events in a stream, in order. Their positions are found first: with FINAL, the engine would read
// the payloads of the whole stream.
func (p *problemReader) events(ctx context.Context, stream string, types []string, each func(schema.Event) error) error {
	return clickhouse.Query(ctx, p.conn, func(rows driver.Rows) error {
		var e schema.Event
		if err := rows.Scan(&e.ID, &e.Type, &e.Payload); err != nil {
			return err
		}
		return each(e)
	}, `SELECT event_id, event_type, payload_json FROM events WHERE stream = ? AND build_id = ? AND event_type IN ?
		AND seq IN (SELECT seq FROM events_raw WHERE stream = ? AND build_id = ? AND event_type IN ?) ORDER BY seq`,
		stream, p.run.BuildID, types, stream, p.run.BuildID, types)
}

// session reads the problems in the session's own stream.
func (p *problemReader) session(ctx context.Context) error {
	var open []schema.MemoryExtractedPayload
	types := []string{schema.BuildStarted, schema.SessionIngested, schema.MemoryExtracted}
	err := p.events(ctx, p.run.Stream(), types, func(e schema.Event) (err error) {
		switch e.Type {
		case schema.BuildStarted:
			*p.started, err = schema.Decode[schema.BuildStartedPayload](e)
		case schema.SessionIngested:
			var ingested schema.SessionIngestedPayload
			ingested, err = schema.Decode[schema.SessionIngestedPayload](e)
			for _, s := range ingested.Skipped {
				p.add(Problem{
					Kind: ProblemLine, Where: fmt.Sprintf("line %d", s.Line), Reason: s.Reason,
					Retry: "mend the source where it matters, and process it again",
				})
			}
		default:
			var x schema.MemoryExtractedPayload
			if x, err = schema.Decode[schema.MemoryExtractedPayload](e); err != nil {
				return err
			}
			p.addExtraction(x)
			if !x.Answered() {
				open = append(open, x)
			}
		}
		return err
	})
	if err != nil || len(open) == 0 {
		return err
	}
	return p.answeredSince(ctx, open)
}

// addExtraction adds the problems of the extraction.
func (p *problemReader) addExtraction(x schema.MemoryExtractedPayload) {
	window := fmt.Sprintf("messages %d to %d", x.Window.First, x.Window.Last)
	asked := x.Window.Asked + 1
	times := "asked once"
	if asked > 1 {
		times = fmt.Sprintf("asked %d times", asked)
	}
	if len(x.ResponseKeys) > 1 {
		times += ", and to repair the answer"
	}
	if !x.Answered() {
		reason := fmt.Sprintf("the answer broke off after %d entries (%s)", len(x.Entries), times)
		if x.Quarantined != "" {
			reason = fmt.Sprintf("quarantined (%s): %s", times, x.Quarantined)
		}
		remedy := "ask again: " + Command("builds", "retry", p.run.BuildID)
		if x.GivenUp() {
			remedy = "too small to be asked about in parts; once more as it is: " + Command("builds", "retry", p.run.BuildID, "--force")
		}
		p.add(Problem{Kind: ProblemWindow, Where: window, Reason: reason, Retry: remedy, Asked: asked, Type: x.FailureType()})
	}
	for _, r := range x.Rejected {
		p.add(Problem{
			Kind: ProblemItem, Where: fmt.Sprintf("%s, item %d", window, r.Index), Reason: "rejected: " + r.Reason,
			Retry: "only another model or prompt is asked for it again; the item is in the log as it was given",
		})
	}
}

// answeredSince marks the problems of those open windows that the same extractor got answers for later, whole or in
// parts. The windows are in the order of their problems. Extractions by other extractors do not count.
func (p *problemReader) answeredSince(ctx context.Context, open []schema.MemoryExtractedPayload) error {
	all, err := readAnswers(ctx, p.conn, p.run.Stream())
	if err != nil {
		return err
	}
	answers := all[p.run.Stream()]
	for i := range p.out {
		if p.out[i].Kind != ProblemWindow {
			continue
		}
		x, w := open[0], open[0].Window
		open = open[1:]
		if buildID, ok := answers.To(x.Extractor, w); ok {
			p.out[i].Retry = "done: " + p.named(buildID) + " has the answer"
		} else if buildID, ok := answers.Again(x.Extractor, w); ok && buildID == p.run.BuildID {
			p.out[i].Retry = "this build asked again, for the rest or in halves: see its other problems"
		} else if ok {
			p.out[i].Retry = "build " + short(buildID) + " asked again, for the rest or in halves: see its problems"
		}
	}
	return nil
}

// readAnswers returns the answers about each of the streams' sessions.
func readAnswers(ctx context.Context, conn driver.Conn, streams ...string) (map[string]*llm.Answers, error) {
	out := make(map[string]*llm.Answers, len(streams))
	for _, stream := range streams {
		out[stream] = &llm.Answers{}
	}
	return out, clickhouse.Query(ctx, conn, func(rows driver.Rows) error {
		var stream, extractor, window, buildID string
		var x schema.MemoryExtractedPayload
		if err := rows.Scan(&stream, &extractor, &window, &x.Quarantined, &x.QuarantinedType, &x.Truncated, &buildID); err != nil {
			return err
		}
		if err := errors.Join(json.Unmarshal([]byte(extractor), &x.Extractor), json.Unmarshal([]byte(window), &x.Window)); err != nil {
			return fmt.Errorf("decode %s: %w", schema.MemoryExtracted, err)
		}
		out[stream].Add(x, buildID)
		return nil
	}, `SELECT stream, JSONExtractRaw(payload_json, 'extractor'), JSONExtractRaw(payload_json, 'window'),
			JSONExtractString(payload_json, 'quarantined'), JSONExtractString(payload_json, 'quarantined_type'),
			JSONExtractBool(payload_json, 'truncated'), build_id
		FROM events WHERE stream IN ? AND event_type = ? ORDER BY stream, seq`, streams, schema.MemoryExtracted)
}

// named is how a build is called where this one is shown.
func (p *problemReader) named(buildID string) string {
	if buildID == p.run.BuildID {
		return "this build"
	}
	return "build " + short(buildID)
}

// facts reads the facts that the writer of the memory did not store.
func (p *problemReader) facts(ctx context.Context) error {
	return p.events(ctx, schema.MemoryStream(p.run.User, p.run.Agent), []string{schema.FactSkipped}, func(e schema.Event) error {
		skipped, err := schema.Decode[schema.FactSkippedPayload](e)
		if err != nil {
			return err
		}
		p.add(p.skippedFact(skipped))
		return nil
	})
}

// changes reads the changes of tasks that the writer of the project refused.
func (p *problemReader) changes(ctx context.Context) error {
	var rejected []schema.TaskTransitionRejectedPayload
	types := []string{schema.TaskTransitionRejected}
	err := p.events(ctx, schema.ProjectStream(p.run.Project), types, func(e schema.Event) error {
		r, err := schema.Decode[schema.TaskTransitionRejectedPayload](e)
		rejected = append(rejected, r)
		return err
	})
	if err != nil || len(rejected) == 0 {
		return err
	}
	titles, err := p.titles(ctx, rejected)
	for _, r := range rejected {
		p.add(p.rejectedChange(r, titles[r.TaskID]))
	}
	return err
}

// ofEntries reads the problems of the build's entries.
func (p *problemReader) ofEntries(ctx context.Context) error {
	entries, err := entry.NewReader(p.conn).Read(ctx, entry.OfSession(p.run.SessionKey).Build(p.run.BuildID), entry.Statement)
	if err != nil {
		return err
	}
	if err := p.notes(ctx, entries); err != nil {
		return err
	}
	return p.vectors(ctx, entries)
}

// notes reads the task notes of a completed build that led to no task.
func (p *problemReader) notes(ctx context.Context, entries []entry.Row) error {
	notes := slices.DeleteFunc(slices.Clone(entries), func(e entry.Row) bool { return e.Type != schema.EntryTaskNote })
	if len(notes) == 0 || !p.run.Status.Completed() {
		return nil
	}
	observed, err := p.observed(ctx)
	if err != nil {
		return err
	}
	for _, note := range notes {
		if observed[note.ID] {
			continue
		}
		p.add(Problem{
			Kind: ProblemTask, Where: fmt.Sprintf("task note %s %q", short(note.ID), note.Title),
			Reason: "no task was made from it: it names none, or its title is only punctuation",
			Retry:  "the entry is kept: " + Command("entry", "show", short(note.ID), "--project", p.run.Project),
		})
	}
	return nil
}

// observed returns the ids of the session's entries in which any build observed a task.
func (p *problemReader) observed(ctx context.Context) (map[string]bool, error) {
	out := map[string]bool{}
	return out, clickhouse.Query(ctx, p.conn, clickhouse.Map(out, func(rows driver.Rows, id *string, is *bool) error { return rows.Scan(id, is) }),
		`SELECT JSONExtractString(payload_json, 'entry_id'), true FROM events WHERE stream = ? AND session_id = ? AND event_type = ?`,
		schema.ProjectStream(p.run.Project), p.run.SessionID, schema.TaskObserved)
}

func (p *problemReader) skippedFact(s schema.FactSkippedPayload) Problem {
	if s.Answer != "" {
		return keptFact(s)
	}
	found := Problem{Kind: ProblemFact, Where: fmt.Sprintf("fact %q", s.Content), Reason: words(s.Skipped) + ": " + s.Detail}
	if s.Skipped != schema.SkippedDuplicate {
		found.Retry = fmt.Sprintf("the entry is kept: %s; if another session states the fact, it is judged again",
			Command("entry", "show", short(s.EntryID), "--project", p.run.Project))
	}
	return found
}

// keptFact is a fact that a model's answer names for removal, or a question about facts that it did not answer.
func keptFact(s schema.FactSkippedPayload) Problem {
	found := Problem{Kind: ProblemFact, Where: fmt.Sprintf("removal of fact %s %q", s.FactID, s.Content), Reason: words(s.Skipped) + ": " + s.Detail}
	switch {
	case s.FactID == "":
		found.Where, found.Retry = "review of facts", "the facts in question are kept; facts are reviewed again with the next messages"
	case s.Skipped != schema.SkippedRemovalGone:
		found.Retry = "the fact is kept: if it no longer holds, delete it with starter facts delete"
	}
	return found
}

func (p *problemReader) rejectedChange(r schema.TaskTransitionRejectedPayload, title string) Problem {
	reason := words(r.Rejection)
	if r.To != "" {
		reason = fmt.Sprintf("%s to %s: %s", r.From, r.To, reason)
	}
	blockers := make([]string, len(r.Blockers))
	for i, b := range r.Blockers {
		blockers[i] = fmt.Sprintf("%q", b.Text)
	}
	if len(blockers) > 0 {
		reason += ": waits for " + strings.Join(blockers, ", ")
	}
	return Problem{
		Kind: ProblemTask, Where: fmt.Sprintf("task %s %q", short(r.TaskID), title), Reason: reason,
		Retry: fmt.Sprintf("see it with %s, and correct it with starter task set",
			Command("task", "show", short(r.TaskID), "--project", p.run.Project)),
	}
}

func (p *problemReader) titles(ctx context.Context, rejected []schema.TaskTransitionRejectedPayload) (map[string]string, error) {
	var ids []string
	for _, r := range rejected {
		if !slices.Contains(ids, r.TaskID) {
			ids = append(ids, r.TaskID)
		}
	}
	out := map[string]string{}
	err := clickhouse.Query(ctx, p.conn, clickhouse.Map(out, func(rows driver.Rows, id, title *string) error { return rows.Scan(id, title) }),
		"SELECT entity_id, title FROM entities WHERE project = ? AND entity_id IN ?", p.run.Project, ids)
	return out, err
}

// vectors reads the build's entries and task titles whose vectors could not be written so far.
func (p *problemReader) vectors(ctx context.Context, entries []entry.Row) error {
	ids, titles := make([]string, len(entries)), map[string]string{}
	for i, e := range entries {
		ids[i], titles[e.ID] = e.ID, e.Title
	}
	return clickhouse.Query(ctx, p.conn, func(rows driver.Rows) error {
		var kind, id, reason string
		var attempts uint32
		var permanent bool
		if err := rows.Scan(&kind, &id, &reason, &attempts, &permanent); err != nil {
			return err
		}
		found := Problem{
			Kind: ProblemVector, Where: fmt.Sprintf("vector of entry %s %q", short(id), titles[id]), Reason: reason,
			Retry: "it is tried again by itself; at once with starter reconcile",
		}
		if kind == schema.ItemTaskTitle {
			found.Where = "vector of the title of task " + short(id)
		}
		switch {
		case permanent:
			found.Retry = "mend the cause, then starter reconcile"
		case attempts == 0:
			found.Retry = "it is written as soon as the outage is over"
		default:
			found.Reason = fmt.Sprintf("%s (tried %d times)", reason, attempts)
		}
		p.add(found)
		return nil
	}, `SELECT item_kind, item_id, error, attempts, permanent FROM vector_outbox
		WHERE embedding_version = ? AND project = ? AND status = 'failed' AND (item_kind = ? AND item_id IN ?
			OR item_kind = ? AND item_id IN (SELECT concat(JSONExtractString(payload_json, 'task_id'), '/', toString(seq))
				FROM events WHERE stream = ? AND build_id = ? AND event_type IN ?))
		ORDER BY item_kind, item_id`,
		p.run.EmbeddingVersion, p.run.Project, schema.ItemEntry, ids,
		schema.ItemTaskTitle, schema.ProjectStream(p.run.Project), p.run.BuildID,
		[]string{schema.TaskCreated, schema.TaskTitleChanged})
}

func short(id string) string { return id[:min(8, len(id))] }

// words turns a constant into words.
func words(constant string) string { return strings.ReplaceAll(constant, "_", " ") }
