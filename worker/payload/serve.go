package payload

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"go.temporal.io/sdk/converter"
)

// maxRequestBytes is more than Temporal's web interface asks for at once: a page of a history.
const maxRequestBytes = 8 << 20

// HandlerOptions say whom a [Ring.Handler] answers.
type HandlerOptions struct {
	// Origins are the web pages that may ask, as [Origin] returns them. Programs other than browsers send none.
	Origins []string
	// Namespace is the only one whose payloads are decrypted, if the request names one. Empty for any.
	Namespace string
	// Admits reports whether the value of the header Authorization is right. Nil admits everybody.
	Admits func(authorization string) bool
}

// Handler is a codec server as Temporal's web interface and command line want it: POST /decode and POST /encode.
func (r *Ring) Handler(o HandlerOptions) http.Handler {
	codec := converter.NewPayloadCodecHTTPHandler(r)
	return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		h := w.Header()
		h.Set("Vary", "Origin")
		h.Set("Cache-Control", "no-store")
		if refused := o.allow(h, q); refused != "" {
			http.Error(w, refused, http.StatusForbidden)
			return
		}
		if q.Method == http.MethodOptions {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		if o.Admits != nil && !o.Admits(q.Header.Get("Authorization")) {
			h.Set("WWW-Authenticate", `Bearer realm="axiommind"`)
			http.Error(w, "send the token of this codec server as: Authorization: Bearer TOKEN", http.StatusUnauthorized)
			return
		}
		if named := q.Header.Get("X-Namespace"); named != "" && o.Namespace != "" && named != o.Namespace {
			http.Error(w, fmt.Sprintf("this codec server has the keys of the namespace %q", o.Namespace), http.StatusForbidden)
			return
		}
		body, err := io.ReadAll(http.MaxBytesReader(w, q.Body, maxRequestBytes))
		var large *http.MaxBytesError
		switch {
		case errors.As(err, &large):
			http.Error(w, fmt.Sprintf("more than %d bytes", maxRequestBytes), http.StatusRequestEntityTooLarge)
			return
		case err != nil:
			http.Error(w, "the request was cut off", http.StatusBadRequest)
			return
		}
		q.Body = io.NopCloser(bytes.NewReader(body))
		codec.ServeHTTP(w, q)
	})
}

// allow returns why the web page may not ask, or else answers the question whether it may. A browser sends the origin
// of the page with each such request; pages can't forge it.
func (o HandlerOptions) allow(h http.Header, q *http.Request) (refused string) {
	origin, site := q.Header.Get("Origin"), q.Header.Get("Sec-Fetch-Site")
	switch {
	case origin == "" && (q.Method == http.MethodOptions || site != "" && site != "none"):
		return "a web page must send its origin"
	case origin == "":
		return ""
	case !slices.Contains(o.Origins, origin):
		return "web pages of this origin may not ask this codec server"
	}
	h.Set("Access-Control-Allow-Origin", origin)
	h.Set("Access-Control-Allow-Methods", "POST, OPTIONS")
	h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, X-Namespace")
	if q.Header.Get("Access-Control-Request-Private-Network") != "" {
		h.Set("Access-Control-Allow-Private-Network", "true") // A page of another host asks one of this machine.
	}
	return ""
}

// Origin returns the origin of a page as browsers send it.
func Origin(page string) (string, error) {
	u, err := url.Parse(page)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil {
		return "", errors.New("want the URL of a page, like https://temporal.example.com")
	}
	host, port := strings.ToLower(u.Hostname()), u.Port()
	if port == "" || port == map[string]string{"http": "80", "https": "443"}[u.Scheme] {
		if strings.Contains(host, ":") {
			host = "[" + host + "]"
		}
		return u.Scheme + "://" + host, nil
	}
	return u.Scheme + "://" + net.JoinHostPort(host, port), nil
}
