package llm

import (
	"context"
	"net/http"

	"axiommind/activities/llm/gemini"
)

// ProviderGemini is the name of Google's API.
const ProviderGemini = "gemini"

// Defaults of gemini.
const (
	DefaultGeminiModel      = "gemini-2.5-flash"
	DefaultGeminiEmbedder   = "gemini-embedding-001"
	DefaultGeminiDimensions = 768
	DefaultGeminiBaseURL    = "https://generativelanguage.googleapis.com"
)

// maxGeminiBatch is the API's limit on texts per request.
const maxGeminiBatch = 100

var geminiProvider = Provider{
	Name: ProviderGemini, KeyVariable: "GEMINI_API_KEY",
	Model:    &ModelProvider{Default: DefaultGeminiModel, New: newGemini, Read: readGemini},
	Embedder: &EmbedderProvider{Default: DefaultGeminiEmbedder, Batch: maxGeminiBatch, MaxBatch: maxGeminiBatch, New: newGeminiEmbedder},
}

// geminiModel calls Google's API through the client of the configuration. The client builds the requests, the
// transport sends them, and this package reads the responses.
type geminiModel struct {
	client gemini.Client
	id     ModelIdentity
	prices Prices
}

func newGemini(ctx context.Context, c Config) (Model, error) {
	t, err := geminiTransport(c.endpoint())
	if err != nil {
		return nil, err
	}
	if c.Gemini == nil {
		return nil, configError("provider", "this program calls no model of %s", ProviderGemini)
	}
	client, err := c.Gemini(ctx, t.client())
	if err != nil {
		return nil, err
	}
	return &geminiModel{client: client, id: ModelIdentity{ProviderGemini, c.Model}, prices: c.Prices}, nil
}

// geminiTransport returns a transport that sends the key in a header. The API's client would put it into the URL, and
// every error would show it.
func geminiTransport(e endpoint) (*transport, error) {
	if err := e.requireKey(); err != nil {
		return nil, err
	}
	return newTransport(e, func(h http.Header) { h.Set("X-Goog-Api-Key", e.key) })
}

// Identity implements [Model].
func (g *geminiModel) Identity() ModelIdentity { return g.id }

// Generate implements [Model].
func (g *geminiModel) Generate(ctx context.Context, req Request) (Response, error) {
	ctx, x := withExchange(ctx)
	err := g.client.Generate(ctx, gemini.Request{
		Model: g.id.Model, System: req.System, Prompt: req.Prompt, Schema: req.Schema,
		Temperature: req.Params.Temperature, MaxOutputTokens: req.Params.MaxOutputTokens,
	})
	return finish(ProviderGemini, g.prices, x, err)
}

// finish reads the outcome of a call.
func finish(provider string, prices Prices, x *exchange, clientErr error) (Response, error) {
	raw, err := x.outcome(provider, clientErr)
	if err != nil {
		return Response{}, err
	}
	resp, err := ReadRaw(provider, raw)
	resp.CostUSD = prices.Cost(resp.Usage)
	return resp, err
}
