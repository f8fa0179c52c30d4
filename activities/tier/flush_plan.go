package tier

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"time"

	"axiommind/activities/llm"
	"axiommind/activities/session"
	"axiommind/schema"
)

// actorFlush is the actor of context_flushed events.
const actorFlush = "pipeline"

// lookBack is the number of messages that are read at once in the search for the message before a flush.
const lookBack = 64

// talk yields the words of people and agents in the session's messages from first up to end, without scheduled prompts
// of the harness and their answers. It stops after an error.
func talk(ctx context.Context, s *session.Session, first, end int) iter.Seq2[schema.Message, error] {
	return func(yield func(schema.Message, error) bool) {
		scheduled, known := false, first == 0
		for m, err := range s.From(ctx, first) {
			if err == nil && m.Index >= end {
				return
			}
			if err == nil && (!m.Extractable() || blank(m.Text)) {
				continue
			}
			if err == nil && !known && m.Role != schema.RoleUser {
				scheduled, err = scheduledBefore(ctx, s, first)
			}
			known = true
			if scheduled = session.Scheduled(scheduled, m); err == nil && scheduled {
				continue
			}
			if !yield(m, err) || err != nil {
				return
			}
		}
	}
}

// scheduledBefore reports whether the last message of the user before the one at end was scheduled.
func scheduledBefore(ctx context.Context, s *session.Session, end int) (bool, error) {
	for ; end > 0; end = max(0, end-lookBack) {
		messages, err := s.Range(ctx, max(0, end-lookBack), end)
		if err != nil {
			return false, err
		}
		for i := len(messages) - 1; i >= 0; i-- {
			if m := messages[i]; m.Extractable() && m.Role == schema.RoleUser && !blank(m.Text) {
				return session.Scheduled(false, m), nil
			}
		}
	}
	return false, nil
}

// planFlush returns the event that flushes the session's messages from first up to end.
func (a *Activities) planFlush(
	ctx context.Context, s *session.Session, in FlushRequest, first, end int,
) (schema.Event, lastFlush, error) {
	p := schema.ContextFlushedPayload{
		SessionKey: in.SessionKey, BuildID: in.BuildID, Reason: in.Flush, First: first, Last: end - 1,
	}
	at, err := a.summarize(ctx, s, in.Windows, &p)
	if err != nil {
		return schema.Event{}, lastFlush{}, fmt.Errorf("flush session %q: %w", in.SessionID, err)
	}
	if at.IsZero() {
		at = in.At
	}
	at = at.In(a.opts.Zone)
	p.Date, p.Clock = at.Format(schema.DateLayout), at.Format(schema.ClockLayout)
	event, err := schema.NewEvent(p, schema.Event{
		TS: in.At.UTC(), Actor: actorFlush, SessionID: in.SessionID, Project: in.Project, BuildID: in.BuildID,
		DedupeKey: schema.ContextFlushedKey(in.SessionKey, p.First, p.Last),
	})
	return event, flushOf(schema.EventID(event.DedupeKey), p), err
}

// summarize sets the summary in the payload, and returns the time of the last message that has one.
func (a *Activities) summarize(
	ctx context.Context, s *session.Session, windows []SummarizedWindow, p *schema.ContextFlushedPayload,
) (at time.Time, err error) {
	parts, err := a.readWindows(ctx, windows, p)
	if err != nil {
		return at, err
	}
	for m, err := range talk(ctx, s, p.First, p.Last+1) {
		if err != nil {
			return at, err
		}
		if !m.At.IsZero() {
			at = m.At
		}
		if m.Role == schema.RoleUser {
			p.Turns++
		}
		parts.add(m)
	}
	p.Text, p.LeftOut = parts.text(p.LeftOut)
	return at, nil
}

// readWindows reads the model's summaries of the windows that the payload flushes.
func (a *Activities) readWindows(ctx context.Context, windows []SummarizedWindow, p *schema.ContextFlushedPayload) (*summaryParts, error) {
	parts := &summaryParts{open: map[string]bool{}}
	p.Summarizer = llm.NewRules().Identity().String()
	for _, w := range windows {
		if w.Last < p.First || w.First > p.Last {
			continue
		}
		p.Usage.Add(w.Usage)
		if w.Key != "" {
			p.Responses = append(p.Responses, w.Key)
		}
		if w.Refused != "" {
			p.LeftOut = append(p.LeftOut, schema.LeftOut{
				Text: fmt.Sprintf("the summary of messages %d to %d", w.First, w.Last), Reason: w.Refused,
			})
			continue
		}
		answer, err := a.archive.Stored(ctx, w.Key)
		if err != nil {
			return nil, fmt.Errorf("read answer %q: %w", w.Key, err)
		}
		p.Summarizer = w.Model
		parts.answered = append(parts.answered, answeredPart{w.SummaryWindow, claimsOf(readSummary(answer.Text), parts.open)})
	}
	return parts, nil
}

// summaryParts are the parts of a summary, in the order of the messages: a model's summaries of windows, and offline
// summaries of the messages between them.
type summaryParts struct {
	answered []answeredPart
	// open are the claims of all answers that no message has contained so far.
	open    map[string]bool
	offline []offlinePart
}

type answeredPart struct {
	window SummaryWindow
	claims claims
}

type offlinePart struct {
	first int
	events
}

// add takes the next message.
func (p *summaryParts) add(m schema.Message) {
	see(p.open, saidIn(m))
	before := 0 // The number of windows that end before the message.
	for ; before < len(p.answered) && p.answered[before].window.Last < m.Index; before++ {
	}
	if before < len(p.answered) && p.answered[before].window.First <= m.Index {
		return
	}
	last := len(p.offline) - 1
	if last < 0 || before > 0 && p.offline[last].first < p.answered[before-1].window.First {
		p.offline = append(p.offline, offlinePart{m.Index, events{labels: English}})
		last++
	}
	p.offline[last].add(m)
}

// text returns the summary, and appends the unsupported lines of the answers to left.
func (p *summaryParts) text(left []schema.LeftOut) (string, []schema.LeftOut) {
	var texts []string
	offline := p.offline
	quote := func(until int) {
		for len(offline) > 0 && offline[0].first < until {
			texts = append(texts, offline[0].text())
			offline = offline[1:]
		}
	}
	for _, part := range p.answered {
		quote(part.window.First)
		text, unheld := part.claims.supported(p.open)
		texts, left = append(texts, text), append(left, unheld...)
	}
	if len(offline) > 0 {
		quote(offline[len(offline)-1].first + 1)
	}
	var out []string
	for _, text := range texts {
		if text != "" {
			out = append(out, text)
		}
	}
	return strings.Join(out, "\n"), left
}
