package tier

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strconv"

	"axiommind/activities/boundary"
	"axiommind/activities/eventlog"
	"axiommind/activities/llm"
	"axiommind/schema"
)

// dreamTemperature is the sampling temperature of a dream's answers. It is low because the answers repeat the input.
const dreamTemperature = 0.3

// maxDreamLevels bounds how often the answers of a dream are distilled.
const maxDreamLevels = 8

//go:embed prompts/dream_again.txt
var dreamAgain string

// PlanDream returns the next level of a dream's questions, or how its answers are judged if none is left.
func (a *Activities) PlanDream(ctx context.Context, in PlanInput) (Plan, error) {
	return boundary.Run(ctx, in, a.planDream)
}

func (a *Activities) planDream(ctx context.Context, in PlanInput) (Plan, error) {
	if in.Last {
		_, draft, err := ReadDraft(ctx, a.log.Store, in.Gathered, in.Answers)
		return Plan{Done: true, Refused: draft.Refused}, err
	}
	if in.Level >= maxDreamLevels {
		return Plan{Done: true, Refused: fmt.Sprintf("after %d levels the answers are still too long for one question", in.Level)}, nil
	}
	_, windows, last, err := a.windows(ctx, in.Gathered, in.Answers)
	return Plan{Windows: len(windows), Last: last}, err
}

// windows returns the questions that follow from the answers to the level before.
func (a *Activities) windows(ctx context.Context, gathered string, keys []string) (g schema.DreamGatheredPayload, windows []Window, last bool, err error) {
	if g, err = readGathered(ctx, a.log.Store, gathered); err != nil {
		return g, nil, false, err
	}
	answers, err := readAnswers(ctx, a.log.Store, keys)
	if err != nil {
		return g, nil, false, err
	}
	windows, last = Windows(g, answers, a.opts.WindowBytes, a.labels)
	return g, windows, last, nil
}

// AskDream asks the model one question of a dream, and stores the answer as received. The question of another dream has
// another key, also if it is the same, but an attempt that is made again finds the answer of the one before.
func (a *Activities) AskDream(ctx context.Context, in AskInput) (Asked, error) {
	return boundary.Run(ctx, in, a.askDream)
}

func (a *Activities) askDream(ctx context.Context, in AskInput) (Asked, error) {
	g, windows, last, err := a.windows(ctx, in.Gathered, in.Answers)
	if err != nil {
		return Asked{}, err
	}
	if in.Window < 0 || in.Window >= len(windows) {
		return Asked{}, boundary.Invalid(schema.ErrorInvalidInput, fmt.Errorf(
			"question %d of dream %q: there are %d: the dream began with other --window-bytes, start it again", in.Window, in.Gathered, len(windows)))
	}
	request := a.dreamRequest(windows[in.Window], last, in.Again)
	question := llm.Question{
		Key: llm.QuestionKey(a.archive.Model().Identity(), request, DreamPromptVersion, strconv.Itoa(g.Ordinal)), Request: request,
		BuildID: in.Gathered, // An erasure of the gathered text finds the answer by this id.
	}
	answered, err := a.archive.Ask(ctx, question)
	switch llm.KindOf(err) {
	case llm.KindTooLong, llm.KindBlocked, llm.KindTruncated, llm.KindEmpty:
		return Asked{Useless: err.Error(), Usage: answered.Usage}, nil
	}
	if err != nil {
		return Asked{}, err
	}
	return Asked{Key: answered.Key, Useless: readAnswer(answered).Problem(), Usage: answered.Usage}, nil
}

// dreamRequest is the call for a window. again says why the answer to the same was of no use.
func (a *Activities) dreamRequest(w Window, last bool, again string) llm.Request {
	temperature := dreamTemperature
	request := llm.Request{
		System: DistillSystem(), Prompt: w.Prompt,
		Params: llm.Params{Temperature: &temperature, MaxOutputTokens: w.MaxOutputTokens},
	}
	if last {
		request.System = DreamSystem()
	}
	if a.opts.Params.MaxOutputTokens > 0 {
		request.Params.MaxOutputTokens = a.opts.Params.MaxOutputTokens
	}
	if again != "" {
		request.Prompt += "\n\n" + fmt.Sprintf(dreamAgain, quoted(inLine(again), a.labels))
	}
	return request
}

// ReadDraft returns the gathered input of the dream, and the draft composed from it and the answers with the keys.
// Without keys it uses the answer of the offline model.
func ReadDraft(ctx context.Context, log *eventlog.Store, gathered string, responses []string) (schema.DreamGatheredPayload, Draft, error) {
	g, err := readGathered(ctx, log, gathered)
	if err != nil {
		return g, Draft{}, err
	}
	answers, err := readAnswers(ctx, log, responses)
	if err != nil {
		return g, Draft{}, err
	}
	if len(responses) == 0 {
		answers = []Answer{DreamOffline(g)}
	}
	return g, Compose(g, answers, Guard{}), nil
}

func readGathered(ctx context.Context, log *eventlog.Store, id string) (schema.DreamGatheredPayload, error) {
	event, err := log.Get(ctx, id)
	if errors.Is(err, eventlog.ErrNotFound) {
		err = boundary.Invalid(schema.ErrorInvalidInput, err)
	}
	if err != nil {
		return schema.DreamGatheredPayload{}, fmt.Errorf("read the gathered input of the dream: %w", err)
	}
	return schema.Decode[schema.DreamGatheredPayload](event)
}

func readAnswers(ctx context.Context, log *eventlog.Store, keys []string) ([]Answer, error) {
	var answers []Answer
	for _, key := range keys {
		answered, err := llm.StoredAnswer(ctx, log, key)
		if errors.Is(err, eventlog.ErrNotFound) {
			err = boundary.Invalid(schema.ErrorInvalidInput, err)
		}
		if err != nil {
			return nil, fmt.Errorf("read answer %q of the dream: %w", key, err)
		}
		answers = append(answers, readAnswer(answered))
	}
	return answers, nil
}

func readAnswer(answered llm.Answered) Answer {
	answer := ParseAnswer(answered.Text)
	answer.Truncated = answered.Truncated
	return answer
}
