package payload_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/proto"

	"axiommind/worker/payload"
)

const page = "https://temporal.example.com"

func codecServer(t *testing.T, ring *payload.Ring, admits func(string) bool) string {
	t.Helper()
	s := httptest.NewServer(ring.Handler(payload.HandlerOptions{Origins: []string{page}, Namespace: "memory", Admits: admits}))
	t.Cleanup(s.Close)
	return s.URL
}

// ask sends a request with headers, which are pairs of a name and a value.
func ask(t *testing.T, method, url string, body io.Reader, headers ...string) (status int, text string, h http.Header) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, body)
	require.NoError(t, err)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	answer, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer func() { _ = answer.Body.Close() }()
	raw, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	return answer.StatusCode, string(raw), answer.Header
}

// The SDK's own client of codec servers understands it.
func TestHandlerDecodes(t *testing.T) {
	t.Parallel()
	ring := ringOf(t, "k1 "+keyOf(1))
	remote := converter.NewRemotePayloadCodec(converter.RemotePayloadCodecOptions{Endpoint: codecServer(t, ring, nil)})
	sealed, err := remote.Encode([]*commonpb.Payload{plain(`"a"`), plain(`"b"`)})
	require.NoError(t, err)
	require.Equal(t, payload.Encoding, string(sealed[1].GetMetadata()["encoding"]))
	opened, err := remote.Decode(append(sealed, plain(`"c"`)))
	require.NoError(t, err)
	require.Len(t, opened, 3)
	for i, p := range opened {
		require.True(t, proto.Equal(plain(`"`+string("abc"[i])+`"`), p))
	}
	_, err = remote.Decode([]*commonpb.Payload{encode(t, ringOf(t, "k2 "+keyOf(2)), plain("x"))})
	require.Error(t, err)
}

func TestHandlerAllowsItsPages(t *testing.T) {
	t.Parallel()
	url := codecServer(t, ringOf(t, "k1 "+keyOf(1)), nil)
	body := func() io.Reader { return strings.NewReader(`{"payloads":[]}`) }

	status, _, h := ask(t, "OPTIONS", url+"/decode", nil, "Origin", page, "Access-Control-Request-Method", "POST", "Access-Control-Request-Private-Network", "true")
	require.Equal(t, http.StatusNoContent, status)
	require.Equal(t, page, h.Get("Access-Control-Allow-Origin"))
	require.Contains(t, h.Get("Access-Control-Allow-Headers"), "X-Namespace")
	require.Contains(t, h.Get("Access-Control-Allow-Methods"), "POST")
	require.Equal(t, "true", h.Get("Access-Control-Allow-Private-Network"))
	require.Empty(t, h.Get("Access-Control-Allow-Credentials"))

	status, _, h = ask(t, "POST", url+"/decode", body(), "Origin", page, "X-Namespace", "memory")
	require.Equal(t, http.StatusOK, status)
	require.Equal(t, []string{page, "Origin", "no-store"}, []string{h.Get("Access-Control-Allow-Origin"), h.Get("Vary"), h.Get("Cache-Control")})
	status, _, _ = ask(t, "POST", url+"/decode", body())
	require.Equal(t, http.StatusOK, status, "a program that is no browser")

	for _, other := range []string{"https://evil.example", "http://temporal.example.com", page + ":8080", page + ".evil.example", "null", "*", "HTTPS://TEMPORAL.EXAMPLE.COM"} {
		for _, method := range []string{"OPTIONS", "POST"} {
			status, _, h := ask(t, method, url+"/decode", body(), "Origin", other)
			require.Equal(t, http.StatusForbidden, status, other)
			require.Empty(t, h.Get("Access-Control-Allow-Origin"))
		}
	}
	for _, site := range []string{"cross-site", "same-site", "same-origin"} {
		status, _, _ := ask(t, "POST", url+"/decode", body(), "Sec-Fetch-Site", site)
		require.Equal(t, http.StatusForbidden, status, site)
	}
	status, _, _ = ask(t, "OPTIONS", url+"/decode", nil)
	require.Equal(t, http.StatusForbidden, status)
}

func TestHandlerRefuses(t *testing.T) {
	t.Parallel()
	url := codecServer(t, ringOf(t, "k1 "+keyOf(1)), func(h string) bool { return h == "Bearer sesame" })
	right := []string{"Authorization", "Bearer sesame"}
	for _, c := range []struct {
		method, path, body string
		headers            []string
		want               int
	}{
		{"POST", "/decode", "{}", right, http.StatusOK},
		{"POST", "/decode", "{}", nil, http.StatusUnauthorized},
		{"POST", "/encode", "{}", []string{"Authorization", "Bearer simsim"}, http.StatusUnauthorized},
		{"POST", "/decode", "{}", []string{"Origin", page}, http.StatusUnauthorized},
		{"OPTIONS", "/decode", "", []string{"Origin", page}, http.StatusNoContent},
		{"POST", "/decode", "{}", append([]string{"X-Namespace", "other"}, right...), http.StatusForbidden},
		{"POST", "/decode", "{", right, http.StatusBadRequest},
		{"POST", "/decode", `{"payloads":[{"metadata":{"encoding":"YmluYXJ5L2VuY3J5cHRlZA=="},"data":"AAAA"}]}`, right, http.StatusBadRequest},
		{"POST", "/keys", "{}", right, http.StatusNotFound},
		{"GET", "/decode", "", right, http.StatusNotFound},
	} {
		status, text, _ := ask(t, c.method, url+c.path, strings.NewReader(c.body), c.headers...)
		require.Equal(t, c.want, status, "%v: %s", c, text)
		require.NotContains(t, text, "sesame")
		require.NotContains(t, text, keyOf(1)[:10])
	}
	status, _, _ := ask(t, "POST", url+"/decode", bytes.NewReader(make([]byte, 8<<20+1)), right...)
	require.Equal(t, http.StatusRequestEntityTooLarge, status)
}

func TestOrigin(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		"http://127.0.0.1:8233":                   "http://127.0.0.1:8233",
		"https://Temporal.Example.com/namespaces": "https://temporal.example.com",
		"https://a:443/":                          "https://a",
		"http://a:80":                             "http://a",
		"http://a:443":                            "http://a:443",
		"http://[::1]:8233/x?y#z":                 "http://[::1]:8233",
		"https://[::1]":                           "https://[::1]",
	} {
		got, err := payload.Origin(given)
		require.NoError(t, err, given)
		require.Equal(t, want, got, given)
	}
	for _, given := range []string{"", "*", "null", "127.0.0.1:8233", "a.example", "ftp://a", "http://", "http://u:p@a", "http://%zz"} {
		_, err := payload.Origin(given)
		require.Error(t, err, given)
	}
}
