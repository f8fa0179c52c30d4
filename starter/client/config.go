package client

import (
	"cmp"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/spf13/pflag"

	"axiommind/activities/llm"
	"axiommind/schema"
	"axiommind/worker/service"
	"axiommind/worker/statedir"
)

// Config says where the servers are, and how they are asked. A zero value means the default. [LoadConfig] fills it as the
// command line does.
type Config struct {
	// TemporalAddress is a host:port. Default: 127.0.0.1:7233.
	TemporalAddress string
	// TemporalNamespace is by default "default".
	TemporalNamespace string
	// TemporalAPIKey implies TLS.
	TemporalAPIKey string
	TemporalTLS    bool
	// TemporalTLSCert and TemporalTLSKey are PEM files of a certificate that Temporal wants to see, and its key.
	TemporalTLSCert, TemporalTLSKey string
	// TemporalTLSServerName is the name in Temporal's certificate. Default: the host of its address.
	TemporalTLSServerName string
	// PayloadKeyFile holds the keys that encrypt what Temporal stores. Workers have the same ones. Default: it is not
	// encrypted.
	PayloadKeyFile string
	// TLSCA is a PEM file of authorities that the servers' certificates may come from, besides those of the system.
	TLSCA string
	// ClickHouseDSN is ClickHouse's HTTP address and database. Default: http://127.0.0.1:8123/default.
	ClickHouseDSN string
	// WeaviateURL is by default http://127.0.0.1:8080.
	WeaviateURL    string
	WeaviateAPIKey string
	// Embedder makes the vectors of queries, where it is the one in use. Another one that is in use is found by its version if
	// it needs no key, or is of the same provider.
	Embedder Embedder
	// NoUsage keeps the log from being told which memories Search and Context return.
	NoUsage bool
	// NoQueue switches memory off: Enqueue returns [ErrDisabled].
	NoQueue bool
	// ConnectTimeout is how long to wait for a server to come up, within each call's own context. Default: a minute.
	ConnectTimeout time.Duration
	// Actor is who asks, for the log. Default: client.
	Actor string
	// Logger is told of servers that are waited for. Default: none.
	Logger *slog.Logger
	// SourceKey is the file of the key that grants the user's workers on this machine access to files. Default: none, and the
	// workers' roots decide.
	SourceKey string
	// Spool keeps conversations while Temporal is away. Default: none, and Enqueue returns [ErrUnavailable] then.
	Spool Spool
}

// Embedder selects what makes vectors of texts.
type Embedder struct {
	// Provider is hash (offline, by words), local (offline, by meaning), gemini or openai. Default: hash.
	Provider string
	// Model and Dimensions are by default the provider's.
	Model      string
	Dimensions int
	// BaseURL is that of an OpenAI-compatible server.
	BaseURL string
	APIKey  string
	// Dir is the directory of the library of the local embedder. Default: where the local stack puts it.
	Dir string
}

// Spool keeps what could not be enqueued, until something delivers it.
type Spool interface {
	Put(schema.QueuedContext) error
}

// LoadConfig returns the configuration of the command line: from the AXIOMMIND_… variables, from the file that
// AXIOMMIND_CONFIG names, and from a local stack that is up. The error is an [ErrInvalid].
func LoadConfig() (Config, error) {
	var s service.Config
	f := pflag.NewFlagSet("client", pflag.ContinueOnError)
	s.Flags(f)
	if err := s.Load(f, os.Getenv, service.LocalConfigFile()); err != nil {
		return Config{}, invalid(err)
	}
	return ConfigOf(s), nil
}

// ConfigOf returns the part of a program's settings that a client has.
func ConfigOf(s service.Config) Config {
	e := s.Embedder
	return Config{
		TemporalAddress: s.TemporalAddress, TemporalNamespace: s.TemporalNamespace, TemporalAPIKey: s.TemporalAPIKey, TemporalTLS: s.TemporalTLS,
		TemporalTLSCert: s.TemporalTLSCert, TemporalTLSKey: s.TemporalTLSKey, TemporalTLSServerName: s.TemporalTLSServerName,
		PayloadKeyFile: s.PayloadKeyFile, TLSCA: s.TLSCA,
		ClickHouseDSN: s.ClickHouseDSN, WeaviateURL: s.WeaviateURL, WeaviateAPIKey: s.WeaviateAPIKey,
		Embedder: Embedder{Provider: e.Provider, Model: e.Model, Dimensions: e.Dimensions, BaseURL: e.BaseURL, APIKey: e.APIKey, Dir: e.Dir},
		NoUsage:  s.NoUsage, NoQueue: s.NoQueue, ConnectTimeout: s.ConnectTimeout,
		SourceKey: s.State.Path(statedir.SourceKey),
	}
}

// service returns the settings with the defaults filled in.
func (c Config) service() (service.Config, error) {
	if c.ConnectTimeout < 0 {
		return service.Config{}, fmt.Errorf("connect timeout %v: want 0 or more", c.ConnectTimeout)
	}
	e := c.Embedder
	return service.Config{
		TemporalAddress:   cmp.Or(c.TemporalAddress, service.DefaultTemporalAddress),
		TemporalNamespace: cmp.Or(c.TemporalNamespace, service.DefaultTemporalNamespace),
		TemporalAPIKey:    c.TemporalAPIKey, TemporalTLS: c.TemporalTLS,
		TemporalTLSCert: c.TemporalTLSCert, TemporalTLSKey: c.TemporalTLSKey, TemporalTLSServerName: c.TemporalTLSServerName,
		PayloadKeyFile: c.PayloadKeyFile, TLSCA: c.TLSCA,
		ClickHouseDSN: cmp.Or(c.ClickHouseDSN, service.DefaultClickHouseDSN),
		WeaviateURL:   cmp.Or(c.WeaviateURL, service.DefaultWeaviateURL), WeaviateAPIKey: c.WeaviateAPIKey,
		Embedder: llm.EmbedderConfig{
			Provider: cmp.Or(e.Provider, llm.EmbedderProviders()[0]), Model: e.Model, Dimensions: e.Dimensions, BaseURL: e.BaseURL, APIKey: e.APIKey, Dir: e.Dir,
		},
		NoUsage: c.NoUsage, NoQueue: c.NoQueue,
		ConnectTimeout: cmp.Or(c.ConnectTimeout, service.DefaultConnectTimeout),
	}, nil
}
