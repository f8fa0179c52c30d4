package llm

import (
	"context"
	"fmt"
	"net/http"

	"github.com/google/generative-ai-go/genai"
	"google.golang.org/api/option"
	"google.golang.org/api/option/internaloption"
	"google.golang.org/grpc"
	"google.golang.org/grpc/resolver"
)

// ProviderGemini is the name of Google's API.
const ProviderGemini = "gemini"

// Defaults of gemini.
const (
	DefaultGeminiModel      = "gemini-2.5-flash"
	DefaultGeminiEmbedder   = "gemini-embedding-001"
	DefaultGeminiDimensions = 768
)

// maxGeminiBatch is the API's limit on texts per request.
const maxGeminiBatch = 100

var geminiProvider = Provider{
	Name: ProviderGemini, KeyVariable: "GEMINI_API_KEY",
	Model:    &ModelProvider{Default: DefaultGeminiModel, New: newGemini, Read: readGemini},
	Embedder: &EmbedderProvider{Default: DefaultGeminiEmbedder, Batch: maxGeminiBatch, MaxBatch: maxGeminiBatch, New: newGeminiEmbedder},
}

// gemini calls Google's API through generative-ai-go. The client builds the requests, the transport sends them, and
// this package reads the responses.
type gemini struct {
	client *genai.Client
	id     ModelIdentity
	prices Prices
}

func newGemini(ctx context.Context, c Config) (Model, error) {
	httpClient, err := geminiHTTP(c.endpoint())
	if err != nil {
		return nil, err
	}
	// The client also insists on a gRPC connection, for a cache that is not used here. It gets one whose resolver
	// never finds an address. The validation is skipped because it would refuse the two options together.
	client, err := genai.NewClient(ctx, option.WithHTTPClient(httpClient), option.WithoutAuthentication(),
		option.WithGRPCDialOption(grpc.WithResolvers(nowhere("passthrough"), nowhere("dns"))),
		internaloption.SkipDialSettingsValidation())
	if err != nil {
		return nil, fmt.Errorf("create gemini client: %w", err)
	}
	return &gemini{client: client, id: ModelIdentity{ProviderGemini, c.Model}, prices: c.Prices}, nil
}

// nowhere is a resolver that never resolves anything. Its value is its scheme.
type nowhere string

// Build implements resolver.Builder.
func (n nowhere) Build(resolver.Target, resolver.ClientConn, resolver.BuildOptions) (resolver.Resolver, error) {
	return n, nil
}

// Scheme implements resolver.Builder.
func (n nowhere) Scheme() string { return string(n) }

// ResolveNow implements resolver.Resolver.
func (nowhere) ResolveNow(resolver.ResolveNowOptions) {}

// Close implements resolver.Resolver.
func (nowhere) Close() {}

// geminiHTTP returns an HTTP client that sends the key in a header. The API client would put it into the URL, and
// every error would show it.
func geminiHTTP(e endpoint) (*http.Client, error) {
	if err := e.requireKey(); err != nil {
		return nil, err
	}
	t, err := newTransport(e, func(h http.Header) { h.Set("X-Goog-Api-Key", e.key) })
	if err != nil {
		return nil, err
	}
	return t.client(), nil
}

// Identity implements [Model].
func (g *gemini) Identity() ModelIdentity { return g.id }

// Generate implements [Model].
func (g *gemini) Generate(ctx context.Context, req Request) (Response, error) {
	m := g.client.GenerativeModel(g.id.Model)
	if req.System != "" {
		m.SystemInstruction = genai.NewUserContent(genai.Text(req.System))
	}
	if req.Params.Temperature != nil {
		m.SetTemperature(float32(*req.Params.Temperature))
	}
	if req.Params.MaxOutputTokens > 0 {
		m.SetMaxOutputTokens(int32(req.Params.MaxOutputTokens))
	}
	if len(req.Schema) > 0 {
		schema, err := geminiSchema(req.Schema)
		if err != nil {
			return Response{}, &Error{Provider: ProviderGemini, Kind: KindInvalidRequest, cause: err}
		}
		m.ResponseMIMEType = "application/json"
		m.ResponseSchema = schema
	}
	ctx, x := withExchange(ctx)
	_, err := m.GenerateContent(ctx, genai.Text(req.Prompt))
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
