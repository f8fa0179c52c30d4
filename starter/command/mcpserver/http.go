package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/pflag"

	"axiommind/starter/command"
)

// httpOptions are the flags of streamable HTTP.
type httpOptions struct {
	address, tokenFile string
	names              []string
	token              command.BearerToken
}

func (o *httpOptions) add(f *pflag.FlagSet) {
	f.StringVar(&o.address, "http", "", "serve streamable HTTP at this address, like 127.0.0.1:7390 (default: stdin and stdout)")
	f.StringVar(&o.tokenFile, "http-token-file", "", "file that holds the token which a client sends as its bearer token")
	f.StringSliceVar(&o.names, "http-host", nil, "other host names that the server is reached by (may be repeated)")
}

// check reads the token.
func (o *httpOptions) check() error {
	if o.address == "" {
		if o.tokenFile != "" || len(o.names) > 0 {
			return command.Usagef("--http-token-file and --http-host are for --http ADDRESS")
		}
		return nil
	}
	if _, _, err := net.SplitHostPort(o.address); err != nil {
		return command.Usagef("--http %q: want an address like 127.0.0.1:8080", o.address)
	}
	if o.tokenFile == "" {
		return command.Usagef("--http needs --http-token-file FILE: anyone who reaches the server can read the memory")
	}
	token, err := command.ReadToken("--http-token-file", o.tokenFile)
	o.token = token
	return err
}

// serveHTTP answers over streamable HTTP until ctx ends.
func (s *mcpServer) serveHTTP(ctx context.Context, server *mcp.Server) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", s.o.http.address)
	if err != nil {
		return command.Usagef("--http %q: %v", s.o.http.address, err)
	}
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{
		Logger: s.logger, SessionTimeout: command.IdleSession, MaxRequestBodyBytes: command.MostRequestBytes,
		DisableLocalhostProtection: true, // The guard is stricter and allows --http-host.
	})
	h := &http.Server{Handler: s.o.http.guard(handler), ReadHeaderTimeout: command.StopHTTP}
	_, _ = fmt.Fprintf(s.app.ErrOut, "serving MCP at http://%s\n", listener.Addr())
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
		case !o.token.Admits(r.Header.Get("Authorization")):
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
	if command.Loopback(name) {
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
