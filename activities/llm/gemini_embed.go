package llm

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	generativelanguage "cloud.google.com/go/ai/generativelanguage/apiv1beta"
	"cloud.google.com/go/ai/generativelanguage/apiv1beta/generativelanguagepb"
	"google.golang.org/api/option"
)

// newGeminiEmbedder uses the client that generative-ai-go is built on, because generative-ai-go cannot set the number
// of dimensions.
func newGeminiEmbedder(ctx context.Context, c EmbedderConfig) (Embedder, error) {
	c.Dimensions = cmp.Or(c.Dimensions, DefaultGeminiDimensions)
	httpClient, err := geminiHTTP(c.endpoint())
	if err != nil {
		return nil, err
	}
	client, err := generativelanguage.NewGenerativeRESTClient(ctx, option.WithHTTPClient(httpClient))
	if err != nil {
		return nil, fmt.Errorf("create gemini client: %w", err)
	}
	model := c.Model
	if !strings.Contains(model, "/") {
		model = "models/" + model
	}
	dimensions := int32(c.Dimensions)
	call := func(ctx context.Context, texts []string, query bool) ([][]float32, error) {
		task := generativelanguagepb.TaskType_RETRIEVAL_DOCUMENT
		if query {
			task = generativelanguagepb.TaskType_RETRIEVAL_QUERY
		}
		req := &generativelanguagepb.BatchEmbedContentsRequest{Model: model}
		for _, t := range texts {
			req.Requests = append(req.Requests, &generativelanguagepb.EmbedContentRequest{
				Model: model,
				Content: &generativelanguagepb.Content{Parts: []*generativelanguagepb.Part{
					{Data: &generativelanguagepb.Part_Text{Text: t}},
				}},
				TaskType:             &task,
				OutputDimensionality: &dimensions,
			})
		}
		ctx, x := withExchange(ctx)
		_, clientErr := client.BatchEmbedContents(ctx, req)
		raw, err := x.outcome(ProviderGemini, clientErr)
		if err != nil {
			return nil, err
		}
		return readGeminiEmbeddings(raw)
	}
	return &remoteEmbedder{ProviderGemini, c.Model, c.Dimensions, c.BatchSize, call}, nil
}

func readGeminiEmbeddings(raw []byte) ([][]float32, error) {
	var body struct {
		Embeddings []struct {
			Values []float32 `json:"values"`
		} `json:"embeddings"`
		Error json.RawMessage `json:"error"`
	}
	if err := json.Unmarshal(raw, &body); err != nil {
		return nil, malformed(ProviderGemini, raw, err)
	}
	if isSet(body.Error) {
		return nil, errorInBody(ProviderGemini, raw)
	}
	vectors := make([][]float32, len(body.Embeddings))
	for i, e := range body.Embeddings {
		vectors[i] = e.Values
	}
	return vectors, nil
}
