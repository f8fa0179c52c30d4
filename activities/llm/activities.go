package llm

import (
	"context"
	"errors"
	"fmt"
	"time"

	"axiommind/activities/boundary"
	"axiommind/activities/eventlog"
	"axiommind/activities/llm/worth"
	"axiommind/activities/session"
	"axiommind/schema"
)

// DefaultWindowBytes is the default size of a window, the text that one model call extracts from: about 8,000 tokens.
const DefaultWindowBytes = 32 << 10

// Activities extracts memories from sessions with one model.
type Activities struct {
	log         *eventlog.Store
	model       Model
	params      Params
	windowBytes int
}

// NewActivities returns the activities of this package. A windowBytes of 0 means DefaultWindowBytes.
func NewActivities(log *eventlog.Store, model Model, params Params, windowBytes int) (*Activities, error) {
	switch {
	case log == nil:
		return nil, errors.New("llm activities: no event log")
	case model == nil:
		return nil, errors.New("llm activities: no model")
	case windowBytes == 0:
		windowBytes = DefaultWindowBytes
	case windowBytes < 1<<10:
		return nil, fmt.Errorf("llm activities: a window of %d bytes is too small, give at least 1024", windowBytes)
	}
	return &Activities{log: log, model: model, params: params, windowBytes: windowBytes}, nil
}

// ExtractorOf returns the identity of the extractor that consists of the model and the current prompt.
func ExtractorOf(id ModelIdentity) schema.Extractor {
	if id.Provider == schema.ProviderPerson || id.Provider == schema.ProviderAgent {
		x := schema.PersonExtractor()
		x.Provider = id.Provider
		return x
	}
	return schema.Extractor{
		Provider: id.Provider, Model: id.Model, PromptVersion: PromptVersion, PromptHash: PromptHash()[:16],
		SchemaVersion: schema.SchemaVersion,
	}
}

// sameExtractor returns an error if the build was started with another model, prompt or schema.
func (a *Activities) sameExtractor(want schema.Extractor) error {
	have := ExtractorOf(a.model.Identity())
	have.Tools = want.Tools
	if have == want {
		return nil
	}
	return boundary.Invalid(schema.ErrorInvalidInput, fmt.Errorf(
		"the build began with extractor %s/%s %s, this worker has %s/%s %s: process the session again",
		want.Provider, want.Model, want.PromptVersion, have.Provider, have.Model, have.PromptVersion))
}

// ExtractInput names one window to ask the model about.
type ExtractInput struct {
	schema.SessionKey
	BuildID   string           `json:"build_id"`
	Extractor schema.Extractor `json:"extractor"`
	Window    schema.Window    `json:"window"`
	// Head is the head of the session's stream.
	Head schema.StreamHead `json:"head,omitzero"`
	// RepairOf is the key of an answer that could not be read, and Reason is the error. If they are set, the model is
	// asked to repair the answer.
	RepairOf string `json:"repair_of,omitempty"`
	Reason   string `json:"reason,omitempty"`
}

// ExtractResult is the key under which the model's answer is stored, and whether the answer can be read.
type ExtractResult struct {
	Key string `json:"key,omitempty"`
	// Unreadable is the error in reading the answer. It is empty if the answer can be read.
	Unreadable string `json:"unreadable,omitempty"`
	// Refused says why there is no answer and why asking again would not help. RefusedType is the type of the failure.
	Refused     string       `json:"refused,omitempty"`
	RefusedType string       `json:"refused_type,omitempty"`
	Usage       schema.Usage `json:"usage"`
}

// ExtractWindow asks the model about one window, once for each value of its Asked. It stores the answer as received
// before it reads it, under the hash of everything that was asked. Other builds, of any session, reuse a complete
// answer to the same question.
func (a *Activities) ExtractWindow(ctx context.Context, in ExtractInput) (ExtractResult, error) {
	return boundary.Run(eventlog.WithHead(ctx, in.Stream(), in.Head), in, a.extract)
}

func (a *Activities) extract(ctx context.Context, in ExtractInput) (ExtractResult, error) {
	if err := a.sameExtractor(in.Extractor); err != nil {
		return ExtractResult{}, err
	}
	s, err := session.Open(ctx, a.log, in.SessionKey)
	if err != nil {
		return ExtractResult{}, err
	}
	request, err := a.request(ctx, s, in)
	if err != nil {
		return ExtractResult{}, err
	}
	key := Key(a.model.Identity(), PromptHash(), request, in.Window)
	kept, err := a.kept(ctx, in.SessionKey, in.Extractor, in.Window)
	if err != nil {
		return ExtractResult{}, err
	}
	if entries := kept[windowKeyOf(in.Window)]; len(entries) > 0 {
		request = RestRequest(request, entries)
		key = schema.HashParts(key, "rest", request.Prompt)
	}
	if in.RepairOf != "" {
		key = schema.HashParts(key, "repair")
		answer, err := a.stored(ctx, in.RepairOf)
		if err != nil {
			return ExtractResult{}, err
		}
		response, err := ReadRaw(answer.Provider, []byte(answer.Raw))
		if err != nil {
			return ExtractResult{}, fmt.Errorf("read answer %q: %w", in.RepairOf, err)
		}
		request = RepairRequest(request, response.Text, in.Reason)
	}
	answer, result, err := a.answer(ctx, in, key, request)
	if e, ok := errors.AsType[*Error](err); ok && e.OfInput() {
		return ExtractResult{Refused: err.Error(), RefusedType: e.FailureType(), Usage: result.Usage}, nil
	}
	if err != nil {
		return ExtractResult{}, err
	}
	if _, err := read(answer); err != nil {
		result.Unreadable = err.Error()
	}
	return result, nil
}

// request returns the request for the input's window. It reads no more of the session than that.
func (a *Activities) request(ctx context.Context, s *session.Session, in ExtractInput) (Request, error) {
	messages, err := s.Shown(ctx, in.Window, in.Extractor.Tools)
	if _, local := a.model.(Local); !local && a.params.Passages != "" {
		if passages := worth.Passages(messages, s.Works()); len(passages) > 0 {
			messages = passages
		}
	}
	request := ExtractionRequest(messages, a.params)
	request.Works = s.Works()
	return request, err
}

// answer returns the stored answer, or asks the model for it. If the stored answer is another build's failure, it
// asks again.
func (a *Activities) answer(ctx context.Context, in ExtractInput, key string, request Request) (storedAnswer, ExtractResult, error) {
	var result ExtractResult
	for _, result.Key = range []string{key, schema.HashParts(key, in.BuildID)} {
		answer, err := a.stored(ctx, result.Key)
		switch {
		case errors.Is(err, eventlog.ErrNotFound):
			answer, err = a.ask(ctx, in, result.Key, request)
			result.Usage.Add(answer.Usage)
		case answer.buildID == in.BuildID:
			result.Usage.Add(answer.Usage) // An attempt of this build that broke off has paid for it.
		}
		if err != nil || answer.buildID == in.BuildID || complete(answer) {
			return answer, result, err
		}
	}
	return storedAnswer{}, result, fmt.Errorf("answer %q is stored by another build", result.Key)
}

// storedAnswer is an answer and the build that asked for it.
type storedAnswer struct {
	schema.ModelRespondedPayload
	buildID string
}

func (a *Activities) ask(ctx context.Context, in ExtractInput, key string, request Request) (storedAnswer, error) {
	id := a.model.Identity()
	response, err := a.model.Generate(ctx, request)
	answer := storedAnswer{buildID: in.BuildID}
	answer.ModelRespondedPayload = respondedPayload(key, id, response)
	if err != nil {
		return answer, impatient(err)
	}
	event, err := schema.NewEvent(answer.ModelRespondedPayload, schema.Event{
		TS: time.Now().UTC(), Actor: id.String(), SessionID: in.SessionID,
		Project: in.Project, BuildID: in.BuildID, DedupeKey: schema.ModelRespondedKey(key),
	})
	if err != nil {
		return answer, err
	}
	appended, err := a.log.Append(ctx, schema.ModelStream(key), []schema.Event{event})
	if err != nil {
		return answer, err
	}
	// If another attempt stored its answer first, that answer counts.
	usage := answer.Usage
	answer, err = storedIn(appended.Events[0])
	answer.Usage = usage
	return answer, err
}

func (a *Activities) stored(ctx context.Context, key string) (storedAnswer, error) {
	event, err := a.log.Get(ctx, schema.EventID(schema.ModelRespondedKey(key)))
	if err != nil {
		return storedAnswer{}, err
	}
	return storedIn(event)
}

func storedIn(event schema.Event) (storedAnswer, error) {
	p, err := schema.Decode[schema.ModelRespondedPayload](event)
	return storedAnswer{p, event.BuildID}, err
}

func read(answer storedAnswer) (Result, error) {
	response, err := ReadRaw(answer.Provider, []byte(answer.Raw))
	if err != nil {
		return Result{}, err
	}
	return readResponse(response)
}

// readResponse reads a model's answer. An answer that the model did not end by itself is truncated, even if its JSON
// looks whole: some servers close the brackets of a truncated answer. Its unreadable parts are missing then.
func readResponse(response Response) (Result, error) {
	result, err := ReadExtraction(response.Text)
	if response.FinishReason == FinishLength {
		result.Truncated, err = true, nil
	}
	return result, err
}

// complete reports whether the answer can be read to its end.
func complete(answer storedAnswer) bool {
	result, err := read(answer)
	return err == nil && !result.Truncated
}
