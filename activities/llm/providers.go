package llm

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// providers are all that there are. A provider is a file of its own and a line here; flags, their help, keys and
// the reading of stored answers follow. Where none is chosen, the first with a model and the first with an
// embedder count.
var providers = []Provider{
	rulesProvider,
	hashProvider,
	geminiProvider,
	openAIProvider,
}

// Provider makes models, embedders or both.
type Provider struct {
	// Name is what configurations choose it by. It is part of what its answers and vectors are stored under.
	Name string
	// KeyVariable is the environment variable that holds its key. It is empty for a provider that works offline.
	KeyVariable string
	// Model is nil for a provider without models, and Embedder for one without embedders.
	Model    *ModelProvider
	Embedder *EmbedderProvider
}

// ModelProvider makes a provider's models.
type ModelProvider struct {
	// Default is the model that is used where none is named.
	Default string
	// New returns the model of a configuration whose defaults are filled in. It makes no request.
	New func(context.Context, Config) (Model, error)
	// Read reads an answer's body, live or stored: see [ReadRaw].
	Read func(raw []byte) (Response, error)
}

// EmbedderProvider makes a provider's embedders.
type EmbedderProvider struct {
	// Default is the model that is used where none is named.
	Default string
	// Batch is how many texts go into a request unless told otherwise, and MaxBatch the most that may.
	Batch, MaxBatch int
	// New returns the embedder of a configuration whose defaults are filled in, but for Dimensions, which may be
	// 0. It makes no request.
	New func(context.Context, EmbedderConfig) (Embedder, error)
}

func (p Provider) model() bool    { return p.Model != nil }
func (p Provider) embedder() bool { return p.Embedder != nil }

// ModelProviders returns the names of the providers that have models, the default first.
func ModelProviders() []string { return names(Provider.model) }

// EmbedderProviders returns the names of the providers that have embedders, the default first.
func EmbedderProviders() []string { return names(Provider.embedder) }

// KeyVariable returns the environment variable that holds the key of the provider, "" where it needs none.
func KeyVariable(provider string) string {
	for _, p := range providers {
		if p.Name == provider {
			return p.KeyVariable
		}
	}
	return ""
}

// ModelChoices lists the providers that have models for help texts, such as "rules (offline), gemini or openai".
func ModelChoices() string { return choices(Provider.model) }

// EmbedderChoices is [ModelChoices] of embedders.
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

// find returns the provider with the name, or the default for none, among those that have what is asked for.
func find(has func(Provider) bool, name string) (Provider, error) {
	at := slices.IndexFunc(providers, func(p Provider) bool { return has(p) && (name == "" || p.Name == name) })
	if at < 0 {
		return Provider{}, configError("provider", "%q is not one of %s", name, strings.Join(names(has), ", "))
	}
	return providers[at], nil
}

// ReadRaw reads a stored body of the provider again, without the network, so that a better reader
// does not pay twice. Response.CostUSD is nil: reading again costs nothing.
//
// A body that is an answer of no use gives the same error as the live call did.
func ReadRaw(provider string, raw []byte) (Response, error) {
	for _, p := range providers {
		if p.Name == provider && p.model() {
			return p.Model.Read(raw)
		}
	}
	return Response{}, fmt.Errorf("read raw answer: unknown provider %q", provider)
}
