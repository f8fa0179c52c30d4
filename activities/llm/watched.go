package llm

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"

	"axiommind/activities/spans"
)

// Called is a call of a model that has ended.
type Called struct {
	ModelIdentity
	Usage Usage
	// CostUSD is nil if no prices are configured.
	CostUSD *float64
	Took    time.Duration
	Err     error
}

// Watched returns the model with a span for each call. ended is told of each call.
func Watched(m Model, ended func(context.Context, Called)) Model {
	w := watched{m, ended}
	if _, local := m.(Local); local {
		return watchedLocal{w}
	}
	return w
}

type watched struct {
	Model
	ended func(context.Context, Called)
}

// Generate implements [Model].
func (w watched) Generate(ctx context.Context, req Request) (Response, error) {
	began, id := time.Now(), w.Identity()
	ctx, s := spans.Model(ctx, "chat", id.Provider, id.Model)
	response, err := w.Model.Generate(ctx, req)
	if s.IsRecording() {
		s.SetAttributes(attribute.Int("gen_ai.usage.input_tokens", response.Usage.InputTokens),
			attribute.Int("gen_ai.usage.output_tokens", response.Usage.OutputTokens+response.Usage.ThoughtTokens),
			attribute.StringSlice("gen_ai.response.finish_reasons", []string{string(response.FinishReason)}))
	}
	spans.End(s, err)
	w.ended(ctx, Called{ModelIdentity: id, Usage: response.Usage, CostUSD: response.CostUSD, Took: time.Since(began), Err: err})
	return response, err
}

// watchedLocal is a [Local] model.
type watchedLocal struct{ watched }

// Local implements [Local].
func (watchedLocal) Local() {}
