package llm

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/shared"
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
	chat   openai.ChatCompletionService
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
	options, err := openAIOptions(c.endpoint())
	if err != nil {
		return nil, err
	}
	return &openAI{
		chat:     openai.NewChatCompletionService(options...),
		id:       ModelIdentity{ProviderOpenAI, c.Model},
		format:   c.ResponseFormat,
		official: c.BaseURL == "",
		prices:   c.Prices,
	}, nil
}

// openAIOptions configures a single service of the client, because the whole client would take keys and addresses
// from the environment.
func openAIOptions(e endpoint) ([]option.RequestOption, error) {
	if e.url == "" || e.key != "" {
		if err := e.requireKey(); err != nil {
			return nil, err
		}
	}
	t, err := newTransport(e, func(h http.Header) {
		h.Del("Authorization")
		if e.key != "" {
			h.Set("Authorization", "Bearer "+e.key)
		}
	})
	if err != nil {
		return nil, err
	}
	t.base = nil
	return []option.RequestOption{
		option.WithHTTPClient(t.client()),
		option.WithBaseURL(cmp.Or(e.url, DefaultOpenAIBaseURL)),
		option.WithMaxRetries(0),
	}, nil
}

// Identity implements [Model].
func (o *openAI) Identity() ModelIdentity { return o.id }

// Generate implements [Model].
func (o *openAI) Generate(ctx context.Context, req Request) (Response, error) {
	params := openai.ChatCompletionNewParams{Model: o.id.Model}
	if req.System != "" {
		params.Messages = append(params.Messages, openai.SystemMessage(req.System))
	}
	params.Messages = append(params.Messages, openai.UserMessage(req.Prompt))
	if req.Params.Temperature != nil {
		params.Temperature = openai.Float(*req.Params.Temperature)
	}
	if n := req.Params.MaxOutputTokens; n > 0 && o.official {
		params.MaxCompletionTokens = openai.Int(int64(n))
	} else if n > 0 {
		params.MaxTokens = openai.Int(int64(n))
	}
	if len(req.Schema) > 0 {
		params.ResponseFormat = o.responseFormat(req.Schema)
	}
	ctx, x := withExchange(ctx)
	_, err := o.chat.New(ctx, params)
	return finish(ProviderOpenAI, o.prices, x, err)
}

// responseFormat asks for the schema without OpenAI's strict mode, which does not support optional properties.
// Servers that constrain decoding by the schema do so even without it.
func (o *openAI) responseFormat(schema []byte) openai.ChatCompletionNewParamsResponseFormatUnion {
	var f openai.ChatCompletionNewParamsResponseFormatUnion
	switch o.format {
	case FormatSchema:
		f.OfJSONSchema = &shared.ResponseFormatJSONSchemaParam{
			JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{
				Name:   "answer",
				Strict: openai.Bool(false),
				Schema: json.RawMessage(schema),
			},
		}
	case FormatObject:
		f.OfJSONObject = &shared.ResponseFormatJSONObjectParam{}
	}
	return f
}
