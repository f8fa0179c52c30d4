package llm

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// providers are all providers. To add one, write a file for it and add a line here: flags, help texts, keys and the
// reading of stored answers follow. The first one with a model and the first one with an embedder are the defaults.
var providers = []Provider{
	rulesProvider,
	hashProvider,
	localProvider,
	geminiProvider,
	openAIProvider,
}

// Provider makes models, embedders or both.
type Provider struct {
	// Name selects the provider in configurations. Answers and vectors are stored under it.
	Name string
	// KeyVariable is the environment variable with the API key. It is empty for a provider that works offline.
	KeyVariable string
	// Model is nil for a provider without models. Embedder is nil for one without embedders.
	Model    *ModelProvider
	Embedder *EmbedderProvider
}

// ModelProvider makes a provider's models.
type ModelProvider struct {
	// Default is the name of the default model.
	Default string
	// New returns the model for a configuration with defaults filled in. It makes no request.
	New func(context.Context, Config) (Model, error)
	// Read parses a response body, just received or stored: see [ReadRaw].
	Read func(raw []byte) (Response, error)
}

// EmbedderProvider makes a provider's embedders.
type EmbedderProvider struct {
	// Default is the name of the default model.
	Default string
	// Batch is the default number of texts in a request, and MaxBatch the maximum.
	Batch, MaxBatch int
	// New returns the embedder for a configuration with defaults filled in, except Dimensions, which may be 0. It
	// makes no request.
	New func(context.Context, EmbedderConfig) (Embedder, error)
}

func (p Provider) model() bool    { return p.Model != nil }
func (p Provider) embedder() bool { return p.Embedder != nil }

// ModelProviders returns the names of the providers that have models, the default first.
func ModelProviders() []string { return names(Provider.model) }

// EmbedderProviders returns the names of the providers that have embedders, the default first.
func EmbedderProviders() []string { return names(Provider.embedder) }

// KeyVariable returns the environment variable with the provider's API key, or "" if it needs none.
func KeyVariable(provider string) string {
	for _, p := range providers {
		if p.Name == provider {
			return p.KeyVariable
		}
	}
	return ""
}

// ModelChoices lists the providers with models for help texts, such as "rules (offline), gemini or openai".
func ModelChoices() string { return choices(Provider.model) }

// EmbedderChoices is like [ModelChoices], for embedders.
func EmbedderChoices() string { return choices(Provider.embedder) }

func choices(has func(Provider) bool) string {
	list := names(has)
	for i, name := range list {
		if KeyVariable(name) == "" {
			list[i] += " (offline)"
		}
	}
	last := len(list) - 1
	return strings.Join(list[:last], ", ") + " or " + list[last]
}

func names(has func(Provider) bool) []string {
	var out []string
	for _, p := range providers {
		if has(p) {
			out = append(out, p.Name)
		}
	}
	return out
}

// find returns the provider with the name among those for which has is true. An empty name means the first of them.
func find(has func(Provider) bool, name string) (Provider, error) {
	at := slices.IndexFunc(providers, func(p Provider) bool { return has(p) && (name == "" || p.Name == name) })
	if at < 0 {
		return Provider{}, configError("provider", "%q is not one of %s", name, strings.Join(names(has), ", "))
	}
	return providers[at], nil
}

// ReadRaw parses a stored response body of the provider again, without the network, so that an improved reader does
// not pay for the call twice. Response.CostUSD is nil, because reading again costs nothing.
//
// If the answer cannot be used, the error is the same as that of the original call.
func ReadRaw(provider string, raw []byte) (Response, error) {
	for _, p := range providers {
		if p.Name == provider && p.model() {
			return p.Model.Read(raw)
		}
	}
	return Response{}, fmt.Errorf("read raw answer: unknown provider %q", provider)
}
