package llm

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"
)

// geminiEmbedRequest is one text of a batchEmbedContents request.
type geminiEmbedRequest struct {
	Model                string        `json:"model"`
	Content              geminiContent `json:"content"`
	TaskType             string        `json:"taskType"`
	OutputDimensionality int           `json:"outputDimensionality"`
}

type geminiContent struct {
	Parts []geminiPart `json:"parts"`
}

type geminiPart struct {
	Text string `json:"text"`
}

// newGeminiEmbedder posts the requests itself, because generative-ai-go cannot set the number of dimensions, and because
// every program that searches needs an embedder, but none of Google's libraries.
func newGeminiEmbedder(_ context.Context, c EmbedderConfig) (Embedder, error) {
	c.Dimensions = cmp.Or(c.Dimensions, DefaultGeminiDimensions)
	e := c.endpoint()
	e.url = cmp.Or(e.url, DefaultGeminiBaseURL)
	t, err := geminiTransport(e)
	if err != nil {
		return nil, err
	}
	api := newAPI(t)
	model := c.Model
	if !strings.Contains(model, "/") {
		model = "models/" + model
	}
	call := func(ctx context.Context, texts []string, query bool) ([][]float32, error) {
		task := "RETRIEVAL_DOCUMENT"
		if query {
			task = "RETRIEVAL_QUERY"
		}
		requests := make([]geminiEmbedRequest, len(texts))
		for i, text := range texts {
			requests[i] = geminiEmbedRequest{model, geminiContent{[]geminiPart{{text}}}, task, c.Dimensions}
		}
		ctx, x := withExchange(ctx)
		clientErr := api.post(ctx, "/v1beta/"+model+":batchEmbedContents", map[string]any{"model": model, "requests": requests})
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
