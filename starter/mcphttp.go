package main

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/pflag"
)

// Bounds of the HTTP server.
const (
	leastTokenBytes = 16
	idleSession     = time.Hour
	stopHTTP        = 5 * time.Second
	// mostRequestBytes is far more than any call needs.
	mostRequestBytes = 1 << 20
)

// httpOptions are the flags of streamable HTTP.
type httpOptions struct {
	address, tokenFile string
	names              []string
	token              bearerToken
}

// bearerToken is the hash of a token that clients must present.
type bearerToken [sha256.Size]byte

func (o *httpOptions) add(f *pflag.FlagSet) {
	f.StringVar(&o.address, "http", "", "serve streamable HTTP at this address, like 127.0.0.1:7390 (default: stdin and stdout)")
	f.StringVar(&o.tokenFile, "http-token-file", "", "file that holds the token which a client sends as its bearer token")
	f.StringSliceVar(&o.names, "http-host", nil, "other host names that the server is reached by (may be repeated)")
}

// check reads the token.
func (o *httpOptions) check() error {
	if o.address == "" {
		if o.tokenFile != "" || len(o.names) > 0 {
			return usagef("--http-token-file and --http-host are for --http ADDRESS")
		}
		return nil
	}
	if _, _, err := net.SplitHostPort(o.address); err != nil {
		return usagef("--http %q: want an address like 127.0.0.1:8080", o.address)
	}
	if o.tokenFile == "" {
		return usagef("--http needs --http-token-file FILE: anyone who reaches the server can read the memory")
	}
	token, err := readToken("--http-token-file", o.tokenFile)
	o.token = token
	return err
}

// readToken reads the token from the file that the flag names.
func readToken(flag, file string) (token bearerToken, err error) {
	if info, err := os.Stat(file); err == nil && info.Mode().Perm()&0o077 != 0 {
		return token, usagef("%s %q: others than its owner may read or change it: chmod 600", flag, file)
	}
	raw, err := os.ReadFile(filepath.Clean(file))
	if err != nil {
		return token, usagef("%s: %v", flag, err)
	}
	text := strings.TrimSpace(string(raw))
	if len(text) < leastTokenBytes || strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return token, usagef("%s %q: want at least %d letters, digits or signs of ASCII, without spaces", flag, file, leastTokenBytes)
	}
	return sha256.Sum256([]byte(text)), nil
}

// loopback reports whether the host is this machine.
func loopback(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}

// serveHTTP answers over streamable HTTP until ctx ends.
func (s *mcpServer) serveHTTP(ctx context.Context, server *mcp.Server) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", s.o.http.address)
	if err != nil {
		return usagef("--http %q: %v", s.o.http.address, err)
	}
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{
		Logger: s.logger, SessionTimeout: idleSession, MaxRequestBodyBytes: mostRequestBytes,
		DisableLocalhostProtection: true, // The guard is stricter and allows --http-host.
	})
	h := &http.Server{Handler: s.o.http.guard(handler), ReadHeaderTimeout: stopHTTP}
	_, _ = fmt.Fprintf(s.app.errOut, "serving MCP at http://%s\n", listener.Addr())
	done := make(chan error, 1)
	go func() { done <- h.Serve(listener) }()
	select {
	case err = <-done:
		return fmt.Errorf("serve %s: %w", listener.Addr(), err)
	case <-ctx.Done():
	}
	// Clients keep streams open indefinitely, so the shutdown does not wait for these.
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	if err := h.Shutdown(stop); errors.Is(err, context.DeadlineExceeded) {
		return h.Close()
	}
	return nil
}

// guard refuses web pages, host names that DNS rebinding points here, and clients without the token.
func (o *httpOptions) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch site := r.Header.Get("Sec-Fetch-Site"); {
		case !o.named(r.Host):
			http.Error(w, "unknown host: the server names itself by --http and --http-host", http.StatusForbidden)
		case r.Header.Get("Origin") != "" || site != "" && site != "none":
			http.Error(w, "a web page may not read the memory: use a client that is a program", http.StatusForbidden)
		case !o.token.admits(r.Header.Get("Authorization")):
			w.Header().Set("WWW-Authenticate", `Bearer realm="axiommind"`)
			http.Error(w, "send the token of --http-token-file as: Authorization: Bearer TOKEN", http.StatusUnauthorized)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// named reports whether the host of a request is a name of the server.
func (o *httpOptions) named(host string) bool {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = strings.Trim(host, "[]")
	}
	if loopback(name) {
		return true
	}
	own, _, _ := net.SplitHostPort(o.address)
	for _, known := range append([]string{own}, o.names...) {
		if known != "" && strings.EqualFold(known, name) {
			return true
		}
	}
	return false
}

// admits reports whether the header contains the token. It takes constant time.
func (b bearerToken) admits(header string) bool {
	scheme, token, _ := strings.Cut(header, " ")
	sum := sha256.Sum256([]byte(strings.TrimSpace(token)))
	return strings.EqualFold(scheme, "bearer") && subtle.ConstantTimeCompare(sum[:], b[:]) == 1
}
