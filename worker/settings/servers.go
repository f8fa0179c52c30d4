package settings

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/interceptor"

	"axiommind/worker/payload"
)

// Variables of the environment that hold API keys. See [Secret].
const (
	TemporalAPIKey = "TEMPORAL_API_KEY"
	WeaviateAPIKey = "WEAVIATE_API_KEY"
)

// ErrInvalid is wrapped by errors about values of settings, such as unreadable files. A retry fails too.
var ErrInvalid = errors.New("invalid setting")

// Servers holds the addresses of Temporal, ClickHouse and Weaviate, the ways to connect to them, and two switches, NoUsage
// and NoQueue. [Servers.Settings] documents the fields, except the keys of servers, which come from the variables
// [TemporalAPIKey] and [WeaviateAPIKey].
type Servers struct {
	TemporalAddress   string
	TemporalNamespace string
	// TemporalAPIKey implies TLS.
	TemporalAPIKey                  string
	TemporalTLS                     bool
	TemporalTLSCert, TemporalTLSKey string
	TemporalTLSServerName           string
	PayloadKeyFile                  string
	TLSCA                           string
	ClickHouseDSN                   string
	Cluster                         string
	WeaviateURL                     string
	WeaviateAPIKey                  string
	WeaviateReplicas                int
	UsageDays                       int
	NoUsage                         bool
	NoQueue                         bool
	ConnectTimeout                  time.Duration
	// RefusedTimeout replaces ConnectTimeout while this machine refuses the connection, if it is shorter. Default: ConnectTimeout.
	RefusedTimeout time.Duration
	// TemporalTraces adds spans to the calls of Temporal, and TemporalMetrics counts and times them. Default: none. They are no
	// settings: the program sets them.
	TemporalTraces  interceptor.ClientInterceptor `json:"-"`
	TemporalMetrics client.MetricsHandler         `json:"-"`
}

// Defaults of [Servers].
const (
	DefaultTemporalAddress   = "127.0.0.1:7233"
	DefaultTemporalNamespace = "default"
	DefaultClickHouseDSN     = "http://127.0.0.1:8123/default"
	DefaultWeaviateURL       = "http://127.0.0.1:8080"
	DefaultConnectTimeout    = time.Minute
)

// Settings lists the settings of the servers. They store their values in s.
func (s *Servers) Settings() []Setting {
	return []Setting{
		{Name: "temporal-address", Into: &s.TemporalAddress, Default: DefaultTemporalAddress, Readers: Hooks, Usage: "Temporal's host:port"},
		{Name: "temporal-namespace", Into: &s.TemporalNamespace, Default: DefaultTemporalNamespace, Readers: Hooks, Usage: "Temporal's namespace"},
		{Name: "temporal-tls", Into: &s.TemporalTLS, Readers: Hooks,
			Usage: "speak TLS to Temporal (implied by an API key in `TEMPORAL_API_KEY`, and by `--temporal-tls-…`)"},
		{Name: "temporal-tls-cert", Into: &s.TemporalTLSCert, Absent: "none", Readers: Hooks, Usage: "PEM file of the certificate to show to Temporal"},
		{Name: "temporal-tls-key", Into: &s.TemporalTLSKey, Readers: Hooks, Usage: "PEM file of the key of that certificate"},
		{Name: "temporal-tls-server-name", Into: &s.TemporalTLSServerName, Absent: "the host of its address", Readers: Hooks, Usage: "name in Temporal's certificate"},
		{Name: "payload-key-file", Into: &s.PayloadKeyFile, Absent: "none, nothing is encrypted", Readers: Hooks,
			Usage: "file of the keys that [encrypt Temporal's data](operating.md#encrypt-temporals-data)", More: "; the same for all workers, starters and hooks"},
		{Name: "tls-ca", Into: &s.TLSCA, Absent: "only the system's", Readers: Hooks, Usage: "PEM file of authorities that servers' certificates may come from, besides the system's",
			More: "; the servers are Temporal, ClickHouse and Weaviate"},
		{Name: "clickhouse-dsn", Into: &s.ClickHouseDSN, Default: DefaultClickHouseDSN, Readers: Hooks, Usage: "ClickHouse's address and database",
			More: ", with HTTP or HTTPS: `http://user:password@host:8123/database`, or with [the native protocol](operating.md#the-native-protocol); signs such as `/`, `?`, `#` and `@` in a password are written `%2F`, `%3F`, `%23`, `%40`"},
		{Name: "cluster", Into: &s.Cluster, Absent: "none, one server", Readers: Hooks, Usage: "name of the [cluster of ClickHouse](operating.md#a-cluster-of-clickhouse) that the tables are on",
			More: ", or a macro such as `{cluster}`; the same for all programs"},
		{Name: "weaviate-url", Into: &s.WeaviateURL, Default: DefaultWeaviateURL, Usage: "Weaviate's address", More: "; its key is in `WEAVIATE_API_KEY`"},
		{Name: "weaviate-replicas", Into: count(&s.WeaviateReplicas, 1, maxReplicas), Default: "1", Readers: Worker, Usage: "servers of Weaviate that have each project's vectors",
			More: "; it counts for new collections: `starter rebuild vectors` makes some"},
		{Name: "usage-days", Into: usageDays(&s.UsageDays), Default: "730", Usage: "days after which ClickHouse forgets that an entry was returned, 180 to 3650 (0: never); `worker migrate` applies a change",
			More: ". The events stay, as all events do. [Answers that read usage](graduation.md#health) know only this time"},
		{Name: "no-usage", Into: &s.NoUsage, Usage: "do not note which memories a search or a context returns; `health` then counts them as never retrieved"},
		{Name: "no-queue", Into: &s.NoQueue, Readers: Hooks,
			Usage: "switch memory off: `enqueue`, hooks, `watch` and `queue flush` do nothing, and say so; a worker keeps\nthe backlog and processes none of it"},
		{Name: "connect-timeout", Into: &s.ConnectTimeout, Default: DefaultConnectTimeout, Absent: "1m (starter: 10s)", Usage: "how long a server may take to come up",
			More: "; by default, `starter` waits only a second where this machine refuses the connection"},
	}
}

// refusedHere matches the errors of connections to addresses of this machine where nothing listens. gRPC hands on only text.
var refusedHere = regexp.MustCompile(`dial tcp (?:127\.|\[::1\])\S+: connect(?:ex)?: .*refused`)

// Patience returns how long a server may take to come up if the last attempt failed with the error.
func (s Servers) Patience(err error) time.Duration {
	if s.RefusedTimeout > 0 && refusedHere.MatchString(err.Error()) {
		return min(s.RefusedTimeout, s.ConnectTimeout)
	}
	return s.ConnectTimeout
}

// WithDefaults returns a copy in which each empty address, namespace and timeout has its default.
func (s Servers) WithDefaults() Servers {
	s.TemporalAddress = cmp.Or(s.TemporalAddress, DefaultTemporalAddress)
	s.TemporalNamespace = cmp.Or(s.TemporalNamespace, DefaultTemporalNamespace)
	s.ClickHouseDSN = cmp.Or(s.ClickHouseDSN, DefaultClickHouseDSN)
	s.WeaviateURL = cmp.Or(s.WeaviateURL, DefaultWeaviateURL)
	s.ConnectTimeout = cmp.Or(s.ConnectTimeout, DefaultConnectTimeout)
	return s
}

// TemporalOptions reads the files and returns the options of a Temporal client. The error is an [ErrInvalid].
func (s Servers) TemporalOptions() (client.Options, error) {
	options, err := s.options()
	if err != nil {
		return options, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	return options, nil
}

func (s Servers) options() (client.Options, error) {
	options := client.Options{HostPort: s.TemporalAddress, Namespace: s.TemporalNamespace, MetricsHandler: s.TemporalMetrics}
	if s.TemporalTraces != nil {
		options.Interceptors = []interceptor.ClientInterceptor{s.TemporalTraces}
	}
	ring, err := payload.Load(s.PayloadKeyFile)
	if err != nil {
		return options, err
	}
	if options.ConnectionOptions.DialOptions, err = ring.DialOptions(); err != nil {
		return options, err
	}
	if s.TemporalAPIKey != "" {
		options.Credentials = client.NewAPIKeyStaticCredentials(s.TemporalAPIKey)
	}
	if s.secure() {
		if options.ConnectionOptions.TLS, err = s.tls(); err != nil {
			return options, err
		}
	}
	return options, nil
}

func (s Servers) secure() bool {
	return s.TemporalTLS || cmp.Or(s.TemporalAPIKey, s.TemporalTLSCert, s.TemporalTLSKey, s.TemporalTLSServerName) != ""
}

func (s Servers) tls() (*tls.Config, error) {
	roots, err := readRoots(s.TLSCA)
	if err != nil {
		return nil, err
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots, ServerName: s.TemporalTLSServerName}
	switch {
	case (s.TemporalTLSCert == "") != (s.TemporalTLSKey == ""):
		return nil, errors.New("--temporal-tls-cert and --temporal-tls-key go together: give both, or neither")
	case s.TemporalTLSCert != "":
		pair, err := tls.LoadX509KeyPair(s.TemporalTLSCert, s.TemporalTLSKey)
		if err != nil {
			return nil, fmt.Errorf("read the certificate %q and its key %q for temporal: %w", s.TemporalTLSCert, s.TemporalTLSKey, err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, nil
}

// Roots returns the authorities of the system and those of a PEM file. It returns nil for an empty path, which means
// those of the system. The error is an [ErrInvalid].
func Roots(file string) (*x509.CertPool, error) {
	pool, err := readRoots(file)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	return pool, nil
}

func readRoots(file string) (*x509.CertPool, error) {
	if file == "" {
		return nil, nil
	}
	text, err := os.ReadFile(filepath.Clean(file))
	if err != nil {
		return nil, fmt.Errorf("read --tls-ca: %w", err)
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool() // The system has none.
	}
	if !pool.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("read --tls-ca: %q holds no certificate in PEM", file)
	}
	return pool, nil
}

// Secret returns the secret in a variable of the environment, or else in the file that the variable of this name and _FILE
// names, without spaces and line ends around it. The source names the variable or the file.
func Secret(getenv func(string) string, variable string) (secret, source string, err error) {
	value, file := strings.TrimSpace(getenv(variable)), getenv(variable+"_FILE")
	switch {
	case file == "" && strings.ContainsAny(value, "\r\n"):
		return "", "", fmt.Errorf("read %s: want one line", variable)
	case file == "":
		return value, "variable " + variable, nil
	case value != "":
		return "", "", fmt.Errorf("%s and %s_FILE are both set: want one of them", variable, variable)
	}
	text, err := os.ReadFile(filepath.Clean(file))
	if err != nil {
		return "", "", fmt.Errorf("read %s_FILE: %w", variable, err)
	}
	secret = strings.TrimSpace(string(text))
	if secret == "" || strings.ContainsAny(secret, "\r\n") {
		return "", "", fmt.Errorf("read %s_FILE: want one line in %q", variable, file)
	}
	return secret, "file " + file + " (" + variable + "_FILE)", nil
}
