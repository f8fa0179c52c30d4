package llm

import (
	"context"
	"errors"
	"time"

	"go.temporal.io/sdk/activity"

	"axiommind/activities/eventlog"
	"axiommind/schema"
)

// Archive asks a model and keeps its answers in the event log. An answer is stored as received before it is read,
// under the key of the question. So neither a retry nor a better reader pays for it twice.
type Archive struct {
	log   *eventlog.Store
	model Model
}

// NewArchive returns the archive of the model's answers in the log.
func NewArchive(log *eventlog.Store, model Model) *Archive { return &Archive{log, model} }

// Model returns the model that is asked.
func (a *Archive) Model() Model { return a.model }

// Question is a request with the key of its answer: a hash of all that goes into the call. See [QuestionKey].
type Question struct {
	Key     string
	Request Request
	// Project, SessionID and BuildID are those of the event that stores the answer. They may be empty.
	Project   string
	SessionID string
	BuildID   string
}

// QuestionKey returns the key of a request to the model. The parts distinguish it further, for example by the version
// of the prompt.
func QuestionKey(id ModelIdentity, req Request, parts ...string) string {
	settings := settingsOf(req.Params)
	return schema.HashParts(append([]string{"question", id.Provider, id.Model, settings, req.System, req.Prompt, string(req.Schema)}, parts...)...)
}

// Answered is a stored answer.
type Answered struct {
	Key string
	// Text is the answer without the model's thoughts.
	Text string
	// Truncated is true if the model stopped at its limit of tokens.
	Truncated bool
	// Usage is the cost of the call. It is zero if the answer was stored before, but not by an attempt of the same
	// activity.
	Usage schema.Usage
}

// Ask returns the stored answer to the question, or asks the model for it and stores it.
func (a *Archive) Ask(ctx context.Context, q Question) (Answered, error) {
	event, err := a.log.Get(ctx, schema.EventID(schema.ModelRespondedKey(q.Key)))
	if err == nil {
		return answeredTo(ctx, event)
	}
	if !errors.Is(err, eventlog.ErrNotFound) {
		return Answered{}, err
	}
	id := a.model.Identity()
	response, err := a.model.Generate(ctx, q.Request)
	p := respondedPayload(q.Key, id, response)
	if err != nil {
		return Answered{Key: q.Key, Usage: p.Usage}, impatient(err)
	}
	event, err = schema.NewEvent(p, schema.Event{
		TS: time.Now().UTC(), Actor: id.String(), SessionID: q.SessionID, Project: q.Project, BuildID: q.BuildID,
		DedupeKey: schema.ModelRespondedKey(q.Key),
	})
	if err != nil {
		return Answered{}, err
	}
	appended, err := a.log.Append(ctx, schema.ModelStream(q.Key), []schema.Event{event})
	if err != nil {
		return Answered{}, err
	}
	// If another attempt stored its answer first, that answer counts.
	answer, err := answeredIn(appended.Events[0])
	answer.Usage = p.Usage
	return answer, err
}

// answeredTo is answeredIn with the usage, if an earlier attempt of the activity in the context has paid for the
// answer. That attempt broke off before it reported the usage.
func answeredTo(ctx context.Context, event schema.Event) (Answered, error) {
	answer, err := answeredIn(event)
	if err == nil && activity.IsActivity(ctx) && paidByAttempt(activity.GetInfo(ctx), event.TS) {
		p, err := schema.Decode[schema.ModelRespondedPayload](event)
		answer.Usage = p.Usage
		return answer, err
	}
	return answer, err
}

// paidByAttempt reports whether an answer of the time is that of an earlier attempt.
func paidByAttempt(info activity.Info, answered time.Time) bool {
	return info.Attempt > 1 && !answered.Before(info.ScheduledTime)
}

// Stored returns the answer with the key. If there is none, the error wraps [eventlog.ErrNotFound].
func (a *Archive) Stored(ctx context.Context, key string) (Answered, error) {
	return StoredAnswer(ctx, a.log, key)
}

// StoredAnswer returns the answer with the key from the log, whichever model gave it. If there is none, the error wraps
// [eventlog.ErrNotFound].
func StoredAnswer(ctx context.Context, log *eventlog.Store, key string) (Answered, error) {
	event, err := log.Get(ctx, schema.EventID(schema.ModelRespondedKey(key)))
	if err != nil {
		return Answered{}, err
	}
	return answeredIn(event)
}

func answeredIn(event schema.Event) (Answered, error) {
	p, err := schema.Decode[schema.ModelRespondedPayload](event)
	if err != nil {
		return Answered{}, err
	}
	response, err := ReadRaw(p.Provider, []byte(p.Raw))
	return Answered{Key: p.Key, Text: response.Text, Truncated: response.FinishReason == FinishLength}, err
}

// respondedPayload is the payload of the event that stores a response.
func respondedPayload(key string, id ModelIdentity, response Response) schema.ModelRespondedPayload {
	p := schema.ModelRespondedPayload{
		Key: key, Provider: id.Provider, Model: id.Model, Raw: string(redactedRaw(response.Raw)),
		Usage: schema.Usage{
			Calls: 1, InputTokens: int64(response.Usage.InputTokens), OutputTokens: int64(response.Usage.OutputTokens),
			ThoughtTokens: int64(response.Usage.ThoughtTokens),
		},
	}
	if response.CostUSD != nil {
		p.Usage.CostUSD = *response.CostUSD
	}
	return p
}
