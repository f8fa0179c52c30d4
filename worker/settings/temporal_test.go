package settings_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"axiommind/worker/payload"
	"axiommind/worker/settings"
)

// authority makes certificates.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	dir  string
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{dir: t.TempDir()}
	var der []byte
	a.cert, a.key, der = a.sign(t, &x509.Certificate{IsCA: true, KeyUsage: x509.KeyUsageCertSign, BasicConstraintsValid: true})
	a.write(t, "ca.pem", "CERTIFICATE", der)
	return a
}

func (a *authority) sign(t *testing.T, template *x509.Certificate) (*x509.Certificate, *ecdsa.PrivateKey, []byte) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template.SerialNumber, template.Subject = big.NewInt(time.Now().UnixNano()), pkix.Name{CommonName: "test"}
	template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	parent, signer := a.cert, a.key
	if parent == nil {
		parent, signer = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	require.NoError(t, err)
	cert, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	return cert, key, der
}

// issue writes a certificate for a name, and its key.
func (a *authority) issue(t *testing.T, name string) (certFile, keyFile string) {
	t.Helper()
	_, key, der := a.sign(t, &x509.Certificate{
		DNSNames: []string{name}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	})
	raw, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	return a.write(t, name+".pem", "CERTIFICATE", der), a.write(t, name+".key", "PRIVATE KEY", raw)
}

func (a *authority) write(t *testing.T, name, kind string, der []byte) string {
	t.Helper()
	path := filepath.Join(a.dir, name)
	require.NoError(t, os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600))
	return path
}

// The client trusts the authority alone, shows its certificate, and asks for the server's name.
func TestTemporalTLS(t *testing.T) {
	t.Parallel()
	a := newAuthority(t)
	serverCert, serverKey := a.issue(t, "temporal.example")
	pair, err := tls.LoadX509KeyPair(serverCert, serverKey)
	require.NoError(t, err)
	pool := x509.NewCertPool()
	pool.AddCert(a.cert)
	listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{
		Certificates: []tls.Certificate{pair}, ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert, MinVersion: tls.VersionTLS12,
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
	clientCert, clientKey := a.issue(t, "client.example")
	whole := settings.Temporal{
		Address: listener.Addr().String(), CA: filepath.Join(a.dir, "ca.pem"), Cert: clientCert, Key: clientKey, ServerName: "temporal.example",
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
	a := newAuthority(t)
	cert, key := a.issue(t, "a")
	o, err := settings.Temporal{Address: "a:1", Namespace: "n", CA: filepath.Join(a.dir, "ca.pem")}.Options()
	require.NoError(t, err)
	require.Nil(t, o.ConnectionOptions.TLS, "an authority is for all servers, and says nothing of this one")
	for _, s := range []settings.Temporal{{TLS: true}, {APIKey: "k"}, {Cert: cert, Key: key}, {ServerName: "a"}} {
		o, err := s.Options()
		require.NoError(t, err)
		require.NotNil(t, o.ConnectionOptions.TLS, s)
	}
	absent, bad := filepath.Join(a.dir, "absent"), filepath.Join(a.dir, "bad")
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
