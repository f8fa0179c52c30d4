package stack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
)

// checkWeaviate requests the readiness, and a resource that needs the key.
func checkWeaviate(ctx context.Context, host, key string) error {
	return errors.Join(
		getOK(ctx, "http://"+host+"/v1/.well-known/ready"),
		getOK(ctx, "http://"+host+"/v1/meta", func(r *http.Request) {
			if key != "" {
				r.Header.Set("Authorization", "Bearer "+key)
			}
		}))
}

// getOK succeeds when the server answers 200. edit changes the request before it is sent.
func getOK(ctx context.Context, url string, edit ...func(*http.Request)) error {
	body, err := get(ctx, url, edit...)
	if err != nil {
		return err
	}
	_, _ = io.Copy(io.Discard, body)
	return body.Close()
}

func getJSON(ctx context.Context, url string, into any, edit ...func(*http.Request)) error {
	body, err := get(ctx, url, edit...)
	if err != nil {
		return err
	}
	defer func() { _ = body.Close() }()
	return json.NewDecoder(body).Decode(into)
}

func get(ctx context.Context, url string, edit ...func(*http.Request)) (io.ReadCloser, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	for _, change := range edit {
		change(req)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		_ = resp.Body.Close()
		return nil, fmt.Errorf("get %q: status %s", url, resp.Status)
	}
	return resp.Body, nil
}

func dial(ctx context.Context, address string) error {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	return conn.Close()
}
