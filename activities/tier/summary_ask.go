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

// SummarizedWindow is a window with the key of the model's answer, or with the reason why there is none that is of use.
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
	Messages int `json:"messages"`
	// Stated is true if the session holds what a person states directly. Nobody is asked to summarize that.
	Stated bool `json:"stated,omitempty"`
	// Head is the head of the session's stream.
	Head schema.StreamHead `json:"head,omitzero"`
}

// SummaryPlan holds the windows to ask the model about, and the number of messages to flush up to with their summaries.
// More is true if others follow. There are no windows if the model is local: what it says is computed with the flush.
type SummaryPlan struct {
	Windows  []SummaryWindow `json:"windows,omitempty"`
	Messages int             `json:"messages"`
	More     bool            `json:"more,omitempty"`
}

// PlanSummary returns what to ask the model before the session is flushed.
func (a *Activities) PlanSummary(ctx context.Context, in SummaryInput) (SummaryPlan, error) {
	return boundary.Run(eventlog.WithHead(ctx, in.Stream(), in.Head), in, a.planSummary)
}

func (a *Activities) planSummary(ctx context.Context, in SummaryInput) (SummaryPlan, error) {
	plan := SummaryPlan{Messages: in.Messages}
	if _, local := a.archive.Model().(llm.Local); local || in.Messages == 0 || in.Stated {
		return plan, nil
	}
	s, err := session.Open(ctx, a.log, in.SessionKey)
	if err != nil {
		return plan, err
	}
	last, err := a.lastFlushes(ctx, schema.MemoryStream(in.User, in.Agent), []*session.Session{s})
	if err != nil {
		return plan, err
	}
	size := 0
	for m, err := range talk(ctx, s, last[s.Stream()].To, in.Messages) {
		if err != nil {
			return plan, err
		}
		n, at := len(shownLine(m, English))+1, len(plan.Windows)-1
		if at < 0 || size+n > a.opts.WindowBytes {
			if len(plan.Windows) == maxSummarized {
				plan.Messages, plan.More = plan.Windows[at].Last+1, true
				return plan, nil
			}
			plan.Windows, size = append(plan.Windows, SummaryWindow{First: m.Index}), 0
			at++
		}
		plan.Windows[at].Last = m.Index
		size += n
	}
	return plan, nil
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
	s, err := session.Open(ctx, a.log, in.SessionKey)
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
	request := llm.Request{System: summarySystem, Prompt: conversationText(messages, English), Params: a.opts.Params}
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
