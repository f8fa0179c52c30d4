package settings

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"go.temporal.io/sdk/client"

	"axiommind/worker/payload"
)

// Variables of the environment that hold API keys. See [Secret].
const (
	TemporalAPIKey = "TEMPORAL_API_KEY"
	WeaviateAPIKey = "WEAVIATE_API_KEY"
)

// ErrInvalid is wrapped by the errors of what settings say, such as files that can't be read. A retry fails too.
var ErrInvalid = errors.New("invalid setting")

// Temporal says how to reach Temporal.
type Temporal struct {
	// Address is its host:port.
	Address   string
	Namespace string
	APIKey    string
	// TLS is implied by an API key, a certificate and a server's name.
	TLS bool
	// CA is a PEM file of authorities that the server's certificate may come from, besides those of the system.
	CA string
	// Cert and Key are PEM files of a certificate that the client shows, and its key.
	Cert, Key string
	// ServerName is the name in the server's certificate. Default: the host of the address.
	ServerName string
	// PayloadKeyFile holds the keys that encrypt what Temporal stores. See [payload.Load]. Default: it is not encrypted.
	PayloadKeyFile string
}

// Options reads the files, and returns the options of a client. The error is an [ErrInvalid].
func (t Temporal) Options() (client.Options, error) {
	options, err := t.options()
	if err != nil {
		return options, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	return options, nil
}

func (t Temporal) options() (client.Options, error) {
	options := client.Options{HostPort: t.Address, Namespace: t.Namespace}
	ring, err := payload.Load(t.PayloadKeyFile)
	if err != nil {
		return options, err
	}
	if options.ConnectionOptions.DialOptions, err = ring.DialOptions(); err != nil {
		return options, err
	}
	if t.APIKey != "" {
		options.Credentials = client.NewAPIKeyStaticCredentials(t.APIKey)
	}
	if t.secure() {
		if options.ConnectionOptions.TLS, err = t.tls(); err != nil {
			return options, err
		}
	}
	return options, nil
}

func (t Temporal) secure() bool {
	return t.TLS || t.APIKey != "" || t.Cert != "" || t.Key != "" || t.ServerName != ""
}

func (t Temporal) tls() (*tls.Config, error) {
	roots, err := readRoots(t.CA)
	if err != nil {
		return nil, err
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots, ServerName: t.ServerName}
	switch {
	case (t.Cert == "") != (t.Key == ""):
		return nil, errors.New("--temporal-tls-cert and --temporal-tls-key go together: give both, or neither")
	case t.Cert != "":
		pair, err := tls.LoadX509KeyPair(t.Cert, t.Key)
		if err != nil {
			return nil, fmt.Errorf("read the certificate %q and its key %q for temporal: %w", t.Cert, t.Key, err)
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
// names, without spaces and line ends around it.
func Secret(getenv func(string) string, variable string) (string, error) {
	value, file := strings.TrimSpace(getenv(variable)), getenv(variable+"_FILE")
	switch {
	case file == "" && strings.ContainsAny(value, "\r\n"):
		return "", fmt.Errorf("read %s: want one line", variable)
	case file == "":
		return value, nil
	case value != "":
		return "", fmt.Errorf("%s and %s_FILE are both set: want one of them", variable, variable)
	}
	text, err := os.ReadFile(filepath.Clean(file))
	if err != nil {
		return "", fmt.Errorf("read %s_FILE: %w", variable, err)
	}
	secret := strings.TrimSpace(string(text))
	if secret == "" || strings.ContainsAny(secret, "\r\n") {
		return "", fmt.Errorf("read %s_FILE: want one line in %q", variable, file)
	}
	return secret, nil
}
