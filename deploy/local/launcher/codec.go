package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync/atomic"

	"axiommind/deploy/local/stack"
)

const (
	// codecTokenFile contains, in a stack's directory, the token that permits decrypting payloads.
	codecTokenFile = "codec.token"
	// codecCookie is the name of the cookie with the token in the browser.
	codecCookie = "axiommind-codec"
)

// codec passes requests of Temporal's web interface on to the starter's codec server, which checks the
// page that asks. A program of another user of the machine could ask as well, so the browser needs a
// cookie, which the link of [uiLink] sets. It is valid until the stack stops, because a browser sends it
// to every port of this machine.
type codec struct {
	origins   []string
	tokenFile string
	token     string
	session   string
	proxy     atomic.Pointer[httputil.ReverseProxy]
}

// newCodec returns the codec of a stack's directory. The first start makes its token.
func newCodec(dir string) (*codec, error) {
	file, err := filepath.Abs(filepath.Join(dir, codecTokenFile))
	if err != nil {
		return nil, err
	}
	token, err := os.ReadFile(file) //nolint:gosec // the stack's own file
	if errors.Is(err, fs.ErrNotExist) {
		token = []byte(strings.ToLower(rand.Text()))
		err = stack.WritePrivate(file, token)
	}
	if err != nil {
		return nil, fmt.Errorf("read the token of the codec server: %w", err)
	}
	return &codec{tokenFile: file, token: string(bytes.TrimSpace(token)), session: rand.Text()}, nil
}

// uiLink is the address of Temporal's web interface as people open it: with the token, if it decrypts.
func uiLink(dir string, a stack.Addresses) string {
	token, err := os.ReadFile(filepath.Join(dir, codecTokenFile)) //nolint:gosec // the stack's own file
	if a.TemporalUI == "" || a.PayloadKeyFile == "" || err != nil {
		return a.TemporalUI
	}
	return a.TemporalUI + stack.UnlockPath + url.PathEscape(string(bytes.TrimSpace(token)))
}

// ServeHTTP implements [http.Handler].
func (c *codec) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if token, ok := strings.CutPrefix(r.URL.Path, stack.UnlockPath); ok {
		c.unlock(w, r, token)
		return
	}
	cookie, err := r.Cookie(codecCookie)
	if err == nil && same(cookie.Value, c.session) {
		r.Header.Set("Authorization", "Bearer "+c.token)
	}
	r.Header.Del("Cookie")
	proxy := c.proxy.Load()
	if proxy == nil {
		http.Error(w, "the codec server is starting", http.StatusBadGateway)
		return
	}
	proxy.ServeHTTP(w, r) // It wants the token.
}

// unlock gives the browser the cookie, and leads on to the interface.
func (c *codec) unlock(w http.ResponseWriter, r *http.Request, token string) {
	if !same(token, c.token) {
		http.Error(w, "this is not the token of the stack: open the link that `go run ./deploy/local status` prints", http.StatusForbidden)
		return
	}
	http.SetCookie(w, &http.Cookie{Name: codecCookie, Value: c.session, Path: stack.CodecPath, HttpOnly: true, SameSite: http.SameSiteStrictMode})
	w.Header().Set("Referrer-Policy", "no-referrer")
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// run starts the codec server.
func (c *codec) run(ctx context.Context, st *stack.Stack, starter string) error {
	address, err := stack.FreePort()
	if err != nil {
		return err
	}
	args := []string{"codec-server", "--address", address, "--token-file", c.tokenFile}
	for _, origin := range c.origins {
		args = append(args, "--origin", origin)
	}
	env := append(environment(st.Addresses()), configVariable+"="+cmp.Or(os.Getenv(configVariable), os.DevNull))
	if err := st.Run(ctx, stack.Program{Name: "codec", Path: starter, Args: args, Env: env, Says: codecReady}); err != nil {
		return err
	}
	c.passTo(address)
	return nil
}

// passTo has requests answered by the codec server at the address.
func (c *codec) passTo(address string) {
	c.proxy.Store(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.Out.URL.Scheme, r.Out.URL.Host = "http", address
		r.Out.URL.Path = "/" + path.Base(r.In.URL.Path)
	}})
}
