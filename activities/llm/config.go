package llm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// Providers.
const (
	ProviderRules  = "rules"
	ProviderHash   = "hash"
	ProviderGemini = "gemini"
	ProviderOpenAI = "openai"
)

// Response formats of openai.
const (
	FormatSchema = "json_schema"
	FormatObject = "json_object"
	FormatNone   = "none"
)

// Defaults of [Config] and [EmbedderConfig].
const (
	DefaultGeminiModel      = "gemini-2.5-flash"
	DefaultGeminiEmbedder   = "gemini-embedding-001"
	DefaultGeminiDimensions = 768
	DefaultGeminiVariable   = "GEMINI_API_KEY"
	DefaultOpenAIModel      = "gpt-4.1-mini"
	DefaultOpenAIEmbedder   = "text-embedding-3-small"
	DefaultOpenAIDimensions = 1536
	DefaultOpenAIVariable   = "OPENAI_API_KEY"
	DefaultOpenAIBaseURL    = "https://api.openai.com/v1"
)

// Limits of the providers.
const (
	maxGeminiBatch     = 100
	defaultOpenAIBatch = 256
	maxOpenAIBatch     = 2048
	maxDimensions      = 16384
)

// ErrConfig is what every error of a wrong configuration is.
var ErrConfig = errors.New("invalid model configuration")

// Config chooses a [Model].
type Config struct {
	// Provider is rules (the default), gemini or openai.
	Provider string
	// Model is the provider's name of the model; rules has but one.
	Model string
	// APIKey is required for gemini, and for openai unless BaseURL is given.
	APIKey string
	// KeyVariable is named in errors about the key: GEMINI_API_KEY or OPENAI_API_KEY by default.
	KeyVariable string
	// BaseURL points at another server. For openai it ends in the version, such as
	// http://127.0.0.1:11434/v1.
	BaseURL string
	// ResponseFormat is how openai is asked for JSON: json_schema (the default), json_object, or
	// none for servers that know neither.
	ResponseFormat string
	Prices         Prices
	// Transport makes the requests; nil is http.DefaultTransport.
	Transport http.RoundTripper
}

// EmbedderConfig chooses an [Embedder].
type EmbedderConfig struct {
	// Provider is hash (the default), gemini or openai.
	Provider string
	Model    string
	APIKey   string
	// KeyVariable is named in errors about the key: GEMINI_API_KEY or OPENAI_API_KEY by default.
	KeyVariable string
	BaseURL     string
	// Dimensions of the vectors. 0 is the provider's default, which must be given for an openai
	// model other than the default one.
	Dimensions int
	// BatchSize is how many texts go into one request: 0 is 100 for gemini and 256 for openai.
	BatchSize int
	// Transport makes the requests; nil is http.DefaultTransport.
	Transport http.RoundTripper
}

// NewModel returns the model the configuration chooses. It makes no request.
func NewModel(ctx context.Context, c Config) (Model, error) {
	switch cmp.Or(c.Provider, ProviderRules) {
	case ProviderRules:
		return NewRules(), nil
	case ProviderGemini:
		c.Model = cmp.Or(c.Model, DefaultGeminiModel)
		c.KeyVariable = cmp.Or(c.KeyVariable, DefaultGeminiVariable)
		return newGemini(ctx, c)
	case ProviderOpenAI:
		c.Model = cmp.Or(c.Model, DefaultOpenAIModel)
		c.KeyVariable = cmp.Or(c.KeyVariable, DefaultOpenAIVariable)
		c.ResponseFormat = cmp.Or(c.ResponseFormat, FormatSchema)
		return newOpenAI(c)
	default:
		return nil, configError("provider", "%q is not one of rules, gemini, openai", c.Provider)
	}
}

// NewEmbedder returns the embedder the configuration chooses. It makes no request.
func NewEmbedder(ctx context.Context, c EmbedderConfig) (Embedder, error) {
	if c.Dimensions < 0 || c.Dimensions > maxDimensions {
		return nil, configError("dimensions", "%d is not within 1 and %d", c.Dimensions, maxDimensions)
	}
	if c.BatchSize < 0 {
		return nil, configError("batch size", "%d is negative", c.BatchSize)
	}
	switch cmp.Or(c.Provider, ProviderHash) {
	case ProviderHash:
		if c.Dimensions != 0 && c.Dimensions != HashDimensions {
			return nil, configError("dimensions", "hash has %d dimensions, not %d", HashDimensions, c.Dimensions)
		}
		return Hash{}, nil
	case ProviderGemini:
		c.Model = cmp.Or(c.Model, DefaultGeminiEmbedder)
		c.KeyVariable = cmp.Or(c.KeyVariable, DefaultGeminiVariable)
		c.Dimensions = cmp.Or(c.Dimensions, DefaultGeminiDimensions)
		c.BatchSize = min(cmp.Or(c.BatchSize, maxGeminiBatch), maxGeminiBatch)
		return newGeminiEmbedder(ctx, c)
	case ProviderOpenAI:
		c.Model = cmp.Or(c.Model, DefaultOpenAIEmbedder)
		c.KeyVariable = cmp.Or(c.KeyVariable, DefaultOpenAIVariable)
		c.BatchSize = min(cmp.Or(c.BatchSize, defaultOpenAIBatch), maxOpenAIBatch)
		if c.Dimensions == 0 && c.Model == DefaultOpenAIEmbedder {
			c.Dimensions = DefaultOpenAIDimensions
		}
		if c.Dimensions == 0 {
			return nil, configError("dimensions", "must be given for model %q", c.Model)
		}
		return newOpenAIEmbedder(c)
	default:
		return nil, configError("provider", "%q is not one of hash, gemini, openai", c.Provider)
	}
}

func configError(field, format string, args ...any) error {
	return fmt.Errorf("%w: %s: %s", ErrConfig, field, fmt.Sprintf(format, args...))
}

// endpoint is the part of both configurations that a transport needs.
type endpoint struct {
	provider, key, variable, url string
	transport                    http.RoundTripper
}

func (c Config) endpoint() endpoint {
	return endpoint{c.Provider, c.APIKey, c.KeyVariable, c.BaseURL, c.Transport}
}

func (c EmbedderConfig) endpoint() endpoint {
	return endpoint{c.Provider, c.APIKey, c.KeyVariable, c.BaseURL, c.Transport}
}

// requireKey fails with KindAuth: a missing key is as permanent as a refused one.
func (e endpoint) requireKey() error {
	if e.key == "" {
		return &Error{Provider: e.provider, Kind: KindAuth, Message: e.variable + " is not set"}
	}
	if strings.ContainsAny(e.key, " \t\r\n") {
		return &Error{Provider: e.provider, Kind: KindAuth, Message: e.variable + " contains white space"}
	}
	return nil
}

func (e endpoint) baseURL() (*url.URL, error) {
	if e.url == "" {
		return nil, nil
	}
	u, err := url.Parse(e.url)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return nil, configError("base URL", "%q is not an http or https URL", e.url)
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, configError("base URL", "%q has more than a scheme, a host and a path", u.Redacted())
	}
	return u, nil
}
