package settings_test

import (
	"crypto/tls"
	"net"
	"os"
	"path/filepath"
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
	whole := settings.Temporal{
		Address: listener.Addr().String(), CA: a.File, Cert: clientCert, Key: clientKey, ServerName: "temporal.example",
	}
	reach := func(s settings.Temporal) error {
		o, err := s.Options()
		require.NoError(t, err)
		require.NotNil(t, o.ConnectionOptions.TLS)
		d := tls.Dialer{NetDialer: &net.Dialer{Timeout: 10 * time.Second}, Config: o.ConnectionOptions.TLS}
		c, err := d.DialContext(t.Context(), "tcp", s.Address)
		if err != nil {
			return err
		}
		defer func() { _ = c.Close() }()
		_, err = c.Read(make([]byte, 5))
		return err
	}
	require.NoError(t, reach(whole))
	without := whole
	without.CA = ""
	require.ErrorContains(t, reach(without), "unknown authority")
	without = whole
	without.ServerName = "other.example"
	require.ErrorContains(t, reach(without), "not other.example")
	without = whole
	without.Cert, without.Key = "", ""
	require.ErrorContains(t, reach(without), "certificate required")
}

func TestTemporalOptions(t *testing.T) {
	t.Parallel()
	a := stacktest.NewAuthority(t)
	cert, key := a.Issue(t, "a")
	o, err := settings.Temporal{Address: "a:1", Namespace: "n", CA: a.File}.Options()
	require.NoError(t, err)
	require.Nil(t, o.ConnectionOptions.TLS, "an authority is for all servers, and says nothing of this one")
	for _, s := range []settings.Temporal{{TLS: true}, {APIKey: "k"}, {Cert: cert, Key: key}, {ServerName: "a"}} {
		o, err := s.Options()
		require.NoError(t, err)
		require.NotNil(t, o.ConnectionOptions.TLS, s)
	}
	dir := t.TempDir()
	absent, bad := filepath.Join(dir, "absent"), filepath.Join(dir, "bad")
	require.NoError(t, os.WriteFile(bad, []byte("sesame"), 0o600))
	for want, s := range map[string]settings.Temporal{
		"go together":                 {Cert: cert},
		"--temporal-tls-key":          {Key: key},
		"holds no certificate in PEM": {TLS: true, CA: bad},
		"read --tls-ca":               {TLS: true, CA: absent},
		"read the certificate":        {Cert: cert, Key: bad},
		"read payload keys":           {PayloadKeyFile: absent},
		"read payload keys: \"":       {PayloadKeyFile: bad},
	} {
		_, err := s.Options()
		require.ErrorContains(t, err, want)
		require.ErrorIs(t, err, settings.ErrInvalid)
		require.NotContains(t, err.Error(), "sesame")
	}
	_, err = settings.Roots(bad)
	require.ErrorIs(t, err, settings.ErrInvalid)
}

func TestValues(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	keys, secret := filepath.Join(dir, "keys"), filepath.Join(dir, "secret")
	require.NoError(t, os.WriteFile(keys, payload.NewFile("k1"), 0o600))
	require.NoError(t, os.WriteFile(secret, []byte(" open sesame\n"), 0o600))
	config := filepath.Join(dir, "axiommind.yaml")
	require.NoError(t, os.WriteFile(config, []byte("payload-key-file: "+keys+"\ntemporal-tls-server-name: t\ntls-ca: ca.pem\n"), 0o600))
	env := map[string]string{"TEMPORAL_API_KEY_FILE": secret, "AXIOMMIND_TEMPORAL_TLS_CERT": "c"}
	values, err := settings.Load(config, func(name string) string { return env[name] }, "")
	require.NoError(t, err)
	got, err := values.Temporal()
	require.NoError(t, err)
	require.Equal(t, settings.Temporal{
		Address: settings.DefaultTemporalAddress, Namespace: "default", APIKey: "open sesame", PayloadKeyFile: keys, ServerName: "t", CA: "ca.pem", Cert: "c",
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
		got, err := settings.Secret(func(name string) string { return map[string]string{"X": c.value, "X_FILE": c.file}[name] }, "X")
		require.Equal(t, c.want, got)
		if c.err == "" {
			require.NoError(t, err)
			continue
		}
		require.ErrorContains(t, err, c.err)
		require.NotContains(t, err.Error(), "sesame")
	}
}
