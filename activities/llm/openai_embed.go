package llm

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/sashabaranov/go-openai"
)

func newOpenAIEmbedder(_ context.Context, c EmbedderConfig) (Embedder, error) {
	if c.Dimensions == 0 && c.Model == DefaultOpenAIEmbedder {
		c.Dimensions = DefaultOpenAIDimensions
	}
	if c.Dimensions == 0 {
		return nil, configError("dimensions", "must be given for model %q", c.Model)
	}
	api, err := newOpenAIAPI(c.endpoint())
	if err != nil {
		return nil, err
	}
	// Only OpenAI's own newer models can shorten their vectors. Others reject the parameter.
	shortens := c.BaseURL == "" && strings.HasPrefix(c.Model, "text-embedding-3-")
	call := func(ctx context.Context, texts []string, _ bool) ([][]float32, error) {
		body := openai.EmbeddingRequest{
			Model: openai.EmbeddingModel(c.Model), Input: texts, EncodingFormat: openai.EmbeddingEncodingFormatFloat,
		}
		if shortens {
			body.Dimensions = c.Dimensions
		}
		ctx, x := withExchange(ctx)
		clientErr := api.post(ctx, "/embeddings", body)
		raw, err := x.outcome(ProviderOpenAI, clientErr)
		if err != nil {
			return nil, err
		}
		return readOpenAIEmbeddings(raw)
	}
	return &remoteEmbedder{ProviderOpenAI, c.Model, c.Dimensions, c.BatchSize, call}, nil
}

// readOpenAIEmbeddings returns the vectors in the order of their index, which may differ from the order in the
// response.
func readOpenAIEmbeddings(raw []byte) ([][]float32, error) {
	var body struct {
		Data []struct {
			Index     int       `json:"index"`
			Embedding []float32 `json:"embedding"`
		} `json:"data"`
		Error json.RawMessage `json:"error"`
	}
	if err := json.Unmarshal(raw, &body); err != nil {
		return nil, malformed(ProviderOpenAI, raw, err)
	}
	if isSet(body.Error) {
		return nil, errorInBody(ProviderOpenAI, raw)
	}
	vectors := make([][]float32, len(body.Data))
	for _, d := range body.Data {
		if d.Index < 0 || d.Index >= len(vectors) || vectors[d.Index] != nil {
			return nil, &Error{Provider: ProviderOpenAI, Kind: KindMalformed,
				Message: fmt.Sprintf("index %d twice or out of range in %d vectors", d.Index, len(body.Data))}
		}
		vectors[d.Index] = d.Embedding
	}
	return vectors, nil
}
