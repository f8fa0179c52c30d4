package llm

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"axiommind/activities/eventlog"
	"axiommind/activities/llm/prose"
	"axiommind/activities/session"
	"axiommind/activities/text"
	"axiommind/schema"
)

// AnsweredWindow is a window with the keys of its answers and the usage of the calls. The last key counts. If there is
// no answer, it has the reason and type of the failure.
type AnsweredWindow struct {
	Window          schema.Window `json:"window"`
	Keys            []string      `json:"keys,omitempty"`
	Quarantined     string        `json:"quarantined,omitempty"`
	QuarantinedType string        `json:"quarantined_type,omitempty"`
	Usage           schema.Usage  `json:"usage"`
}

// RecordInput holds the windows of one plan, in its order.
type RecordInput struct {
	schema.SessionKey
	BuildID   string           `json:"build_id"`
	Extractor schema.Extractor `json:"extractor"`
	Windows   []AnsweredWindow `json:"windows"`
	At        time.Time        `json:"at"`
	// Head is the head of the session's stream.
	Head schema.StreamHead `json:"head,omitzero"`
}

// RecordResult counts the windows and entries read from answers.
type RecordResult struct {
	Windows     int `json:"windows"`
	Entries     int `json:"entries"`
	Rejected    int `json:"rejected"`
	Quarantined int `json:"quarantined"`
	Truncated   int `json:"truncated"`
	// GivenUp counts those of the quarantined and truncated windows that are not asked about again.
	GivenUp int          `json:"given_up,omitempty"`
	Usage   schema.Usage `json:"usage"`
	// Head is the head of the session's stream.
	Head schema.StreamHead `json:"head,omitzero"`
}

// Add adds v to r.
func (r *RecordResult) Add(v RecordResult) {
	r.Windows += v.Windows
	r.Entries += v.Entries
	r.Rejected += v.Rejected
	r.Quarantined += v.Quarantined
	r.Truncated += v.Truncated
	r.GivenUp += v.GivenUp
	r.Usage.Add(v.Usage)
	r.Head = r.Head.Highest(v.Head)
}

// Unfinished counts the windows without a complete answer.
func (r RecordResult) Unfinished() int { return r.Quarantined + r.Truncated }

// Open reports whether there are windows to ask about again, or to halve.
func (r RecordResult) Open() bool { return r.Unfinished() > r.GivenUp }

// count counts the window of an extraction.
func (r *RecordResult) count(p schema.MemoryExtractedPayload) {
	r.Windows++
	switch {
	case p.Quarantined != "":
		r.Quarantined++
	case p.Truncated:
		r.Truncated++
	}
	if p.GivenUp() {
		r.GivenUp++
	}
}

// add adds the entries and the cost of an extraction.
func (r *RecordResult) add(p schema.MemoryExtractedPayload) {
	r.Entries += len(p.Entries)
	r.Rejected += len(p.Rejected)
	r.Usage.Add(p.Usage)
}

// Record reads the stored answers and appends one event for each window.
func Record(ctx context.Context, a *Activities, in RecordInput) (RecordResult, error) {
	return a.record(eventlog.WithHead(ctx, in.Stream(), in.Head), in)
}

func (a *Activities) record(ctx context.Context, in RecordInput) (RecordResult, error) {
	var result RecordResult
	windows := make([]schema.Window, len(in.Windows))
	for i, w := range in.Windows {
		windows[i] = w.Window
	}
	kept, err := a.kept(ctx, in.SessionKey, in.Extractor, windows...)
	if err != nil {
		return RecordResult{}, err
	}
	events := make([]schema.Event, 0, len(in.Windows))
	for _, w := range in.Windows {
		p := schema.MemoryExtractedPayload{
			SessionID: in.SessionID, Window: w.Window, Extractor: in.Extractor, ResponseKeys: w.Keys,
			Entries: []schema.ExtractedEntry{}, Quarantined: w.Quarantined, QuarantinedType: w.QuarantinedType, Usage: w.Usage,
		}
		if w.Quarantined == "" {
			if err := a.readInto(ctx, in.SessionKey, kept[windowKeyOf(w.Window)], &p); err != nil {
				return RecordResult{}, err
			}
		}
		result.count(p)
		result.add(p)
		event, err := in.event(p)
		if err != nil {
			return RecordResult{}, err
		}
		events = append(events, event)
	}
	_, err = a.log.AppendAll(ctx, in.Stream(), events)
	result.Head = a.log.Head(in.Stream())
	return result, err
}

// event returns the event of one window.
func (in RecordInput) event(p schema.MemoryExtractedPayload) (schema.Event, error) {
	return schema.NewEvent(p, schema.Event{
		TS: in.At, Actor: in.Extractor.Provider + "/" + in.Extractor.Model,
		SessionID: in.SessionID, Project: in.Project, BuildID: in.BuildID,
		DedupeKey: schema.MemoryExtractedKey(in.SessionKey, in.Extractor.ID(), p.Window),
	})
}

// readInto reads the last answer and adds the entries that were not kept from earlier ones. An answer that the reader
// can no longer read is quarantined.
func (a *Activities) readInto(ctx context.Context, key schema.SessionKey, kept []schema.ExtractedEntry, p *schema.MemoryExtractedPayload) error {
	if len(p.ResponseKeys) == 0 {
		return fmt.Errorf("record extraction of session %q: window %d to %d has no answer", p.SessionID, p.Window.First, p.Window.Last)
	}
	answer, err := a.stored(ctx, p.ResponseKeys[len(p.ResponseKeys)-1])
	if err != nil {
		return err
	}
	read, err := read(answer)
	if err != nil {
		p.Quarantined, p.QuarantinedType = err.Error(), schema.ErrorModelUnreadable
		return nil //nolint:nilerr // the event says it
	}
	p.Rejected, p.Truncated = read.Rejected, read.Truncated
	entries := read.Entries
	messages := sync.OnceValues(func() ([]schema.Message, error) {
		s, err := session.Open(ctx, a.log, key)
		if err != nil {
			return nil, err
		}
		return s.Shown(ctx, p.Window, p.Extractor.Tools)
	})
	for i := range entries {
		if grounded(entries[i]) {
			continue
		}
		said, err := messages()
		if err != nil {
			return err
		}
		ground(&entries[i], said)
	}
	if p.Window.Acts {
		said, err := messages()
		if err != nil {
			return err
		}
		entries = withActs(entries, said)
	}
	return addRest(p, kept, entries)
}

// grounded reports whether an entry's title shares a word of content with its quotes. The title of a summary of the user need not.
func grounded(e schema.ExtractedEntry) bool {
	if e.Section != "" {
		return true
	}
	said := map[string]bool{}
	for _, q := range e.Evidence {
		for _, term := range text.Content(q.Quote) {
			said[term] = true
		}
	}
	return slices.ContainsFunc(text.Content(e.Title), func(term string) bool { return said[term] })
}

// ground replaces an entry's title by the first of its quotes that its message contains. A small model translates
// titles, or takes them from elsewhere: "You're welcome!" was a fact.
func ground(e *schema.ExtractedEntry, window []schema.Message) {
	for _, q := range e.Evidence {
		title := prose.Title(q.Quote)
		stands := func(m schema.Message) bool { return m.Index == q.MessageIndex && strings.Contains(m.Text, q.Quote) }
		if title == "" || len(text.Content(title)) == 0 || !slices.ContainsFunc(window, stands) {
			continue
		}
		e.Title, e.Content = title, ""
		if e.Task != nil {
			e.Task.Title = title
		}
		return
	}
}

// addRest adds the read entries that were not kept from an earlier answer. An entry with the type and quotes of a
// kept entry is the same memory. If its title is also the same, it is dropped. Otherwise it is rejected, so that
// people can see it. Of entries that say the same in one answer the first is added: models may repeat themselves without end.
func addRest(p *schema.MemoryExtractedPayload, kept, read []schema.ExtractedEntry) error {
	titles := map[string][]string{}
	for _, e := range kept {
		titles[proofOf(e)] = append(titles[proofOf(e)], e.Title)
	}
	said := map[string]bool{}
	for i, e := range read {
		earlier := titles[proofOf(e)]
		switch {
		case len(earlier) == 0:
			status := schema.TaskStatus("")
			if e.Task != nil {
				status = e.Task.Status
			}
			if same := schema.HashParts(proofOf(e), e.Section, strings.ToLower(e.Title), string(status)); !said[same] {
				said[same] = true
				p.Entries = append(p.Entries, e)
			}
		case !slices.Contains(earlier, e.Title):
			raw, err := json.Marshal(e)
			if err != nil {
				return fmt.Errorf("encode item %d: %w", i, err)
			}
			p.Rejected = append(p.Rejected, schema.RejectedItem{
				Index: i, Reason: fmt.Sprintf("an earlier answer gave %q with the same quotes", earlier[0]), Raw: raw,
			})
		}
	}
	return nil
}

// proofOf returns a string that identifies an entry's type and its set of quotes.
func proofOf(e schema.ExtractedEntry) string {
	quotes := make([]string, len(e.Evidence))
	for i, q := range e.Evidence {
		quotes[i] = schema.HashParts(fmt.Sprint(q.MessageIndex), q.Quote)
	}
	slices.Sort(quotes)
	return schema.HashParts(append(quotes, string(e.Type))...)
}
