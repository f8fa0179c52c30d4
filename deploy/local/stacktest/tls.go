package stacktest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"
)

// Authority is an authority of a test's own, which makes certificates.
type Authority struct {
	// File holds its certificate in PEM.
	File string
	// Pool holds its certificate alone.
	Pool *x509.CertPool

	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	dir  string
	made int64
}

// NewAuthority makes an authority.
func NewAuthority(t testing.TB) *Authority {
	t.Helper()
	a := &Authority{Pool: x509.NewCertPool(), dir: t.TempDir()}
	a.File, a.key = a.make(t, "authority", &x509.Certificate{IsCA: true, KeyUsage: x509.KeyUsageCertSign, BasicConstraintsValid: true})
	a.Pool.AddCert(a.cert)
	return a
}

// Issue writes a certificate for servers and clients of this name, or of this IP address, and its key.
func (a *Authority) Issue(t testing.TB, name string) (certFile, keyFile string) {
	t.Helper()
	template := &x509.Certificate{ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}}
	if ip := net.ParseIP(name); ip != nil {
		template.IPAddresses = []net.IP{ip}
	} else {
		template.DNSNames = []string{name}
	}
	certFile, key := a.make(t, name, template)
	raw, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return certFile, a.write(t, name+".key", "PRIVATE KEY", raw)
}

// make signs a certificate with the authority's key. The first one is the authority's own.
func (a *Authority) make(t testing.TB, name string, template *x509.Certificate) (file string, key *ecdsa.PrivateKey) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	a.made++
	template.SerialNumber, template.Subject = big.NewInt(a.made), pkix.Name{CommonName: name}
	template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	parent, signer := a.cert, a.key
	if parent == nil {
		parent, signer = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	if err != nil {
		t.Fatal(err)
	}
	if a.cert == nil {
		if a.cert, err = x509.ParseCertificate(der); err != nil {
			t.Fatal(err)
		}
	}
	return a.write(t, name+".pem", "CERTIFICATE", der), key
}

func (a *Authority) write(t testing.TB, name, kind string, der []byte) string {
	t.Helper()
	path := filepath.Join(a.dir, name)
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// FrontOptions configures a [Front].
type FrontOptions struct {
	// Name is the name in its certificate. Default: 127.0.0.1.
	Name string
	// GRPC hands on HTTP/2, which gRPC needs.
	GRPC bool
	// ClientCAs are the authorities that the certificates of clients must come from. Default: clients show none.
	ClientCAs *x509.CertPool
	// Key is the bearer token that requests must come with. Others are refused with 401. Default: all are handed on.
	Key string
}

// Front speaks TLS, and hands on all that it is asked to a server that speaks none, as a load balancer does. It lives until
// the test ends.
type Front struct {
	// Address is its host:port.
	Address string

	mu      sync.Mutex
	headers []http.Header
	clients []string
}

// NewFront starts a front of the server at the address, a host:port.
func NewFront(t testing.TB, a *Authority, server string, opts FrontOptions) *Front {
	t.Helper()
	if opts.Name == "" {
		opts.Name = "127.0.0.1"
	}
	cert, err := tls.LoadX509KeyPair(a.Issue(t, opts.Name))
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{DisableCompression: true}
	if opts.GRPC {
		transport.Protocols = new(http.Protocols)
		transport.Protocols.SetUnencryptedHTTP2(true)
	}
	quiet := log.New(io.Discard, "", 0) // A client that does not trust it is no matter of the test's output.
	f := &Front{}
	proxy := &httputil.ReverseProxy{
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(&url.URL{Scheme: "http", Host: server}) },
		Transport: transport, FlushInterval: -1, ErrorLog: quiet,
	}
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.note(r)
		if opts.Key != "" && r.Header.Get("Authorization") != "Bearer "+opts.Key {
			http.Error(w, "unknown key", http.StatusUnauthorized)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	s.TLS = &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12}
	if opts.ClientCAs != nil {
		s.TLS.ClientCAs, s.TLS.ClientAuth = opts.ClientCAs, tls.RequireAndVerifyClientCert
	}
	s.EnableHTTP2, s.Config.ErrorLog = opts.GRPC, quiet
	s.StartTLS()
	t.Cleanup(func() {
		s.CloseClientConnections() // A client that keeps its connection is not waited for.
		s.Close()
		transport.CloseIdleConnections()
	})
	f.Address = s.Listener.Addr().String()
	return f
}

func (f *Front) note(r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.headers = append(f.headers, r.Header.Clone())
	for _, c := range r.TLS.PeerCertificates {
		f.clients = append(f.clients, c.Subject.CommonName)
	}
}

// Headers returns the values of a header that requests came with, one for each request, "" where there was none.
func (f *Front) Headers(name string) []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	values := make([]string, len(f.headers))
	for i, h := range f.headers {
		values[i] = h.Get(name)
	}
	return values
}

// Clients returns the names in the certificates that clients showed, one for each request.
func (f *Front) Clients() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.clients)
}
