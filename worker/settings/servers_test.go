package settings_test

import (
	"crypto/tls"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"axiommind/deploy/local/stacktest"
	"axiommind/worker/payload"
	"axiommind/worker/settings"
)

// The client trusts the authority alone, shows its certificate, and asks for the server's name.
func TestTemporalTLS(t *testing.T) {
	t.Parallel()
	a := stacktest.NewAuthority(t)
	serverCert, serverKey := a.Issue(t, "temporal.example")
	pair, err := tls.LoadX509KeyPair(serverCert, serverKey)
	require.NoError(t, err)
	listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{
		Certificates: []tls.Certificate{pair}, ClientCAs: a.Pool, ClientAuth: tls.RequireAndVerifyClientCert, MinVersion: tls.VersionTLS12,
	})
	require.NoError(t, err)
	defer func() { _ = listener.Close() }()
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			if c.(*tls.Conn).HandshakeContext(t.Context()) == nil {
				_, _ = c.Write([]byte("hello"))
			}
			_ = c.Close()
		}
	}()
	clientCert, clientKey := a.Issue(t, "client.example")
	whole := settings.Servers{
		TemporalAddress: listener.Addr().String(), TLSCA: a.File, TemporalTLSCert: clientCert, TemporalTLSKey: clientKey,
		TemporalTLSServerName: "temporal.example",
	}
	reach := func(s settings.Servers) error {
		o, err := s.TemporalOptions()
		require.NoError(t, err)
		require.NotNil(t, o.ConnectionOptions.TLS)
		d := tls.Dialer{NetDialer: &net.Dialer{Timeout: 10 * time.Second}, Config: o.ConnectionOptions.TLS}
		c, err := d.DialContext(t.Context(), "tcp", s.TemporalAddress)
		if err != nil {
			return err
		}
		defer func() { _ = c.Close() }()
		_, err = c.Read(make([]byte, 5))
		return err
	}
	require.NoError(t, reach(whole))
	without := whole
	without.TLSCA = ""
	require.ErrorContains(t, reach(without), "unknown authority")
	without = whole
	without.TemporalTLSServerName = "other.example"
	require.ErrorContains(t, reach(without), "not other.example")
	without = whole
	without.TemporalTLSCert, without.TemporalTLSKey = "", ""
	require.ErrorContains(t, reach(without), "certificate required")
}

func TestTemporalOptions(t *testing.T) {
	t.Parallel()
	a := stacktest.NewAuthority(t)
	cert, key := a.Issue(t, "a")
	o, err := settings.Servers{TemporalAddress: "a:1", TemporalNamespace: "n", TLSCA: a.File}.TemporalOptions()
	require.NoError(t, err)
	require.Nil(t, o.ConnectionOptions.TLS, "an authority is for all servers, and says nothing of this one")
	for _, s := range []settings.Servers{{TemporalTLS: true}, {TemporalAPIKey: "k"}, {TemporalTLSCert: cert, TemporalTLSKey: key}, {TemporalTLSServerName: "a"}} {
		o, err := s.TemporalOptions()
		require.NoError(t, err)
		require.NotNil(t, o.ConnectionOptions.TLS, s)
	}
	dir := t.TempDir()
	absent, bad := filepath.Join(dir, "absent"), filepath.Join(dir, "bad")
	require.NoError(t, os.WriteFile(bad, []byte("sesame"), 0o600))
	for want, s := range map[string]settings.Servers{
		"go together":                 {TemporalTLSCert: cert},
		"--temporal-tls-key":          {TemporalTLSKey: key},
		"holds no certificate in PEM": {TemporalTLS: true, TLSCA: bad},
		"read --tls-ca":               {TemporalTLS: true, TLSCA: absent},
		"read the certificate":        {TemporalTLSCert: cert, TemporalTLSKey: bad},
		"read payload keys":           {PayloadKeyFile: absent},
		"read payload keys: \"":       {PayloadKeyFile: bad},
	} {
		_, err := s.TemporalOptions()
		require.ErrorContains(t, err, want)
		require.ErrorIs(t, err, settings.ErrInvalid)
		require.NotContains(t, err.Error(), "sesame")
	}
	_, err = settings.Roots(bad)
	require.ErrorIs(t, err, settings.ErrInvalid)
}

func TestLoad(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	keys := filepath.Join(dir, "keys")
	require.NoError(t, os.WriteFile(keys, payload.NewFile("k1"), 0o600))
	config := filepath.Join(dir, "axiommind.yaml")
	require.NoError(t, os.WriteFile(config, []byte("payload-key-file: "+keys+"\ntemporal-tls-server-name: t\ntls-ca: ca.pem\nunknown: x\nconnect-timeout: of others\n"), 0o600))
	env := map[string]string{"AXIOMMIND_TEMPORAL_TLS_CERT": "c", "AXIOMMIND_NO_QUEUE": "true"}
	got, err := settings.Load(config, func(name string) string { return env[name] }, "")
	require.NoError(t, err)
	require.Equal(t, settings.Servers{
		TemporalAddress: settings.DefaultTemporalAddress, TemporalNamespace: "default", ClickHouseDSN: settings.DefaultClickHouseDSN,
		PayloadKeyFile: keys, TemporalTLSServerName: "t", TLSCA: "ca.pem", TemporalTLSCert: "c", NoQueue: true,
	}, got)
}

func TestSecret(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, empty, lines := filepath.Join(dir, "a"), filepath.Join(dir, "empty"), filepath.Join(dir, "lines")
	require.NoError(t, os.WriteFile(path, []byte("sesame\r\n"), 0o600))
	require.NoError(t, os.WriteFile(empty, []byte("\n"), 0o600))
	require.NoError(t, os.WriteFile(lines, []byte("sesame\nsesame2"), 0o600))
	for _, c := range []struct {
		value, file, want, err string
	}{
		{"", "", "", ""},
		{"sesame", "", "sesame", ""},
		{"sesame\n", "", "sesame", ""}, // As a secret of Kubernetes often ends.
		{"sesame\nsesame2", "", "", "read X: want one line"},
		{"", path, "sesame", ""},
		{"sesame", path, "", "X and X_FILE are both set"},
		{"", empty, "", "want one line"},
		{"", lines, "", "want one line"},
		{"", filepath.Join(dir, "absent"), "", "read X_FILE"},
	} {
		got, source, err := settings.Secret(func(name string) string { return map[string]string{"X": c.value, "X_FILE": c.file}[name] }, "X")
		require.Equal(t, c.want, got)
		if c.err == "" {
			require.NoError(t, err)
			require.Equal(t, []bool{c.file == "", true}, []bool{source == "variable X", strings.Contains(source, c.file)})
			continue
		}
		require.ErrorContains(t, err, c.err)
		require.NotContains(t, err.Error(), "sesame")
	}
}
