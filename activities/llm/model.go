// Package llm calls language models. It renders prompts, makes exactly one provider call per request, classifies
// errors, and reads answers even if they are not exactly in the requested form.
package llm

import (
	"context"

	"axiommind/schema"
)

// Model answers a prompt. One call of Generate makes one provider call and never retries it.
type Model interface {
	// Generate returns the answer. A provider may respond with an unusable answer (KindBlocked, KindTruncated,
	// KindEmpty, KindMalformed). Then Response.Raw and Response.Usage are set together with the error, so that the body
	// can be stored and the cost counted.
	Generate(ctx context.Context, req Request) (Response, error)
	Identity() ModelIdentity
}

// Local is a model that computes its answers in this process, quickly, for nothing, and always the same ones. They are
// not stored before they are read: to compute one again costs less.
type Local interface {
	Model
	// Local does nothing.
	Local()
}

// Embedder turns texts into vectors of equal length.
type Embedder interface {
	// Embed returns one vector for each text to store, in the order of the texts, each of length 1 (L2).
	Embed(ctx context.Context, texts []string) ([][]float32, error)
	// EmbedQuery returns the vector of length 1 of a query. Models that are trained on questions and their answers
	// embed the two differently.
	EmbedQuery(ctx context.Context, text string) ([]float32, error)
	// Version names the provider, the model and the dimensions, such as "hash-v2-384", in lower-case ASCII letters,
	// digits, dots and dashes. Vectors of different versions can't be compared.
	Version() string
	Dimensions() int
}

// ModelIdentity names a model and its provider.
type ModelIdentity struct {
	Provider string `json:"provider"`
	Model    string `json:"model"`
}

// String returns "provider/model".
func (id ModelIdentity) String() string { return id.Provider + "/" + id.Model }

// Request is a prompt with the settings for its answer.
type Request struct {
	System string
	Prompt string
	// Schema is the JSON Schema of the answer. If it is empty, the answer is free text.
	Schema []byte
	Params Params
	// Window holds the messages that Prompt contains. Only the offline model reads it; other models read Prompt.
	Window []schema.Message
	// Works is true if the window's session contains tool calls, so that an agent is at work in it. Like Window, only
	// the offline model reads it.
	Works bool
}

// Params are the settings that influence an answer. They are part of the cache key.
type Params struct {
	// Temperature is in [0,2]. If it is nil, the provider's default applies.
	Temperature *float64 `json:"temperature,omitempty"`
	// MaxOutputTokens limits the answer, thinking included. If it is 0, the provider's default applies.
	MaxOutputTokens int `json:"max_output_tokens,omitempty"`
	// Passages is the version of the weights that choose the passages of a session that a model reads, or "" if it reads all.
	Passages string `json:"passages,omitempty"`
}

// Response is a model's answer.
type Response struct {
	// Raw is the provider's response body as received. [ReadRaw] parses it again.
	Raw []byte
	// Text is the answer without the model's thoughts.
	Text         string
	FinishReason FinishReason
	// ProviderFinish is the finish reason as the provider calls it.
	ProviderFinish string
	Usage          Usage
	// CostUSD is nil if no prices are configured.
	CostUSD *float64
}

// FinishReason is the reason why a model stopped.
type FinishReason string

// Finish reasons. An unrecognized reason is FinishUnknown; the text still counts as an answer.
const (
	FinishStop    FinishReason = "stop"
	FinishLength  FinishReason = "length"
	FinishBlocked FinishReason = "blocked"
	FinishUnknown FinishReason = "unknown"
)

// Usage counts tokens. OutputTokens are those of the answer. ThoughtTokens are not included in them, but cost the
// same.
type Usage struct {
	InputTokens   int `json:"input_tokens"`
	OutputTokens  int `json:"output_tokens"`
	ThoughtTokens int `json:"thought_tokens,omitempty"`
}

// Prices are in US dollars per million tokens. The zero value means that the prices are unknown.
type Prices struct {
	InputPerMillion  float64
	OutputPerMillion float64
}

// Cost returns the cost of the usage in US dollars, or nil if the prices are unknown. It ignores discounts, such as
// those for cached input.
func (p Prices) Cost(u Usage) *float64 {
	if p == (Prices{}) {
		return nil
	}
	const million = 1e6
	cost := float64(u.InputTokens)*p.InputPerMillion/million +
		float64(u.OutputTokens+u.ThoughtTokens)*p.OutputPerMillion/million
	return &cost
}
