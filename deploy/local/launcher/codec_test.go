package main

import (
	"bytes"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"

	"axiommind/deploy/local/stack"
	"axiommind/worker/payload"
)

// Payloads are decrypted only for a browser that got the token by the link that status prints, and for a
// program that sends it.
func TestDecryptsForWhoHasTheToken(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c, err := newCodec(dir)
	require.NoError(t, err)
	again, err := newCodec(dir)
	require.NoError(t, err)
	require.Equal(t, c.token, again.token, "a link stays good when the stack starts again")
	info, err := os.Stat(filepath.Join(dir, codecTokenFile))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())

	ring, err := payload.Parse(payload.NewFile("k1"))
	require.NoError(t, err)
	server := httptest.NewServer(ring.Handler(payload.HandlerOptions{Admits: func(h string) bool { return h == "Bearer "+c.token }}))
	defer server.Close()
	c.passTo(strings.TrimPrefix(server.URL, "http://"))
	front := httptest.NewServer(c)
	defer front.Close()

	a := stack.Addresses{TemporalUI: front.URL, PayloadKeyFile: "keys"}
	sealed, err := ring.Encode([]*commonpb.Payload{{Data: []byte("a secret")}})
	require.NoError(t, err)
	decode := func(client http.Client, edit func(*http.Request) error) error {
		opened, err := converter.NewRemotePayloadCodec(converter.RemotePayloadCodecOptions{
			Endpoint: front.URL + stack.CodecPath, Client: client, ModifyRequest: edit,
		}).Decode(sealed)
		if err == nil {
			require.Equal(t, "a secret", string(opened[0].GetData()))
		}
		return err
	}
	unchanged := func(*http.Request) error { return nil }
	require.Error(t, decode(http.Client{}, unchanged))

	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	browser := http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	open := func(link string) int {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, link, nil)
		require.NoError(t, err)
		response, err := browser.Do(r)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		return response.StatusCode
	}
	require.Equal(t, http.StatusForbidden, open(a.TemporalUI+stack.UnlockPath+"another"))
	require.Error(t, decode(browser, unchanged))
	require.Equal(t, http.StatusSeeOther, open(uiLink(dir, a)))
	require.NoError(t, decode(browser, unchanged))
	require.NoError(t, decode(http.Client{}, func(r *http.Request) error {
		r.Header.Set("Authorization", "Bearer "+c.token)
		return nil
	}))

	a.PayloadKeyFile = ""
	require.Equal(t, front.URL, uiLink(dir, a), "nothing is encrypted")
	var out bytes.Buffer
	printAddresses(&out, dir, stack.Addresses{TemporalUI: front.URL, PayloadKeyFile: "keys"}, "")
	require.Contains(t, out.String(), front.URL+stack.UnlockPath+c.token)
}
