// Package llm speaks to language models: it renders what is asked, calls a provider exactly once,
// classifies what went wrong, and reads answers that are not quite what was asked for.
package llm

import (
	"context"

	"axiommind/schema"
)

// Model answers a prompt. One call of Generate is one call of the provider, never retried here.
type Model interface {
	// Generate returns the answer. When the provider answered but the answer is of no use
	// (KindBlocked, KindTruncated, KindEmpty, KindMalformed), Response.Raw and Response.Usage are
	// set beside the error, so that the body can be stored and the cost be counted.
	Generate(ctx context.Context, req Request) (Response, error)
	Identity() ModelIdentity
}

// Embedder turns texts into vectors of equal length.
type Embedder interface {
	// Embed returns one vector for each text, in the order of the texts, each of length 1 (L2).
	Embed(ctx context.Context, texts []string) ([][]float32, error)
	// Version names the provider, the model and the dimensions, such as "hash-v2-384", in lower
	// case ASCII letters, digits, dots and dashes. Vectors of different versions can't be compared.
	Version() string
	Dimensions() int
}

// ModelIdentity says who answers.
type ModelIdentity struct {
	Provider string `json:"provider"`
	Model    string `json:"model"`
}

// String returns "provider/model".
func (id ModelIdentity) String() string { return id.Provider + "/" + id.Model }

// Request is what a model is asked.
type Request struct {
	System string
	Prompt string
	// Schema is the JSON Schema of the answer; empty asks for free text.
	Schema []byte
	Params Params
	// Window holds the messages that Prompt renders. Only the offline model reads it: the others
	// see Prompt alone.
	Window []schema.Message
	// Works is true when an agent works in the session of the window: it calls tools. Like Window, only
	// the offline model reads it.
	Works bool
}

// Params are the settings that change an answer. They are part of the cache key.
type Params struct {
	// Temperature is in [0,2]; nil leaves the provider's default.
	Temperature *float64 `json:"temperature,omitempty"`
	// MaxOutputTokens bounds the answer, thinking included; 0 leaves the provider's default.
	MaxOutputTokens int `json:"max_output_tokens,omitempty"`
}

// Response is what a model answered.
type Response struct {
	// Raw is the provider's body as received. [ReadRaw] reads it again.
	Raw []byte
	// Text is the answer without the model's thoughts.
	Text         string
	FinishReason FinishReason
	// ProviderFinish is the finish reason in the provider's own words.
	ProviderFinish string
	Usage          Usage
	// CostUSD is nil where no prices are configured.
	CostUSD *float64
}

// FinishReason says why a model stopped.
type FinishReason string

// Finish reasons. A reason nobody has heard of is FinishUnknown: its text is still an answer.
const (
	FinishStop    FinishReason = "stop"
	FinishLength  FinishReason = "length"
	FinishBlocked FinishReason = "blocked"
	FinishUnknown FinishReason = "unknown"
)

// Usage counts tokens. OutputTokens are those of the answer alone; ThoughtTokens come on top and
// are billed like them.
type Usage struct {
	InputTokens   int `json:"input_tokens"`
	OutputTokens  int `json:"output_tokens"`
	ThoughtTokens int `json:"thought_tokens,omitempty"`
}

// Prices are US dollars per million tokens. The zero value means that prices are unknown.
type Prices struct {
	InputPerMillion  float64
	OutputPerMillion float64
}

// Cost returns the price of the usage in US dollars, nil when prices are unknown. Discounts, such
// as those for cached input, are not taken into account.
func (p Prices) Cost(u Usage) *float64 {
	if p == (Prices{}) {
		return nil
	}
	const million = 1e6
	cost := float64(u.InputTokens)*p.InputPerMillion/million +
		float64(u.OutputTokens+u.ThoughtTokens)*p.OutputPerMillion/million
	return &cost
}
