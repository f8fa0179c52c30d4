package settings

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// ErrRefused is wrapped by the errors of servers that are up and can't be reached with these settings. A retry fails too.
var ErrRefused = errors.New("refused")

// hint returns the remedy for an error of a connection.
type hint struct {
	// sign is how the error is known. gRPC hands on nothing but text.
	sign *regexp.Regexp
	// plain and tls are for connections without and with TLS, of Temporal and of the others. One that is empty fits not.
	plain, tls, temporalPlain, temporalTLS string
	// waits says that the error may end of itself.
	waits bool
}

const nameAuthority = "name the file of the authority that signed its certificate by --tls-ca"

// hints are in the order in which they are tried.
var hints = []hint{
	{
		sign: regexp.MustCompile(`signed by unknown authority|certificate is not trusted`),
		tls:  nameAuthority, temporalTLS: nameAuthority,
	},
	{
		sign:        regexp.MustCompile(`certificate is (?:not )?valid for |cannot validate certificate for |not valid for any names|certificate name does not match`),
		tls:         "address it by a name in its certificate",
		temporalTLS: "give the name in its certificate by --temporal-tls-server-name",
	},
	{
		sign: regexp.MustCompile(`failed to verify certificate`), // Such as one that has expired.
		tls:  "renew its certificate, or set the clock right", temporalTLS: "renew its certificate, or set the clock right",
	},
	{
		sign:        regexp.MustCompile(`remote error: tls: (?:certificate required|bad certificate|(?:unknown|expired|revoked|unsupported) certificate|unknown certificate authority)`),
		tls:         "it wants to see a certificate, and only Temporal is shown one",
		temporalTLS: "it wants to see a certificate that it trusts: give it by --temporal-tls-cert and --temporal-tls-key",
	},
	{
		sign:        regexp.MustCompile(`first record does not look like a TLS handshake|server gave HTTP response to HTTPS client`),
		tls:         "it speaks no TLS there: write http:// or clickhouse://, or its port for TLS",
		temporalTLS: "it speaks no TLS there: leave out --temporal-tls, --temporal-tls-… and TEMPORAL_API_KEY, or give its port for TLS",
	},
	{
		sign:  regexp.MustCompile(`HTTP request to an HTTPS server|HTTP request was sent to HTTPS port`),
		plain: "it speaks TLS: write https://",
	},
	{
		sign:          regexp.MustCompile(`error reading server preface|broken pipe|connection reset`),
		temporalPlain: "it hangs up: if it speaks TLS, set --temporal-tls",
		temporalTLS:   "it hangs up: if it wants to see a certificate, give it by --temporal-tls-cert and --temporal-tls-key",
		waits:         true,
	},
}

// ExplainTemporal adds to the error of a connection to Temporal the setting to change, if one is known to help.
func (s Servers) ExplainTemporal(err error) error {
	if !s.secure() {
		return explain(err, func(h hint) string { return h.temporalPlain })
	}
	return explain(err, func(h hint) string { return h.temporalTLS })
}

// Explain is [Servers.ExplainTemporal] for a server with such a URL: ClickHouse, or Weaviate.
func Explain(url string, err error) error {
	if !strings.HasPrefix(url, "https:") && !strings.HasPrefix(url, "clickhouses:") {
		return explain(err, func(h hint) string { return h.plain })
	}
	return explain(err, func(h hint) string { return h.tls })
}

func explain(err error, adviceOf func(hint) string) error {
	if err == nil {
		return nil
	}
	for _, h := range hints {
		advice := adviceOf(h)
		switch {
		case advice == "" || !h.sign.MatchString(err.Error()):
			continue
		case h.waits:
			return fmt.Errorf("%w; %s", err, advice)
		}
		return Refused(err, advice)
	}
	return err
}

// Refused returns an [ErrRefused] with the remedy.
func Refused(err error, advice string) error { return &refused{err, advice} }

type refused struct {
	error
	advice string
}

func (r *refused) Error() string   { return r.error.Error() + "; " + r.advice }
func (r *refused) Unwrap() []error { return []error{r.error, ErrRefused} }
