package client

import (
	"cmp"
	"fmt"
	"log/slog"
	"os"

	"github.com/spf13/pflag"

	"axiommind/activities/llm"
	"axiommind/schema"
	"axiommind/worker/service"
	"axiommind/worker/settings"
	"axiommind/worker/statedir"
)

// Config says where the servers are, and how they are asked. A zero value means the default. [LoadConfig] fills it as the
// command line does.
type Config struct {
	// Servers has the addresses and keys of the servers. With NoQueue, Enqueue returns [ErrDisabled]; with NoUsage, the log is not
	// told which memories Search and Context return. ConnectTimeout counts within each call's own context.
	Servers
	// Embedder makes the vectors of queries, where it is the one in use. Another one that is in use is found by its version if
	// it needs no key, or is of the same provider.
	Embedder Embedder
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

// Servers says where the servers are. The topic configuration of the starter documents the settings of the same names.
type Servers = settings.Servers

// Embedder selects the model that embeds texts. Its provider is hash (offline, by words; the default), local (offline, by
// meaning), gemini or openai.
type Embedder = llm.EmbedderConfig

// Spool keeps sessions that could not be enqueued, until a later delivery.
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
	return Config{Servers: s.Servers, Embedder: s.Embedder, SourceKey: s.State.Path(statedir.SourceKey)}
}

// service returns the settings with the defaults filled in.
func (c Config) service() (service.Config, error) {
	if c.ConnectTimeout < 0 {
		return service.Config{}, fmt.Errorf("connect timeout %v: want 0 or more", c.ConnectTimeout)
	}
	s := service.Config{Servers: c.WithDefaults(), Embedder: c.Embedder}
	s.Embedder.Provider = cmp.Or(s.Embedder.Provider, llm.EmbedderProviders()[0])
	return s, nil
}
