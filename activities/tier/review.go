package tier

import (
	"context"
	"fmt"

	"axiommind/activities/boundary"
	"axiommind/activities/eventlog"
	"axiommind/activities/fact"
	"axiommind/activities/llm"
	"axiommind/activities/session"
	"axiommind/schema"
)

// ReviewPlan lists the questions to the model about the facts of the memory: one for each window of messages and each
// group of facts.
type ReviewPlan struct {
	// Shown is the id of the event that says which facts each group has, and Groups counts these.
	Shown   string          `json:"shown"`
	Groups  int             `json:"groups"`
	Windows []SummaryWindow `json:"windows"`
}

// ReviewQuestion is one question of a [ReviewPlan].
type ReviewQuestion struct {
	SummaryWindow
	Group int `json:"group"`
}

// Questions returns the questions in order.
func (p ReviewPlan) Questions() []ReviewQuestion {
	var out []ReviewQuestion
	for _, w := range p.Windows {
		for group := range p.Groups {
			out = append(out, ReviewQuestion{w, group})
		}
	}
	return out
}

// ReviewAnswer is a question with the key of the model's answer, or with the reason why there is no usable one. It has
// neither if there was nothing left to ask about.
type ReviewAnswer struct {
	ReviewQuestion
	Key     string       `json:"key,omitempty"`
	Refused string       `json:"refused,omitempty"`
	Usage   schema.Usage `json:"usage"`
}

// Reviewed holds the answers to the questions of a [ReviewPlan].
type Reviewed struct {
	Shown   string         `json:"shown"`
	Answers []ReviewAnswer `json:"answers"`
}

// review is a plan of questions that is being made. It is nil if the memory holds no facts to ask about.
type review struct {
	facts []fact.Fact
	ranges
	// spoken says of each window whether the user speaks in it.
	spoken []bool
}

func (a *Activities) newReview(ctx context.Context, in SummaryInput) (*review, error) {
	facts, err := fact.Current(ctx, a.facts, in.User, in.Agent)
	if err != nil || len(facts) == 0 {
		return nil, err
	}
	// There is a question for each window and each group of facts.
	return &review{facts: facts, ranges: ranges{bytes: a.opts.WindowBytes, limit: a.planWindows / fact.MaxGroups}}, nil
}

// takes reports whether there is room for the message.
func (r *review) takes(m schema.Message) bool { return r == nil || r.ranges.takes(fact.ShownBytes(m)) }

func (r *review) add(m schema.Message) {
	if r == nil {
		return
	}
	r.ranges.add(m.Index, fact.ShownBytes(m))
	if len(r.spoken) < len(r.windows) {
		r.spoken = append(r.spoken, false)
	}
	last := len(r.spoken) - 1
	r.spoken[last] = r.spoken[last] || m.Role == schema.RoleUser
}

// planReview stores which facts the model is asked about with the messages of the plan from first on, if the user speaks
// in them: nothing else ends a fact.
func (a *Activities) planReview(ctx context.Context, in SummaryInput, r *review, first int, plan *SummaryPlan) error {
	if r == nil {
		return nil
	}
	out := ReviewPlan{}
	for i, w := range r.windows {
		if r.spoken[i] {
			out.Windows = append(out.Windows, w)
		}
	}
	if len(out.Windows) == 0 {
		return nil
	}
	id, shown, err := fact.Show(ctx, a.facts, fact.ShowInput{
		SessionKey: in.SessionKey, BuildID: in.BuildID, First: first, Last: plan.Messages - 1, Facts: r.facts, GroupBytes: a.opts.WindowBytes,
	})
	if err != nil {
		return err
	}
	out.Shown, out.Groups = id, len(shown.Groups)
	plan.Review, plan.Head = &out, a.log.Head(in.Stream())
	return nil
}

// ReviewInput names one question about the facts of the memory.
type ReviewInput struct {
	schema.SessionKey
	BuildID string `json:"build_id"`
	// Shown is the id of the event that says which facts are shown.
	Shown    string         `json:"shown"`
	Question ReviewQuestion `json:"question"`
	// Head is the head of the session's stream.
	Head schema.StreamHead `json:"head,omitzero"`
}

// ReviewFacts asks the model which of the facts that were shown the user's words make untrue. It stores the answer as
// received before it reads it, so that no other attempt pays for it again.
func (a *Activities) ReviewFacts(ctx context.Context, in ReviewInput) (ReviewAnswer, error) {
	return boundary.Run(eventlog.WithHead(ctx, in.Stream(), in.Head), in, a.reviewFacts)
}

func (a *Activities) reviewFacts(ctx context.Context, in ReviewInput) (ReviewAnswer, error) {
	out := ReviewAnswer{ReviewQuestion: in.Question}
	s, err := session.Open(ctx, a.log.Store, in.SessionKey)
	if err != nil {
		return out, err
	}
	messages, err := talkOf(ctx, s, in.Question.SummaryWindow)
	if err != nil {
		return out, err
	}
	shown, err := fact.Shown(ctx, a.facts, in.Shown)
	if err != nil {
		return out, err
	}
	group, err := groupOf(shown, in.Question)
	if err != nil {
		return out, err
	}
	answer, err := fact.Ask(ctx, a.facts, a.archive, fact.Question{
		SessionKey: in.SessionKey, BuildID: in.BuildID, Shown: group, Messages: messages, Params: a.opts.Params,
	})
	out.Key, out.Usage = answer.Key, answer.Usage
	switch kind := llm.KindOf(err); {
	case kind == llm.KindTooLong, kind == llm.KindBlocked, kind == llm.KindTruncated:
		out.Refused = cut(err.Error(), maxReason)
		return out, nil
	case err != nil:
		return out, fmt.Errorf("review facts with messages %d to %d of session %q: %w", in.Question.First, in.Question.Last, in.SessionID, err)
	}
	return out, nil
}

// talkOf returns the words of people and agents in the window.
func talkOf(ctx context.Context, s *session.Session, w SummaryWindow) ([]schema.Message, error) {
	var messages []schema.Message
	for m, err := range talk(ctx, s, w.First, w.Last+1) {
		if err != nil {
			return nil, err
		}
		messages = append(messages, m)
	}
	return messages, nil
}

func groupOf(shown schema.FactsShownPayload, q ReviewQuestion) ([]schema.ShownFact, error) {
	if q.Group < 0 || q.Group >= len(shown.Groups) {
		return nil, boundary.Invalid(schema.ErrorInvalidInput, fmt.Errorf("group %d of facts: there are %d", q.Group, len(shown.Groups)))
	}
	return shown.Groups[q.Group], nil
}

// readReview returns the removals that the answers ask for, each fact once.
func (a *Activities) readReview(ctx context.Context, in FlushRequest) ([]fact.Removal, error) {
	if in.Review == nil {
		return nil, nil
	}
	s, err := session.Open(ctx, a.log.Store, in.SessionKey)
	if err != nil {
		return nil, err
	}
	shown, err := fact.Shown(ctx, a.facts, in.Review.Shown)
	if err != nil {
		return nil, err
	}
	var out []fact.Removal
	removed := map[string]bool{}
	for _, x := range in.Review.Answers {
		removals, err := a.readAnswer(ctx, s, shown, in, x)
		if err != nil {
			return nil, err
		}
		for _, r := range removals {
			if removed[r.FactID] {
				continue
			}
			removed[r.FactID] = r.FactID != "" && r.Refused == ""
			out = append(out, r)
		}
	}
	return out, nil
}

func (a *Activities) readAnswer(
	ctx context.Context, s *session.Session, shown schema.FactsShownPayload, in FlushRequest, x ReviewAnswer,
) ([]fact.Removal, error) {
	switch {
	case x.Refused != "":
		// Without an answer there may be no key. The question names the act then.
		key := x.Key
		if key == "" {
			key = schema.HashParts(in.Review.Shown, fmt.Sprint(x.First, x.Last, x.Group))
		}
		return []fact.Removal{fact.Unanswered(key, x.Refused, in.At.UTC())}, nil
	case x.Key == "":
		return nil, nil
	}
	answer, err := a.archive.Stored(ctx, x.Key)
	if err != nil {
		return nil, fmt.Errorf("read answer %q: %w", x.Key, err)
	}
	messages, err := talkOf(ctx, s, x.SummaryWindow)
	if err != nil {
		return nil, err
	}
	group, err := groupOf(shown, x.ReviewQuestion)
	if err != nil {
		return nil, err
	}
	return fact.Review{Answer: answer, Shown: group, Messages: messages, EventID: s.EventID, Date: s.Date()}.Removals(), nil
}
