package tier

import (
	"context"
	"fmt"

	"axiommind/activities/boundary"
	"axiommind/activities/eventlog"
	"axiommind/activities/llm"
	"axiommind/activities/session"
	"axiommind/schema"
)

// maxSummarized is the maximum number of windows of a plan. It keeps the payloads small that name their summaries.
const maxSummarized = 64

// SummaryWindow is a range of messages that one call of the model summarizes.
type SummaryWindow struct {
	First int `json:"first"`
	Last  int `json:"last"`
}

// SummarizedWindow is a window with the key of the model's answer, or with the reason why there is no usable one.
type SummarizedWindow struct {
	SummaryWindow
	// Model is the model that was asked.
	Model   string       `json:"model"`
	Key     string       `json:"key,omitempty"`
	Refused string       `json:"refused,omitempty"`
	Usage   schema.Usage `json:"usage"`
}

// SummaryInput names a session to flush up to a number of messages.
type SummaryInput struct {
	schema.SessionKey
	BuildID  string `json:"build_id,omitempty"`
	Messages int    `json:"messages"`
	// Stated is true if the session contains direct statements of a person. No model is asked to summarize these.
	Stated bool `json:"stated,omitempty"`
	// Head is the head of the session's stream.
	Head schema.StreamHead `json:"head,omitzero"`
}

// SummaryPlan holds the windows to ask the model about, and the number of messages to flush up to with their summaries.
// More is true if others follow. A local model needs no windows: its summary is computed with the flush.
type SummaryPlan struct {
	Windows  []SummaryWindow `json:"windows,omitempty"`
	Messages int             `json:"messages"`
	More     bool            `json:"more,omitempty"`
	// Review lists the questions about the facts of the memory, nil for none.
	Review *ReviewPlan `json:"review,omitempty"`
	// Head is the head of the session's stream, if the plan of the review has moved it.
	Head schema.StreamHead `json:"head,omitzero"`
}

// PlanSummary returns the questions to ask the model before the session is flushed.
func (a *Activities) PlanSummary(ctx context.Context, in SummaryInput) (SummaryPlan, error) {
	return boundary.Run(eventlog.WithHead(ctx, in.Stream(), in.Head), in, a.planSummary)
}

func (a *Activities) planSummary(ctx context.Context, in SummaryInput) (SummaryPlan, error) {
	plan := SummaryPlan{Messages: in.Messages}
	if _, local := a.archive.Model().(llm.Local); local || in.Messages == 0 || in.Stated {
		return plan, nil
	}
	s, err := session.Open(ctx, a.log.Store, in.SessionKey)
	if err != nil {
		return plan, err
	}
	var last map[string]lastFlush
	err = a.log.Steady(ctx, a.projector, schema.MemoryStream(in.User, in.Agent), func() (err error) {
		last, err = a.tables.lastFlushes(ctx, []schema.SessionKey{in.SessionKey})
		return err
	})
	if err != nil {
		return plan, err
	}
	first := last[s.Stream()].To
	if first >= min(in.Messages, s.Len()) {
		return plan, nil
	}
	review, err := a.newReview(ctx, in)
	if err != nil {
		return plan, err
	}
	summaries, end := ranges{bytes: a.opts.WindowBytes, limit: a.planWindows}, first
	for m, err := range talk(ctx, s, first, in.Messages) {
		if err != nil {
			return plan, err
		}
		size := len(shownLine(m, English)) + 1
		if !summaries.takes(size) || !review.takes(m) {
			plan.Messages, plan.More = end, true
			break
		}
		if size > 1 { // Else there is nothing to ask about it.
			summaries.add(m.Index, size)
		}
		review.add(m)
		end = m.Index + 1
	}
	plan.Windows = summaries.windows
	return plan, a.planReview(ctx, in, review, first, &plan)
}

// ranges are windows of messages that are being filled.
type ranges struct {
	// bytes is how much a window holds, and limit how many windows there may be.
	bytes, limit int
	windows      []SummaryWindow
	size         int
}

// takes reports whether there is room for a message of the size.
func (r *ranges) takes(size int) bool { return !r.begins(size) || len(r.windows) < r.limit }

// begins reports whether a message of the size begins another window.
func (r *ranges) begins(size int) bool { return len(r.windows) == 0 || r.size+size > r.bytes }

// add adds the message with the index.
func (r *ranges) add(index, size int) {
	if r.begins(size) {
		r.windows, r.size = append(r.windows, SummaryWindow{First: index}), 0
	}
	r.windows[len(r.windows)-1].Last = index
	r.size += size
}

// SummarizeInput names the messages that the model is to summarize.
type SummarizeInput struct {
	schema.SessionKey
	BuildID string        `json:"build_id"`
	Window  SummaryWindow `json:"window"`
	// Head is the head of the session's stream.
	Head schema.StreamHead `json:"head,omitzero"`
}

// SummarizeSession asks the model to summarize a window of the session. It stores the answer as received before it reads
// it, so that no other attempt pays for it again.
func (a *Activities) SummarizeSession(ctx context.Context, in SummarizeInput) (SummarizedWindow, error) {
	return boundary.Run(eventlog.WithHead(ctx, in.Stream(), in.Head), in, a.summarizeSession)
}

func (a *Activities) summarizeSession(ctx context.Context, in SummarizeInput) (SummarizedWindow, error) {
	id := a.archive.Model().Identity()
	out := SummarizedWindow{SummaryWindow: in.Window, Model: id.String()}
	s, err := session.Open(ctx, a.log.Store, in.SessionKey)
	if err != nil {
		return out, err
	}
	var messages []schema.Message
	for m, err := range talk(ctx, s, in.Window.First, in.Window.Last+1) {
		if err != nil {
			return out, err
		}
		messages = append(messages, m)
	}
	request := summaryRequest(messages, a.opts.Params)
	answer, err := a.archive.Ask(ctx, llm.Question{
		Key: llm.QuestionKey(id, request, SummaryPrompt), Request: request,
		Project: in.Project, SessionID: in.SessionID, BuildID: in.BuildID,
	})
	out.Usage = answer.Usage
	switch kind := llm.KindOf(err); {
	case kind == llm.KindTooLong, kind == llm.KindBlocked, kind == llm.KindTruncated:
		out.Refused = cut(err.Error(), maxReason)
		return out, nil
	case err != nil:
		return out, fmt.Errorf("summarize messages %d to %d of session %q: %w", in.Window.First, in.Window.Last, in.SessionID, err)
	}
	if out.Key = answer.Key; answer.Truncated {
		out.Refused = "the answer broke off at its limit of tokens"
	}
	return out, nil
}
