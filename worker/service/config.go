// Package service has the configuration of all programs, and their connections to Temporal, ClickHouse and Weaviate.
// Package runner has the Temporal workers that use them.
package service

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"axiommind/activities/eventlog"
	"axiommind/activities/fact"
	"axiommind/activities/llm"
	"axiommind/activities/task"
	"axiommind/activities/tier"
	"axiommind/schema"
	"axiommind/worker/settings"
	"axiommind/worker/statedir"
)

// Config holds all settings. Each one can be given as a flag, as an environment variable, or in a YAML file under the
// flag's name, in this order of precedence. The variable is AXIOMMIND_ and the flag's name in upper case with
// underscores.
type Config struct {
	// File is the YAML file to read. Default: none.
	File string

	TemporalAddress   string
	TemporalNamespace string
	TemporalAPIKey    string
	TemporalTLS       bool
	// TemporalTLSCert and TemporalTLSKey are PEM files of a certificate that Temporal wants to see, and its key.
	TemporalTLSCert, TemporalTLSKey string
	// TemporalTLSServerName is the name in Temporal's certificate. Default: the host of its address.
	TemporalTLSServerName string
	// PayloadKeyFile holds the keys that encrypt what Temporal stores. Default: it is not encrypted.
	PayloadKeyFile string
	// RawKeyFile holds the keys that encrypt what redaction takes out of messages, with KeepRaw. The starter reads it to show
	// them. Default: none.
	RawKeyFile string
	// KeepRaw has the worker keep what redaction takes out of messages, encrypted. Default: it is gone.
	KeepRaw bool
	// TLSCA is a PEM file of authorities that the certificates of Temporal, ClickHouse and Weaviate may come from, besides
	// those of the system.
	TLSCA string
	// TemporalUI is the base URL of Temporal's web interface, to which the starter links.
	TemporalUI    string
	ClickHouseDSN string
	// EraserDSN is the address with which forget erases: of a user who has the rights for that. The worker then serves it. Default:
	// none, and another worker has to.
	EraserDSN string
	// UnsignedErasures accepts erasures that no holder of the key in the state directory has signed. Default: false.
	UnsignedErasures bool
	WeaviateURL      string
	WeaviateAPIKey   string

	// Model and Embedder select the providers. Their API keys come from the environment only.
	Model    llm.Config
	Embedder llm.EmbedderConfig
	// EmbedderByDefault is true if no setting names the embedder. A worker then uses the one in use, and Embedder's provider where
	// none is.
	EmbedderByDefault bool
	// NoUsage keeps the log from being told which memories a search or a context has returned.
	NoUsage bool
	// NoQueue switches memory off: nothing is enqueued, and a worker processes no queue.
	NoQueue bool
	// WindowBytes is the size of the text that one model call extracts from, summarizes or consolidates. A dream of a
	// day, or of a memory, that is larger than 256 windows takes larger ones, which the model's input must take.
	WindowBytes     int
	MaxOutputTokens int
	// ModelReads is how much of a session a model reads: [ReadPassages] or [ReadAll].
	ModelReads string
	// SourceRoots are the directories and files that workflow inputs may name. Default: the directories in the home
	// where agents keep their sessions, and the current directory. Files that a person names to the starter on the
	// same machine may be read too.
	SourceRoots []string
	// ModelConcurrency is the maximum number of concurrent model calls of one worker.
	ModelConcurrency int
	// ModelRate is the maximum number of model calls a second, of all workers together. 0 means no limit. Where workers
	// give different rates, that of the worker that asked for work last counts.
	ModelRate float64
	// DoneReports says what happens to a report of done that may not close its task at once. It is either kept for a
	// person to confirm, or closes the task if its evidence is proven.
	DoneReports task.DoneReports
	// Facts says which facts are remembered. Its Embedder is that of the service.
	Facts fact.Options
	// Idris is the path of the Idris 2 compiler. Default: idris2 on the PATH, or none.
	Idris string
	// IdrisOnly makes the compiler the only verifier: without it no entry becomes verified.
	IdrisOnly bool
	// MemoryRoot is the URL of the place of the memory's files: see tier.OpenRoot. Default: a directory in the home.
	MemoryRoot string
	// TimeZone is the IANA name of the zone of the days of daily records. Default: that of the machine.
	TimeZone string
	// SummaryWebhook is called with each summary that a daily record gains. Its secret comes from the environment only.
	SummaryWebhook tier.Webhook
	// ConnectTimeout is how long to wait for a server to start.
	ConnectTimeout time.Duration
	// StopTimeout is how long running activities may continue after the worker is told to stop.
	StopTimeout time.Duration
	// MetricsAddress is the host:port at which the worker serves the health of memory to Prometheus. Default: none.
	MetricsAddress string
	// BuildID names the version of the worker's code. Then Temporal gives the worker only the work of that version of
	// Deployment. Default: none, and the worker takes all work.
	BuildID string
	// Deployment is the name that all versions of the worker share. It counts only with a BuildID.
	Deployment string
	// MemoryMiB is how much memory the worker may have before it collects garbage more often. It is no hard bound: what
	// is in use stays. 0 means that only the size of what is in use counts.
	MemoryMiB int
	LogLevel  string
	// Timing holds the durations that background work waits for. Tests set it, no flag does.
	Timing schema.Timing
	// SecretFiles are those that hold keys and passwords: those that the settings name, and the file of settings. No flag
	// sets it, [Config.Load] does.
	SecretFiles []string
	// State is the directory in which the programs of this user keep state. No flag sets it, [Config.Load] does. Default: none.
	State statedir.Dir
}

// Defaults of [Config].
const (
	DefaultTemporalAddress   = settings.DefaultTemporalAddress
	DefaultTemporalNamespace = settings.DefaultTemporalNamespace
	DefaultClickHouseDSN     = settings.DefaultClickHouseDSN
	DefaultWeaviateURL       = "http://127.0.0.1:8080"
	// DefaultModelConcurrency is the size of the pool for model calls in seed 002.
	DefaultModelConcurrency = 4
	// MaxModelRate is the default limit of Temporal itself for a task queue.
	MaxModelRate          = 100_000
	DefaultConnectTimeout = time.Minute
	DefaultStopTimeout    = 25 * time.Second
	DefaultMemoryMiB      = 192
	DefaultDeployment     = "axiommind"
	// DefaultMemoryRoot is for people.
	DefaultMemoryRoot = "~/.axiommind/memory"
)

// ClickHouseAddress returns the DSN without user, password and settings, for people and logs.
func (c *Config) ClickHouseAddress() string { return eventlog.Address(c.ClickHouseDSN) }

// temporal returns how to reach Temporal.
func (c *Config) temporal() settings.Temporal {
	return settings.Temporal{
		Address: c.TemporalAddress, Namespace: c.TemporalNamespace, APIKey: c.TemporalAPIKey, TLS: c.TemporalTLS,
		CA: c.TLSCA, Cert: c.TemporalTLSCert, Key: c.TemporalTLSKey, ServerName: c.TemporalTLSServerName,
		PayloadKeyFile: c.PayloadKeyFile,
	}
}

const (
	variablePrefix = settings.Prefix
	sourceRoot     = "source-root"
)

// Flags adds the flags for the connections and the embedder, which every program needs.
func (c *Config) Flags(f *pflag.FlagSet) {
	f.StringVar(&c.File, "config", "", "YAML file with any of these settings")
	f.StringVar(&c.TemporalAddress, "temporal-address", DefaultTemporalAddress, "Temporal's host:port")
	f.StringVar(&c.TemporalNamespace, "temporal-namespace", DefaultTemporalNamespace, "Temporal's namespace")
	f.BoolVar(&c.TemporalTLS, "temporal-tls", false, "speak TLS to Temporal (implied by an API key and by --temporal-tls-…)")
	f.StringVar(&c.TemporalTLSCert, "temporal-tls-cert", "", "PEM file of the certificate to show to Temporal (default: none)")
	f.StringVar(&c.TemporalTLSKey, "temporal-tls-key", "", "PEM file of the key of that certificate")
	f.StringVar(&c.TemporalTLSServerName, "temporal-tls-server-name", "", "name in Temporal's certificate (default: the host of its address)")
	f.StringVar(&c.PayloadKeyFile, "payload-key-file", "", "file of the keys that encrypt what Temporal stores (default: it is not encrypted)")
	f.StringVar(&c.RawKeyFile, "raw-key-file", "", "file of the keys of what a worker with --keep-raw keeps (default: none)")
	f.StringVar(&c.TLSCA, "tls-ca", "", "PEM file of authorities that servers' certificates may come from, besides the system's")
	f.StringVar(&c.TemporalUI, "temporal-ui", "", "URL of Temporal's web interface, to link to (default: none)")
	f.StringVar(&c.ClickHouseDSN, "clickhouse-dsn", DefaultClickHouseDSN, "ClickHouse's HTTP address and database")
	f.StringVar(&c.WeaviateURL, "weaviate-url", DefaultWeaviateURL, "Weaviate's address")
	f.StringVar(&c.Embedder.Provider, "embedder", llm.EmbedderProviders()[0], "embedder: "+llm.EmbedderChoices())
	f.StringVar(&c.Embedder.Model, "embedder-model", "", "the embedder's model (default: the provider's)")
	f.StringVar(&c.Embedder.BaseURL, "embedder-url", "", "base URL of an OpenAI-compatible embedder")
	f.StringVar(&c.Embedder.Dir, "embedder-dir", "", "directory of the local embedder's library (default: where the local stack puts it),\nor of a model of one's own: model.onnx and tokenizer.json")
	f.IntVar(&c.Embedder.Dimensions, "embedder-dimensions", 0, "dimensions of the vectors (default: the model's)")
	f.BoolVar(&c.NoUsage, "no-usage", false, "do not note which memories are returned (health then counts them as never retrieved)")
	f.BoolVar(&c.NoQueue, "no-queue", false, "switch memory off: enqueue, hooks, watch and queue flush do nothing, and say so; a worker keeps\nwhat waits in queues and processes none of it")
	f.DurationVar(&c.ConnectTimeout, "connect-timeout", DefaultConnectTimeout, "how long a server may take to come up")
	f.StringVar(&c.LogLevel, "log-level", "info", "debug, info, warn or error")
}

func (c *Config) setModelRate(text string) error {
	rate, err := strconv.ParseFloat(text, 64)
	if err != nil || !(rate >= 0 && rate <= MaxModelRate) {
		return fmt.Errorf("want a number from 0, which is no limit, to %d", MaxModelRate)
	}
	c.ModelRate = rate
	return nil
}

// WorkerFlags adds the flags that only a worker needs.
func (c *Config) WorkerFlags(f *pflag.FlagSet) {
	c.DoneReports = task.KeepReports
	f.StringVar(&c.Model.Provider, "model-provider", llm.ModelProviders()[0], "extractor: "+llm.ModelChoices())
	f.StringVar(&c.Model.Model, "model", "", "the extractor's model (default: the provider's)")
	f.StringVar(&c.Model.BaseURL, "model-url", "", "base URL of an OpenAI-compatible server (Ollama, vLLM, …)")
	f.StringVar(&c.Model.ResponseFormat, "model-format", "", "how an OpenAI-compatible server is asked for JSON: json_schema, json_object or none")
	f.DurationVar(&c.Model.Patience, "model-patience", llm.DefaultPatience, "how long a model may send nothing before it is asked again")
	f.Float64Var(&c.Model.Prices.InputPerMillion, "model-input-price", 0, "US dollars per million input tokens, to count costs")
	f.Float64Var(&c.Model.Prices.OutputPerMillion, "model-output-price", 0, "US dollars per million output tokens")
	f.IntVar(&c.WindowBytes, "window-bytes", llm.DefaultWindowBytes, "bytes of text that one model call reads; a dream reads more if a day or the memory has more than 256 times as much, and the model's input must take that")
	f.IntVar(&c.MaxOutputTokens, "max-output-tokens", 0, "bound of one answer (default: the model's, and 8192 for servers other than OpenAI's)")
	c.ModelReads = ReadPassages
	f.Func("model-reads", "how much of a session the model reads: "+ReadPassages+" that are worth it, or "+ReadAll+" (default "+ReadPassages+")", c.setModelReads)
	f.StringArrayVar(&c.SourceRoots, sourceRoot, nil, "directory or file that inputs of workflows may name; repeat for more\n"+
		"(default: where agents keep their sessions in the home, and the current directory)")
	f.BoolVar(&c.KeepRaw, "keep-raw", false, "keep what redaction takes out of messages, encrypted with the first key of --raw-key-file\n(default: it is gone)")
	f.IntVar(&c.ModelConcurrency, "model-concurrency", DefaultModelConcurrency, "model calls at a time")
	f.Func("model-rate", "most model calls a second, of all workers together (default: no limit)", c.setModelRate)
	f.Var(&c.DoneReports, "done-reports", "a report of done that rests on proof: keep it for a person to confirm, or close the task")
	c.factFlags(f)
	f.StringVar(&c.Idris, "idris", "", "path of the Idris 2 compiler, which verifies entries besides the Go verifier\n(default: idris2 on the PATH, if it is there)")
	f.BoolVar(&c.IdrisOnly, "idris-only", false, "let no entry become verified without the Idris 2 compiler")
	f.StringVar(&c.MemoryRoot, "memory-root", "", "directory or URL (file, s3, gs) of the files of the memory\n(default: "+DefaultMemoryRoot+")")
	f.BoolVar(&c.UnsignedErasures, "unsigned-erasures", false, "serve erasures that starter forget did not sign with this worker's key: whoever reaches Temporal may then erase")
	f.StringVar(&c.EraserDSN, "eraser-dsn", "", "ClickHouse's address with a user who may erase: this worker then serves starter forget (default: it does not)")
	f.StringVar(&c.TimeZone, "time-zone", "", "time zone of daily records, such as Europe/Berlin (default: the machine's)")
	f.StringVar(&c.SummaryWebhook.URL, "summary-webhook", "", "URL that gets each summary that a daily record gains, by POST")
	f.DurationVar(&c.StopTimeout, "stop-timeout", DefaultStopTimeout, "how long running activities may take to end on a stop")
	f.StringVar(&c.MetricsAddress, "metrics-address", "", "host:port that serves the counts of starter health at /metrics, for Prometheus (default: none)")
	f.Func("build-id", "version of this worker's code: work then comes once that version is the current one\n(default: none, work comes at once)", c.setBuildID)
	c.Deployment = DefaultDeployment
	f.Func("deployment", "name that all versions of the worker share, with --build-id (default \""+DefaultDeployment+"\")", c.setDeployment)
	f.IntVar(&c.MemoryMiB, "memory-mib", DefaultMemoryMiB, "MiB of memory from which on garbage is collected more often (0: never)")
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
	c.State = statedir.Of(getenv)
	if c.File == "" {
		c.File = getenv(variablePrefix + "CONFIG")
	}
	path := c.File
	if path == "" && fallback != "" {
		if _, err := os.Stat(fallback); err == nil {
			path = fallback
		}
	}
	values, err := settings.Read(path)
	if err != nil {
		return err
	}
	localKey, fromFile := "", map[string]bool{}
	if c.File == "" {
		localKey = strings.Join(values[LocalWeaviateKey], "")
		delete(values, LocalWeaviateKey)
	}
	var errs []error
	f.VisitAll(func(flag *pflag.Flag) {
		value, inFile := values[flag.Name]
		delete(values, flag.Name)
		if flag.Changed || flag.Name == "config" {
			return
		}
		variable := settings.Variable(flag.Name)
		from := "variable " + variable
		given := fromVariable(flag, getenv(variable))
		if len(given) == 0 && inFile {
			given, from = value, "file "+path
			fromFile[flag.Name] = true
		}
		if _, list := flag.Value.(pflag.SliceValue); len(given) > 1 && !list {
			errs = append(errs, fmt.Errorf("%s: %s takes one value, not %d", from, flag.Name, len(given)))
			return
		}
		for _, one := range given {
			if err := f.Set(flag.Name, one); err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", from, FlagError(err)))
			}
		}
	})
	c.EmbedderByDefault = !f.Changed("embedder")
	known := pflag.NewFlagSet("", pflag.ContinueOnError)
	(&Config{}).Flags(known)
	(&Config{}).WorkerFlags(known)
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if known.Lookup(name) == nil {
			errs = append(errs, fmt.Errorf("file %s: there is no setting %q", path, name))
		}
	}
	secret := func(variable string) string {
		c.SecretFiles = append(c.SecretFiles, getenv(variable+"_FILE"))
		value, err := settings.Secret(getenv, variable)
		if err != nil {
			errs = append(errs, err)
		}
		return value
	}
	c.TemporalAPIKey = secret(settings.TemporalAPIKey)
	c.SummaryWebhook.Secret = secret(variablePrefix + "SUMMARY_SECRET")
	c.WeaviateAPIKey = secret(settings.WeaviateAPIKey)
	if localKey != "" && fromFile["weaviate-url"] {
		// The key belongs to this address: it is sent to no other server, and this server accepts no other key.
		c.WeaviateAPIKey = localKey
	}
	c.Model.APIKey = keyOf(c.Model.Provider, secret)
	c.Embedder.APIKey = keyOf(c.Embedder.Provider, secret)
	c.SecretFiles = append(c.SecretFiles, path, fallback, c.RawKeyFile, c.PayloadKeyFile, c.TemporalTLSKey)
	return errors.Join(errs...)
}

// fromVariable returns the values in an environment variable. Several values are separated as in PATH.
func fromVariable(flag *pflag.Flag, text string) []string {
	if _, list := flag.Value.(pflag.SliceValue); list {
		return slices.DeleteFunc(filepath.SplitList(text), func(s string) bool { return s == "" })
	}
	if text == "" {
		return nil
	}
	return []string{text}
}

func keyOf(provider string, secret func(variable string) string) string {
	if variable := llm.KeyVariable(provider); variable != "" {
		return secret(variable)
	}
	return ""
}

// LocalWeaviateKey is the setting with the API key of the local stack's Weaviate. It is allowed only in the local
// stack's file, and is used only with the address in the same file.
const LocalWeaviateKey = "weaviate-api-key"

// LocalConfigFile returns the file in which the local stack records the addresses of its servers and their tokens, so
// that programs of the same user find them.
func LocalConfigFile() string { return settings.LocalFile() }
