// Package sdk calls Gemini through generative-ai-go. The library builds the requests, the HTTP client that it is given
// sends them, and the caller reads the responses.
package sdk

import (
	"context"
	"fmt"
	"net/http"

	"github.com/google/generative-ai-go/genai"
	"google.golang.org/api/option"
	"google.golang.org/api/option/internaloption"
	"google.golang.org/grpc"
	"google.golang.org/grpc/resolver"

	"axiommind/activities/llm/gemini"
)

type client struct{ genai *genai.Client }

// New implements [gemini.NewClient].
func New(ctx context.Context, httpClient *http.Client) (gemini.Client, error) {
	// The library also insists on a gRPC connection, for a cache that is not used here. It gets one whose resolver
	// never finds an address. The validation is skipped because it would refuse the two options together.
	c, err := genai.NewClient(ctx, option.WithHTTPClient(httpClient), option.WithoutAuthentication(),
		option.WithGRPCDialOption(grpc.WithResolvers(nowhere("passthrough"), nowhere("dns"))),
		internaloption.SkipDialSettingsValidation())
	if err != nil {
		return nil, fmt.Errorf("create gemini client: %w", err)
	}
	return &client{c}, nil
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

// Generate implements [gemini.Client].
func (c *client) Generate(ctx context.Context, req gemini.Request) error {
	m := c.genai.GenerativeModel(req.Model)
	if req.System != "" {
		m.SystemInstruction = genai.NewUserContent(genai.Text(req.System))
	}
	if req.Temperature != nil {
		m.SetTemperature(float32(*req.Temperature))
	}
	if req.MaxOutputTokens > 0 {
		m.SetMaxOutputTokens(int32(req.MaxOutputTokens))
	}
	if len(req.Schema) > 0 {
		schema, err := responseSchema(req.Schema)
		if err != nil {
			return err
		}
		m.ResponseMIMEType = "application/json"
		m.ResponseSchema = schema
	}
	_, err := m.GenerateContent(ctx, genai.Text(req.Prompt))
	return err
}
