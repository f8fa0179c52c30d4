package fact

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"axiommind/activities/eventlog"
	"axiommind/activities/llm"
	"axiommind/schema"
)

// ReviewPrompt names the version of the prompt that asks which facts no longer hold. It changes whenever the wording does.
const ReviewPrompt = "review-v1"

//go:embed prompts/review.txt
var reviewSystem string

const reviewSchema = `{"$schema":"https://json-schema.org/draft/2020-12/schema","title":"Review","type":"object",` +
	`"additionalProperties":false,"required":["entries"],"properties":{"entries":{"type":"array","items":{"type":"object",` +
	`"additionalProperties":false,"required":["id","reason","messageIndex","quote"],"properties":{"id":{"type":"string"},` +
	`"reason":{"type":"string"},"messageIndex":{"type":"integer"},"quote":{"type":"string"}}}}}}`

// Limits of a review.
const (
	// MaxGroups is the maximum number of groups of facts that a model is asked about.
	MaxGroups = 4
	// maxShownMessage is how much of a message a model is shown, in bytes.
	maxShownMessage = 8 << 10
	// reviewCut ends a text that was cut.
	reviewCut = " [...]"
)

// Current returns the active facts of the memory, each as new as its last confirmation: a later session that states the
// same confirms a fact.
func Current(ctx context.Context, a *Activities, user, agent string) (facts []Fact, err error) {
	err = a.log.Steady(ctx, a.writer.projector, schema.MemoryStream(user, agent), func() (err error) {
		facts, err = a.writer.tables.List(ctx, user, agent)
		return err
	})
	if err != nil || len(facts) == 0 {
		return facts, err
	}
	confirmed, err := a.writer.tables.confirmed(ctx, user, agent)
	for i, f := range facts {
		facts[i].UpdatedAt = later(f.UpdatedAt, confirmed[f.ID])
	}
	return facts, err
}

// ShowInput names the new messages of a session, and the facts that a model may be asked about with them.
type ShowInput struct {
	schema.SessionKey
	BuildID string
	// First and Last are the messages.
	First, Last int
	Facts       []Fact
	// GroupBytes is the size of the facts that one question shows.
	GroupBytes int
}

// Show selects the facts to ask a model about with the messages, and stores the selection, so that another attempt asks
// the same even if the memory has changed. It returns the id of the event and its payload. The caller is the only writer
// of the session's stream.
func Show(ctx context.Context, a *Activities, in ShowInput) (eventID string, shown schema.FactsShownPayload, err error) {
	p := schema.FactsShownPayload{SessionKey: in.SessionKey, BuildID: in.BuildID, First: in.First, Last: in.Last}
	p.Groups, p.LeftOut = groups(in.Facts, in.GroupBytes)
	event, err := schema.NewEvent(p, schema.Event{
		TS: time.Now().UTC(), Actor: ActorReviewer, SessionID: in.SessionID, Project: in.Project, BuildID: in.BuildID,
		DedupeKey: schema.FactsShownKey(in.SessionKey, in.First, in.Last),
	})
	if err != nil {
		return "", p, err
	}
	appended, err := a.log.Append(ctx, in.Stream(), []schema.Event{event})
	if err != nil {
		return "", p, fmt.Errorf("store which facts are shown with session %q: %w", in.SessionID, err)
	}
	// If another attempt stored its decision first, that one counts.
	p, err = schema.Decode[schema.FactsShownPayload](appended.Events[0])
	return appended.Events[0].ID, p, err
}

// Shown returns the selection of facts that the event with the id records.
func Shown(ctx context.Context, a *Activities, eventID string) (schema.FactsShownPayload, error) {
	event, err := a.log.Get(ctx, eventID)
	if err != nil {
		return schema.FactsShownPayload{}, fmt.Errorf("read which facts were shown: %w", err)
	}
	return schema.Decode[schema.FactsShownPayload](event)
}

// groups divides the facts, those with the highest confidence first, into groups of at most size bytes, each of at least
// one fact. The second result counts those that are in no group.
func groups(facts []Fact, size int) (out [][]schema.ShownFact, leftOut int) {
	facts = slices.Clone(facts)
	slices.SortStableFunc(facts, func(a, b Fact) int {
		switch {
		case a.Confidence > b.Confidence:
			return -1
		case a.Confidence < b.Confidence:
			return 1
		}
		return 0
	})
	filled := 0
	for i, f := range facts {
		n := len(factLine(f))
		if len(out) == 0 || filled+n > size {
			if len(out) == MaxGroups {
				return out, len(facts) - i
			}
			out, filled = append(out, nil), 0
		}
		last := len(out) - 1
		out[last] = append(out[last], schema.ShownFact{FactID: f.ID, Version: f.Version, At: f.UpdatedAt})
		filled += n
	}
	return out, 0
}

// Question is one question about facts and messages.
type Question struct {
	schema.SessionKey
	BuildID string
	// Shown are the facts to ask about.
	Shown []schema.ShownFact
	// Messages are the messages to show. Only those of the user can end a fact; the others are context.
	Messages []schema.Message
	Params   llm.Params
}

// Ask asks the model which of the facts the messages make untrue, and stores its answer as received. The answer has no
// key if none of the facts is as it was when they were chosen: then there is nothing to ask about.
//
// The answer's key names the facts by their versions. So it is found again after a fact has changed.
func Ask(ctx context.Context, a *Activities, archive *llm.Archive, q Question) (llm.Answered, error) {
	ids := make([]string, len(q.Shown))
	for i, s := range q.Shown {
		ids[i] = s.FactID
	}
	facts, err := a.writer.tables.Find(ctx, q.User, q.Agent, ids)
	if err != nil {
		return llm.Answered{}, err
	}
	key, request := q.key(archive.Model().Identity()), q.request(facts)
	if request.Prompt == "" {
		answer, err := archive.Stored(ctx, key)
		if errors.Is(err, eventlog.ErrNotFound) {
			return llm.Answered{}, nil
		}
		return answer, err
	}
	return archive.Ask(ctx, llm.Question{
		Key: key, Request: request, Project: q.Project, SessionID: q.SessionID, BuildID: q.BuildID,
	})
}

// key is the key of the answer. It names versions of facts, whose content is in the log for good.
func (q Question) key(id llm.ModelIdentity) string {
	parts := []string{ReviewPrompt}
	for _, s := range q.Shown {
		parts = append(parts, s.FactID, fmt.Sprint(s.Version))
	}
	return llm.QuestionKey(id, llm.Request{
		System: reviewSystem, Prompt: llm.RenderWindow(shownMessages(q.Messages)), Schema: []byte(reviewSchema), Params: q.Params,
	}, parts...)
}

// request shows those of the facts that have not changed since they were chosen. The answer cannot remove any others. The
// prompt is empty if there are none.
func (q Question) request(facts []Fact) llm.Request {
	byID := make(map[string]Fact, len(facts))
	for _, f := range facts {
		byID[f.ID] = f
	}
	request := llm.Request{System: reviewSystem, Schema: []byte(reviewSchema), Params: q.Params}
	var b strings.Builder
	for _, s := range q.Shown {
		if f := byID[s.FactID]; f.Status == Active && f.Version == s.Version {
			b.WriteString(factLine(f))
		}
	}
	if b.Len() > 0 {
		request.Prompt = b.String() + llm.RenderWindow(shownMessages(q.Messages))
	}
	return request
}

// factLine shows a fact as one JSON object on a line of its own.
func factLine(f Fact) string {
	return llm.DataLine(struct {
		ID          string `json:"id"`
		Category    string `json:"category"`
		Content     string `json:"content"`
		SourceError string `json:"source_error,omitempty"`
	}{f.ID, f.Category, f.Content, f.SourceError})
}

// ShownBytes is the size of a message as a review shows it.
func ShownBytes(m schema.Message) int {
	return len(llm.RenderWindow(shownMessages([]schema.Message{m})))
}

// shownMessages returns the messages as a model is shown them. A quote of a sentence that is cut proves nothing.
func shownMessages(messages []schema.Message) []schema.Message {
	out := slices.Clone(messages)
	for i := range out {
		if text := out[i].Text; len(text) > maxShownMessage {
			out[i].Text = strings.ToValidUTF8(text[:maxShownMessage], "") + reviewCut
		}
	}
	return out
}
