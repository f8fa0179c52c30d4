package command

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
)

// Bounds of the HTTP server.
const (
	leastTokenBytes = 16
	StopHTTP        = 5 * time.Second
	// MostRequestBytes is far more than any call needs.
	MostRequestBytes = 1 << 20
)

// BearerToken is the hash of a token that clients must present.
type BearerToken [sha256.Size]byte

// ReadToken reads the token from the file that the flag names.
func ReadToken(flag, file string) (token BearerToken, err error) {
	if info, err := os.Stat(file); err == nil && info.Mode().Perm()&0o077 != 0 {
		return token, Usagef("%s %q: others than its owner may read or change it: chmod 600", flag, file)
	}
	raw, err := os.ReadFile(filepath.Clean(file))
	if err != nil {
		return token, Usagef("%s: %v", flag, err)
	}
	text := strings.TrimSpace(string(raw))
	if len(text) < leastTokenBytes || strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return token, Usagef("%s %q: want at least %d letters, digits or signs of ASCII, without spaces", flag, file, leastTokenBytes)
	}
	return sha256.Sum256([]byte(text)), nil
}

// Loopback reports whether the host is this machine.
func Loopback(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}

// Admits reports whether the header contains the token. It takes constant time.
func (b BearerToken) Admits(header string) bool {
	scheme, token, _ := strings.Cut(header, " ")
	sum := sha256.Sum256([]byte(strings.TrimSpace(token)))
	return strings.EqualFold(scheme, "bearer") && subtle.ConstantTimeCompare(sum[:], b[:]) == 1
}

// ServeHTTP answers requests until ctx ends, and then waits for those under way, StopHTTP at most: clients keep streams open.
func ServeHTTP(ctx context.Context, listener net.Listener, server *http.Server) error {
	done := make(chan error, 1)
	go func() { done <- server.Serve(listener) }()
	select {
	case err := <-done:
		return fmt.Errorf("serve %s: %w", listener.Addr(), err)
	case <-ctx.Done():
	}
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), StopHTTP)
	defer cancel()
	if err := server.Shutdown(stop); errors.Is(err, context.DeadlineExceeded) {
		return server.Close()
	}
	return nil
}
