package llm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// maxBody limits how much of one response is read, in bytes.
const maxBody = 64 << 20

// exchange receives the response of one call from the transport.
type exchange struct {
	raw []byte
	err error
}

type exchangeKey struct{}

// withExchange returns a context for one call of a provider's client, and the exchange that receives the response.
func withExchange(ctx context.Context) (context.Context, *exchange) {
	x := &exchange{}
	return context.WithValue(ctx, exchangeKey{}, x), x
}

// outcome returns the body of the call. The client's error counts only if the request never reached the transport.
func (x *exchange) outcome(provider string, clientErr error) ([]byte, error) {
	switch {
	case x.err != nil:
		return nil, x.err
	case x.raw == nil && clientErr != nil:
		return nil, &Error{Provider: provider, Kind: KindInvalidRequest, cause: clientErr}
	case x.raw == nil:
		return nil, &Error{Provider: provider, Kind: KindUnavailable, Message: "no answer"}
	}
	return x.raw, nil
}

// transport sits between a provider's client and the network. It authorizes the request, makes exactly one attempt,
// classifies every failure and keeps the body. It gives the client an empty object instead of the body: the client's
// decoder loses finish reasons and thought tokens, and fails on parts that it does not know. So only this package
// reads bodies, whether just received or stored.
type transport struct {
	provider string
	// variable is named in errors about a missing or rejected key.
	variable string
	secret   string
	// base, if set, replaces the scheme, host and path prefix of each request.
	base      *url.URL
	authorize func(http.Header)
	// patience is how long the server may send nothing.
	patience time.Duration
	// remedy ends the error about a silent server.
	remedy string
}

// errSilent is the cause of a call that its transport gives up.
var errSilent = errors.New("the server sent nothing")

// RoundTrip implements http.RoundTripper.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	x, ok := req.Context().Value(exchangeKey{}).(*exchange)
	if !ok {
		return nil, errors.New("request outside of a call")
	}
	raw, err := t.fetch(req)
	if err != nil {
		x.err = err
		return nil, err
	}
	x.raw = raw
	return &http.Response{
		Status: "200 OK", StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header:        http.Header{"Content-Type": {"application/json"}},
		Body:          io.NopCloser(strings.NewReader("{}")),
		ContentLength: 2,
		Request:       req,
	}, nil
}

func (t *transport) fetch(req *http.Request) ([]byte, error) {
	ctx, cancel := context.WithCancelCause(req.Context())
	defer cancel(nil)
	silence := time.AfterFunc(t.patience, func() { cancel(errSilent) })
	defer silence.Stop()
	out := req.Clone(ctx)
	t.address(out.URL)
	out.Host = out.URL.Host
	t.authorize(out.Header)

	resp, err := http.DefaultTransport.RoundTrip(out)
	if err != nil {
		return nil, t.networkError(ctx, err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(heard{resp.Body, func() { silence.Reset(t.patience) }}, maxBody+1))
	// For an error response the status says enough, so its body may be incomplete.
	if resp.StatusCode >= http.StatusMultipleChoices {
		return nil, t.statusError(resp, body)
	}
	if err != nil {
		return nil, t.networkError(ctx, fmt.Errorf("read body after %d bytes: %w", len(body), err))
	}
	if len(body) > maxBody {
		return nil, &Error{Provider: t.provider, Kind: KindMalformed, Status: resp.StatusCode,
			Message: fmt.Sprintf("body is longer than %d bytes", maxBody)}
	}
	return bytes.Clone(body), nil
}

// address directs the request to the configured server. It also removes parameters from the query that must not be
// there: the key, and an enum encoding that hides the names of unknown values.
func (t *transport) address(u *url.URL) {
	if t.base != nil {
		u.Scheme, u.Host = t.base.Scheme, t.base.Host
		if prefix := strings.TrimSuffix(t.base.Path, "/"); prefix != "" {
			u.Path, u.RawPath = prefix+u.Path, ""
		}
	}
	q := u.Query()
	q.Del("key")
	q.Del("$alt")
	u.RawQuery = q.Encode()
}

// heard is a reader that reports each read.
type heard struct {
	io.Reader
	report func()
}

func (h heard) Read(p []byte) (int, error) {
	n, err := h.Reader.Read(p)
	h.report()
	return n, err
}

func (t *transport) networkError(ctx context.Context, err error) error {
	if errors.Is(context.Cause(ctx), errSilent) {
		return &Error{Provider: t.provider, Kind: KindUnavailable, cause: fmt.Errorf("%w for %s%s", errSilent, t.patience, t.remedy)}
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return fmt.Errorf("call %s: %w", t.provider, context.Cause(ctx))
	}
	return &Error{Provider: t.provider, Kind: KindUnavailable, cause: err}
}

func (t *transport) statusError(resp *http.Response, body []byte) *Error {
	e := errorFromBody(t.provider, resp.StatusCode, body)
	if d := retryAfter(resp.Header, time.Now()); d > 0 {
		e.RetryAfter = d
	}
	if t.secret != "" {
		e.Message = strings.ReplaceAll(e.Message, t.secret, "[key]")
	}
	if e.Kind == KindAuth {
		e.Message = fmt.Sprintf("key in %s refused: %s", t.variable, e.Message)
		if t.secret == "" {
			e.Message = fmt.Sprintf("%s is not set and the server wants a key: %s", t.variable, e.Message)
		}
	}
	return e
}

// newTransport returns the transport of a provider.
func newTransport(c endpoint, authorize func(http.Header)) (*transport, error) {
	base, err := c.baseURL()
	if err != nil {
		return nil, err
	}
	return &transport{provider: c.provider, variable: c.variable, secret: c.key, base: base,
		authorize: authorize, patience: c.patience, remedy: c.remedy}, nil
}

// client returns an HTTP client that does not follow redirects, because a redirected request would send the key to
// another host.
func (t *transport) client() *http.Client {
	return &http.Client{
		Transport:     t,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}
