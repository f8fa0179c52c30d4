package llm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"axiommind/activities/llm/gemini"
)

// maxDimensions is the limit on the dimensions of every embedder.
const maxDimensions = 16384

// ErrConfig is wrapped by every error about an invalid configuration.
var ErrConfig = errors.New("invalid model configuration")

// Config selects and configures a [Model].
type Config struct {
	// Provider is one of [ModelProviders]. Default: the first one.
	Provider string
	// Model is the model's name at the provider. Default: the provider's.
	Model string
	// APIKey is required if the provider has a [KeyVariable], except for openai with a BaseURL.
	APIKey string
	// KeyVariable is the environment variable named in errors about the key. Default: the provider's.
	KeyVariable string
	// BaseURL is the address of another server. For openai it ends in the API version, such as
	// http://127.0.0.1:11434/v1.
	BaseURL string
	// ResponseFormat says how openai is asked for JSON: json_schema (the default), json_object, or none for servers
	// that support neither.
	ResponseFormat string
	// Patience is how long the provider may send nothing before a call is given up. Default: [DefaultPatience].
	Patience time.Duration
	Prices   Prices
	// Gemini makes the client for the models of gemini, which need it. It is no setting: a program that calls models
	// links the client.
	Gemini gemini.NewClient `json:"-"`
}

// EmbedderConfig selects and configures an [Embedder].
type EmbedderConfig struct {
	// Provider is one of [EmbedderProviders]. Default: the first one.
	Provider string
	// Model, APIKey, KeyVariable and BaseURL are as in [Config].
	Model       string
	APIKey      string
	KeyVariable string
	BaseURL     string
	// Dimensions is the length of the vectors. Default: the provider's. It is required for an openai model other than
	// the default one.
	Dimensions int
	// Dir is the directory in which the library of the local embedder is unpacked (default: that of the local stack), or one with
	// a model for it to use: model.onnx and tokenizer.json.
	Dir string
	// BatchSize is the number of texts in one request. Default: the provider's.
	BatchSize int
}

// NewModel returns the configured model. It makes no request.
func NewModel(ctx context.Context, c Config) (Model, error) {
	p, err := find(Provider.model, c.Provider)
	if err != nil {
		return nil, err
	}
	if c.Patience < 0 {
		return nil, configError("patience", "%s is negative", c.Patience)
	}
	c.Provider, c.Model = p.Name, cmp.Or(c.Model, p.Model.Default)
	c.KeyVariable = cmp.Or(c.KeyVariable, p.KeyVariable)
	return p.Model.New(ctx, c)
}

// NewEmbedder returns the configured embedder. It makes no request.
func NewEmbedder(ctx context.Context, c EmbedderConfig) (Embedder, error) {
	if c.Dimensions < 0 || c.Dimensions > maxDimensions {
		return nil, configError("dimensions", "%d is not within 1 and %d", c.Dimensions, maxDimensions)
	}
	if c.BatchSize < 0 {
		return nil, configError("batch size", "%d is negative", c.BatchSize)
	}
	p, err := find(Provider.embedder, c.Provider)
	if err != nil {
		return nil, err
	}
	c.Provider, c.Model = p.Name, cmp.Or(c.Model, p.Embedder.Default)
	c.KeyVariable = cmp.Or(c.KeyVariable, p.KeyVariable)
	c.BatchSize = min(cmp.Or(c.BatchSize, p.Embedder.Batch), p.Embedder.MaxBatch)
	return p.Embedder.New(ctx, c)
}

func configError(field, format string, args ...any) error {
	return fmt.Errorf("%w: %s: %s", ErrConfig, field, fmt.Sprintf(format, args...))
}

// endpoint is the part of both configurations that a transport needs.
type endpoint struct {
	provider, key, variable, url string
	patience                     time.Duration
	// remedy is the advice about a provider that sends nothing.
	remedy string
}

// DefaultPatience is how long a provider may send nothing.
const DefaultPatience = 4 * time.Minute

func (c Config) endpoint() endpoint {
	return endpoint{c.Provider, c.APIKey, c.KeyVariable, c.BaseURL, cmp.Or(c.Patience, DefaultPatience),
		": let it answer at its own pace with a longer --model-patience of the worker, or less at once with a smaller --window-bytes"}
}

func (c EmbedderConfig) endpoint() endpoint {
	return endpoint{c.Provider, c.APIKey, c.KeyVariable, c.BaseURL, DefaultPatience, ""}
}

// requireKey fails with KindAuth, because a missing key is as permanent an error as a rejected one.
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
