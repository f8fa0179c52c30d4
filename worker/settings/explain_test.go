package settings_test

import (
	"errors"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/worker/settings"
)

// The answers of real servers are tested in worker/service.
func TestExplain(t *testing.T) {
	t.Parallel()
	plain, keyed := settings.Servers{}, settings.Servers{TemporalAPIKey: "sesame"}
	for _, c := range []struct {
		said    string
		explain func(error) error
		advice  string
		refused bool
	}{
		{"tls: failed to verify certificate: x509: certificate has expired or is not yet valid", keyed.ExplainTemporal, "renew its certificate", true},
		{"x509: “h” certificate is not trusted", keyed.ExplainTemporal, "--tls-ca", true},
		{"x509: certificate signed by unknown authority", func(err error) error { return settings.Explain("https://h", err) }, "--tls-ca", true},
		{"remote error: tls: expired certificate", keyed.ExplainTemporal, "--temporal-tls-cert", true},
		{"error reading server preface: EOF", plain.ExplainTemporal, "set --temporal-tls", false},
		{"error reading server preface: EOF", keyed.ExplainTemporal, "--temporal-tls-cert", false},
		{"400 The plain HTTP request was sent to HTTPS port", func(err error) error { return settings.Explain("http://h", err) }, "write https://", true},
	} {
		err := errors.Join(errors.New(c.said), io.EOF)
		got := c.explain(err)
		require.ErrorContains(t, got, c.said)
		require.ErrorContains(t, got, "; ")
		require.ErrorContains(t, got, c.advice)
		require.Equal(t, c.refused, errors.Is(got, settings.ErrRefused), c.said)
		require.ErrorIs(t, got, io.EOF)
		require.NotContains(t, got.Error(), "sesame")
	}
	for _, explain := range []func(error) error{plain.ExplainTemporal, keyed.ExplainTemporal, func(err error) error { return settings.Explain("https://h", err) }} {
		require.NoError(t, explain(nil))
		require.Equal(t, io.EOF, explain(io.EOF))
	}
}
