package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// api posts JSON to one server, through the transport that keeps the raw response and makes a single attempt.
type api struct {
	client *http.Client
	base   string
}

// newAPI returns the API at the transport's base URL, which it must have. A path of that URL stays in front of the paths
// that are posted to.
func newAPI(t *transport) *api {
	base := strings.TrimSuffix(t.base.String(), "/")
	t.base = nil // The requests have the address.
	return &api{t.client(), base}
}

// post sends the body as JSON. The response goes to the exchange of ctx.
func (a *api) post(ctx context.Context, path string, body any) error {
	data, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("encode request: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, a.base+path, bytes.NewReader(data))
	if err != nil {
		return fmt.Errorf("make request: %w", err)
	}
	// llama.cpp ends a connection after a stream and does not say so before: the next call on it failed.
	if chat, ok := body.(chatRequest); ok {
		req.Close = chat.Stream
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("Content-Type", "application/json")
	resp, err := a.client.Do(req)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}
