package llm

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"

	"github.com/sashabaranov/go-openai"
)

// ProviderOpenAI is the name of OpenAI and of every server with a compatible API.
const ProviderOpenAI = "openai"

// Defaults of openai.
const (
	DefaultOpenAIModel      = "gpt-4.1-mini"
	DefaultOpenAIEmbedder   = "text-embedding-3-small"
	DefaultOpenAIDimensions = 1536
	DefaultOpenAIBaseURL    = "https://api.openai.com/v1"
)

// Response formats of openai.
const (
	FormatSchema = "json_schema"
	FormatObject = "json_object"
	FormatNone   = "none"
)

// Numbers of texts per embedding request. Other servers accept fewer than OpenAI's.
const (
	defaultOpenAIBatch = 256
	maxOpenAIBatch     = 2048
)

var openAIProvider = Provider{
	Name: ProviderOpenAI, KeyVariable: "OPENAI_API_KEY",
	Model:    &ModelProvider{Default: DefaultOpenAIModel, New: newOpenAI, Read: readOpenAI},
	Embedder: &EmbedderProvider{Default: DefaultOpenAIEmbedder, Batch: defaultOpenAIBatch, MaxBatch: maxOpenAIBatch, New: newOpenAIEmbedder},
}

// openAI calls any server with OpenAI's chat completions API.
type openAI struct {
	api    *api
	id     ModelIdentity
	format string
	// official is true for OpenAI itself, which uses newer parameter names than compatible servers.
	official bool
	prices   Prices
}

func newOpenAI(_ context.Context, c Config) (Model, error) {
	c.ResponseFormat = cmp.Or(c.ResponseFormat, FormatSchema)
	switch c.ResponseFormat {
	case FormatSchema, FormatObject, FormatNone:
	default:
		return nil, configError("response format", "%q is not one of %s, %s, %s",
			c.ResponseFormat, FormatSchema, FormatObject, FormatNone)
	}
	api, err := newOpenAIAPI(c.endpoint())
	if err != nil {
		return nil, err
	}
	return &openAI{
		api:      api,
		id:       ModelIdentity{ProviderOpenAI, c.Model},
		format:   c.ResponseFormat,
		official: c.BaseURL == "",
		prices:   c.Prices,
	}, nil
}

func newOpenAIAPI(e endpoint) (*api, error) {
	if e.url == "" || e.key != "" {
		if err := e.requireKey(); err != nil {
			return nil, err
		}
	}
	e.url = cmp.Or(e.url, DefaultOpenAIBaseURL)
	t, err := newTransport(e, func(h http.Header) {
		if e.key != "" {
			h.Set("Authorization", "Bearer "+e.key)
		}
	})
	if err != nil {
		return nil, err
	}
	return newAPI(t), nil
}

// Identity implements [Model].
func (o *openAI) Identity() ModelIdentity { return o.id }

// chatRequest is the library's request, except for two fields. The library's client cannot send a temperature of 0,
// and refuses some names of models together with max_tokens, so this package sends the requests itself.
type chatRequest struct {
	openai.ChatCompletionRequest
	Temperature *float64 `json:"temperature,omitempty"`
	Stream      bool     `json:"stream,omitempty"`
}

// Generate implements [Model].
func (o *openAI) Generate(ctx context.Context, req Request) (Response, error) {
	body := chatRequest{Temperature: req.Params.Temperature}
	body.Model = o.id.Model
	if req.System != "" {
		body.Messages = append(body.Messages, chatMessage(openai.ChatMessageRoleSystem, req.System))
	}
	body.Messages = append(body.Messages, chatMessage(openai.ChatMessageRoleUser, req.Prompt))
	if n := max(req.Params.MaxOutputTokens, 0); o.official {
		body.MaxCompletionTokens = n
	} else {
		body.MaxTokens = cmp.Or(n, boundedTokens) //nolint:staticcheck // other servers know no newer name
		body.Stream, body.StreamOptions = true, &openai.StreamOptions{IncludeUsage: true}
	}
	if len(req.Schema) > 0 {
		body.ResponseFormat = o.responseFormat(req.Schema)
	}
	ctx, x := withExchange(ctx)
	err := o.api.post(ctx, "/chat/completions", body)
	raw, brokenOff := whole(x.raw)
	if brokenOff != nil {
		return Response{}, &Error{Provider: ProviderOpenAI, Kind: KindMalformed, cause: brokenOff}
	}
	x.raw = raw
	return finish(ProviderOpenAI, o.prices, x, err)
}

func chatMessage(role, text string) openai.ChatCompletionMessage {
	return openai.ChatCompletionMessage{Role: role, Content: text}
}

// responseFormat asks for the schema without OpenAI's strict mode, which does not support optional properties.
// Servers that constrain decoding by the schema do so even without it.
func (o *openAI) responseFormat(schema []byte) *openai.ChatCompletionResponseFormat {
	switch o.format {
	case FormatSchema:
		if !o.official {
			schema = bounded(schema)
		}
		return &openai.ChatCompletionResponseFormat{
			Type:       openai.ChatCompletionResponseFormatTypeJSONSchema,
			JSONSchema: &openai.ChatCompletionResponseFormatJSONSchema{Name: "answer", Schema: json.RawMessage(schema)},
		}
	case FormatObject:
		return &openai.ChatCompletionResponseFormat{Type: openai.ChatCompletionResponseFormatTypeJSONObject}
	default:
		return nil
	}
}
