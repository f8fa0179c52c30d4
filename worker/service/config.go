// Package service has the configuration of all programs, and their connections to Temporal, ClickHouse and Weaviate.
// Package runner has the Temporal workers that use them.
package service

import (
	"errors"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"axiommind/activities/clickhouse"
	"axiommind/activities/fact"
	"axiommind/activities/llm"
	"axiommind/activities/task"
	"axiommind/activities/tier"
	"axiommind/activities/vector"
	"axiommind/schema"
	"axiommind/worker/settings"
	"axiommind/worker/statedir"
	"axiommind/worker/tracing"
)

// Config holds all settings. Each one can be given as a flag, as an environment variable, or in a YAML file under the
// flag's name, in this order of precedence. The variable is AXIOMMIND_ and the flag's name in upper case with
// underscores. [Config.Settings] lists and documents them; the fields say more only where a caller needs it.
type Config struct {
	File string
	settings.Servers
	// TemporalUI is a base URL.
	TemporalUI string
	RawKeyFile string
	KeepRaw    bool
	// EraserDSN is empty for a worker that serves no erasures.
	EraserDSN        string
	UnsignedErasures bool

	// Model and Embedder select the providers. Their API keys come from the environment only.
	Model    llm.Config
	Embedder llm.EmbedderConfig
	// EmbedderByDefault is true if no setting names the embedder. A worker then uses the one in use, and Embedder's provider where
	// none is.
	EmbedderByDefault bool
	WindowBytes       int
	MaxOutputTokens   int
	// ModelReads is [ReadPassages] or [ReadAll].
	ModelReads string
	// SourceRoots are the directories and files that workflow inputs may name. Files that a person names to the starter on the
	// same machine may be read too.
	SourceRoots      []string
	ModelConcurrency int
	// ModelRate is in calls a second. Where workers give different rates, that of the worker that asked for work last counts.
	ModelRate   float64
	DoneReports task.DoneReports
	// Facts says which facts are remembered. Its Embedder is that of the service.
	Facts     fact.Options
	Idris     string
	IdrisOnly bool
	// TaskQueues are some of [schema.TaskQueues]. An empty list stands for all that the worker can serve.
	TaskQueues []string
	// MemoryRoot is a path or a URL: see tier.OpenRoot.
	MemoryRoot string
	// TimeZone is an IANA name.
	TimeZone string
	// SummaryWebhook has a secret from the environment.
	SummaryWebhook tier.Webhook
	StopTimeout    time.Duration
	MetricsAddress string
	// BuildID names the version of the worker's code. Then Temporal gives the worker only the work of that version of
	// Deployment, which counts only with a BuildID.
	BuildID, Deployment string
	MemoryMiB           int
	// QueueRates and WorkerRates are most activities a second by task queue, as in axiommind-vector=20: of all workers together,
	// and of this one.
	QueueRates, WorkerRates []string
	// WeaviateIdle is 0 if all tenants stay active. WeaviateIdleState is that of the others.
	WeaviateIdle      time.Duration
	WeaviateIdleState vector.IdleState
	// MaxPollers is 0 for the SDK's fixed number of pollers.
	MaxPollers int
	LogLevel   string

	// Appended is told of the events that this program appends to the log: see [eventlog.Options].
	Appended func([]schema.Event) `json:"-"`
	// Timing holds the durations that background work waits for. Tests set it, no flag does.
	Timing schema.Timing
	// [Config.Load] sets the fields below.

	// SecretFiles hold keys and passwords: those that the settings name, and the file of settings.
	SecretFiles []string
	// State is the directory in which the programs of this user keep state. Default: none.
	State statedir.Dir
	// sources has the source of each setting and key that has one, by its name or variable.
	sources map[string]string
	// flags are those that [Config.Load] filled, and getenv is where it found the variables.
	flags  *pflag.FlagSet
	getenv func(string) string
}

// Telemetry describes the program to a collector of OpenTelemetry, which its variables name. failed is told of data that can't be sent.
func (c *Config) Telemetry(name string, failed func(error)) tracing.Program {
	getenv := c.getenv
	if getenv == nil {
		getenv = func(string) string { return "" }
	}
	return tracing.Program{Name: name, Version: Version(), Getenv: getenv, Failed: failed}
}

// Defaults of [Config].
const (
	// DefaultModelConcurrency is the size of the pool for model calls in seed 002.
	DefaultModelConcurrency = 4
	// MaxModelRate is the default limit of Temporal itself for a task queue.
	MaxModelRate       = 100_000
	DefaultStopTimeout = 25 * time.Second
	DefaultMemoryMiB   = 192
	DefaultDeployment  = "axiommind"
	// DefaultMemoryRoot is for people.
	DefaultMemoryRoot = "~/.axiommind/memory"
)

// ClickHouseAddress returns the DSN without user, password and settings, for people and logs.
func (c *Config) ClickHouseAddress() string { return clickhouse.Address(c.ClickHouseDSN) }

// Flags adds the flags of the settings that every program has.
func (c *Config) Flags(f *pflag.FlagSet) {
	c.add(f, func(r settings.Readers) bool { return r != settings.Worker })
}

// WorkerFlags adds the flags of the settings that only a worker has.
func (c *Config) WorkerFlags(f *pflag.FlagSet) {
	c.add(f, func(r settings.Readers) bool { return r == settings.Worker })
}

func (c *Config) add(f *pflag.FlagSet, has func(settings.Readers) bool) {
	settings.Add(f, slices.DeleteFunc(c.Settings(), func(s settings.Setting) bool { return !has(s.Readers) }))
}

// LimitMemory sets the memory limit of the process to MemoryMiB, unless GOMEMLIMIT gave it a lower one.
func (c *Config) LimitMemory() {
	if limit := int64(c.MemoryMiB) << 20; limit > 0 && limit < debug.SetMemoryLimit(-1) {
		debug.SetMemoryLimit(limit)
	}
}

// Load fills settings without a flag from the environment and the file, and the API keys from the environment. The
// flags must have been parsed. If no file is named, the fallback file is read if it exists. Only that file may
// contain a key, [LocalWeaviateKey].
func (c *Config) Load(f *pflag.FlagSet, getenv func(string) string, fallback string) error {
	c.State, c.flags, c.getenv = statedir.Of(getenv), f, getenv
	file, err := settings.Open(c.File, getenv, fallback)
	if err != nil {
		return err
	}
	localKey := ""
	if file.Local {
		localKey = strings.Join(file.Values[LocalWeaviateKey], "")
		delete(file.Values, LocalWeaviateKey)
	}
	c.sources, err = file.Fill(f, getenv)
	errs := []error{err}
	c.EmbedderByDefault = c.sources["embedder"] == ""
	var known []string
	for _, s := range c.Settings() {
		known = append(known, s.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(file.Values)) {
		if !slices.Contains(known, name) {
			errs = append(errs, fmt.Errorf("%s: there is no setting %q%s", file.Source(), name, DidYouMean(Nearest(name, known))))
		}
	}
	secret := func(variable string) string {
		value, source, err := settings.Secret(getenv, variable)
		c.SecretFiles = append(c.SecretFiles, getenv(variable+"_FILE"))
		if errs = append(errs, err); value != "" {
			c.sources[variable] = source
		}
		return value
	}
	c.TemporalAPIKey = secret(settings.TemporalAPIKey)
	c.SummaryWebhook.Secret = secret(summarySecret)
	c.WeaviateAPIKey = secret(settings.WeaviateAPIKey)
	if localKey != "" && c.sources["weaviate-url"] == file.Source() {
		// The key belongs to this address: it is sent to no other server, and this server accepts no other key.
		c.WeaviateAPIKey, c.sources[settings.WeaviateAPIKey] = localKey, file.Source()
	}
	c.Model.APIKey = keyOf(c.Model.Provider, secret)
	c.Embedder.APIKey = keyOf(c.Embedder.Provider, secret)
	c.SecretFiles = append(c.SecretFiles, file.Path, fallback, c.RawKeyFile, c.PayloadKeyFile, c.TemporalTLSKey)
	return errors.Join(errs...)
}

func keyOf(provider string, secret func(variable string) string) string {
	if variable := llm.KeyVariable(provider); variable != "" {
		return secret(variable)
	}
	return ""
}

// summarySecret is the variable with the secret of the summary webhook.
const summarySecret = settings.Prefix + "SUMMARY_SECRET"

// LocalWeaviateKey is the setting with the API key of the local stack's Weaviate. It is allowed only in the local
// stack's file, and is used only with the address in the same file.
const LocalWeaviateKey = "weaviate-api-key"

// LocalConfigFile returns the file in which the local stack records the addresses of its servers and their tokens, so
// that programs of the same user find them.
func LocalConfigFile() string { return settings.LocalFile() }
