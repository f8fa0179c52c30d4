package retrieve

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"axiommind/activities/text"
	"axiommind/activities/vector"
	"axiommind/schema"
)

// MessageHit is the message of a hit of [KindMessage]. Its text is the content of the hit.
type MessageHit struct {
	// Index is its position in the session, from 0.
	Index  int         `json:"index"`
	Role   schema.Role `json:"role"`
	Author string      `json:"author,omitempty"`
	// EventID is the event of the log that holds it.
	EventID string `json:"event_id"`
}

// id names the message.
func (m *MessageHit) id() string { return m.EventID + "/" + strconv.Itoa(m.Index) }

// messageCandidates is how many messages are fetched at least. The neighbours of a good one are often none by themselves: with
// 100 instead of 400, recall@10 on LoCoMo falls by three points.
const messageCandidates = 400

// messageQuery is the query of the index of messages.
func (r *search) messageQuery(hybrid vector.HybridQuery) vector.HybridQuery {
	hybrid.Collection = schema.VectorCollection(schema.MessageIndex(r.embedder.Version()))
	hybrid.Filter = r.query.filter()
	hybrid.Filter.Kinds = []string{schema.ItemMessage}
	hybrid.Limit = min(max(10*r.limit, messageCandidates), maxCandidates)
	return hybrid
}

// messages turns candidates into hits, the best first, as many as may be listed. Their texts are read from the log.
func (r *search) messages(ctx context.Context, candidates []vector.Candidate, t *tally) ([]*claim, error) {
	scored := make([]Hit, 0, len(candidates))
	for _, c := range candidates {
		if !related(c) {
			t.unrelated++
			continue
		}
		h := Hit{Kind: KindMessage, Explain: r.weights.explainMessage(c, r.now())}
		h.Score = h.Explain.Score()
		event, index, err := vector.MessageEvent(c.ItemID)
		if err != nil {
			t.dropped++ // Another program has written it.
			continue
		}
		h.Message = &MessageHit{Index: index, EventID: event}
		scored = append(scored, h)
	}
	slices.SortStableFunc(scored, func(a, b Hit) int { return cmp.Compare(b.Score, a.Score) })
	var out []*claim
	byText := map[string]*claim{}
	near, last := false, -1
	for i, h := range scored {
		if h.Explain.near() {
			last = i
		}
	}
	for start := 0; start < len(scored); start += r.texts {
		// A message that is a reason to answer may score less than others.
		if r.moreTexts = len(out) >= r.texts; r.moreTexts && (near || start > last) {
			break
		}
		page := scored[start:min(start+r.texts, len(scored))]
		if err := r.loadMessages(ctx, page, t); err != nil {
			return nil, err
		}
		for i := range page {
			h := page[i]
			if h.SessionID == "" {
				continue
			}
			near = near || h.Explain.near()
			key := text.Title(h.Content)
			if first := byText[key]; first != nil {
				first.match(h.Explain)
				first.members = append(first.members, h)
				first.MoreSessions++
				continue
			}
			byText[key] = &claim{Hit: h, members: []Hit{h}}
			out = append(out, byText[key])
		}
	}
	return out, nil
}

// loadMessages fills in the messages. One that the log does not hold, or that is not the user's, stays without a session.
func (r *search) loadMessages(ctx context.Context, hits []Hit, t *tally) error {
	events := make([]string, len(hits))
	for i, h := range hits {
		events[i] = h.Message.EventID
	}
	slices.Sort(events)
	found, err := r.log.GetMany(ctx, slices.Compact(events))
	if err != nil {
		return fmt.Errorf("read messages: %w", err)
	}
	payloads := make(map[string]schema.SessionIngestedPayload, len(found))
	for id, event := range found {
		if payloads[id], err = schema.Decode[schema.SessionIngestedPayload](event); err != nil {
			return err
		}
	}
	for i := range hits {
		h := &hits[i]
		p, ok := payloads[h.Message.EventID]
		if !ok || len(p.Messages) == 0 {
			t.dropped++
			continue
		}
		at := h.Message.Index - p.Messages[0].Index
		if at < 0 || at >= len(p.Messages) {
			t.dropped++
			continue
		}
		m := p.Messages[at]
		e := schema.Entry{Scope: p.Scope, SessionID: p.SessionID, Content: m.Text, OccurredAt: m.At}
		if e.OccurredAt.IsZero() {
			e.OccurredAt = p.Date
		}
		if !r.query.matches(e) {
			t.filtered++
			continue
		}
		h.Entry, h.EvidenceSessionID = e, e.SessionID
		h.Explain.Share = r.terms.Share(m.Text)
		h.Message.Role, h.Message.Author = m.Role, m.Author
		h.Sessions = []Statement{}
	}
	return nil
}

// explainMessage computes a message's score.
func (w Weights) explainMessage(c vector.Candidate, now time.Time) Explain {
	return w.explainCandidate(c, cmp.Or(w.Message, 1), 1, w.recency(now.Sub(c.OccurredAt)))
}
