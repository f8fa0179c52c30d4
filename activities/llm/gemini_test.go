package llm

import (
	"context"
	"encoding/json"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"axiommind/activities/llm/gemini/sdk"
	"axiommind/schema"
)

const testKey = "secret-key-0123456789"

// wire is a server that speaks a provider's protocol: it answers every request with one status, some headers and one
// body, and records the request.
type wire struct {
	*httptest.Server
	calls  atomic.Int32
	method string
	url    string
	header http.Header
	sent   map[string]any
}

func serve(t *testing.T, status int, header map[string]string, body string) *wire {
	t.Helper()
	w := &wire{}
	w.Server = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.calls.Add(1)
		w.method, w.url, w.header = r.Method, r.URL.String(), r.Header.Clone()
		data, _ := io.ReadAll(r.Body)
		w.sent = nil
		_ = json.Unmarshal(data, &w.sent)
		rw.Header().Set("Content-Type", "application/json")
		for k, v := range header {
			rw.Header().Set(k, v)
		}
		rw.WriteHeader(status)
		_, _ = io.WriteString(rw, body)
	}))
	t.Cleanup(w.Close)
	return w
}

func geminiAt(t *testing.T, url string) Model {
	t.Helper()
	m, err := NewModel(t.Context(), Config{
		Provider: ProviderGemini, Model: "gemini-test", APIKey: testKey, BaseURL: url,
		Prices: Prices{InputPerMillion: 1, OutputPerMillion: 10}, Gemini: sdk.New,
	})
	require.NoError(t, err)
	return m
}

func testWindow() []schema.Message {
	return []schema.Message{{Index: 7, Role: schema.RoleUser, Kind: schema.KindText, Text: "We decided to use Go."}}
}

const geminiUsage = `"usageMetadata":{"promptTokenCount":100,"candidatesTokenCount":20,"thoughtsTokenCount":30,"totalTokenCount":150}`

func TestGeminiAnswers(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		body   string
		text   string
		finish FinishReason
		reason string
	}{
		"text": {
			`{"candidates":[{"content":{"role":"model","parts":[{"text":"{\"entries\":[]}"}]},"finishReason":"STOP","index":0}],` + geminiUsage + `,"modelVersion":"gemini-test"}`,
			`{"entries":[]}`, FinishStop, "STOP",
		},
		"parts are joined": {
			`{"candidates":[{"content":{"parts":[{"text":"{\"ent"},{"text":"ries\":[]}"}]},"finishReason":"STOP"}],` + geminiUsage + `}`,
			`{"entries":[]}`, FinishStop, "STOP",
		},
		"thoughts are left out": {
			`{"candidates":[{"content":{"parts":[{"thought":true,"text":"hmm {}"},{"thought":true,"thoughtSignature":"QUJD"},{"text":"yes"},{"thoughtSignature":"QUJD"}]},"finishReason":"STOP"}],` + geminiUsage + `}`,
			"yes", FinishStop, "STOP",
		},
		"unknown finish reason": {
			`{"candidates":[{"content":{"parts":[{"text":"yes"}]},"finishReason":"MOON_PHASE"}],` + geminiUsage + `}`,
			"yes", FinishUnknown, "MOON_PHASE",
		},
		"token limit with text": {
			`{"candidates":[{"content":{"parts":[{"text":"{\"entries\":["}]},"finishReason":"MAX_TOKENS"}],` + geminiUsage + `}`,
			`{"entries":[`, FinishLength, "MAX_TOKENS",
		},
		"unknown kind of part": {
			`{"candidates":[{"content":{"parts":[{"videoMetadata":{"startOffset":"1s"}},{"text":"yes"}]},"finishReason":"STOP","groundingMetadata":{"x":1}}],` + geminiUsage + `}`,
			"yes", FinishStop, "STOP",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := serve(t, 200, nil, tc.body)
			resp, err := geminiAt(t, w.URL).Generate(t.Context(), ExtractionRequest(testWindow(), Params{}))
			require.NoError(t, err)
			require.Equal(t, tc.text, resp.Text)
			require.Equal(t, tc.finish, resp.FinishReason)
			require.Equal(t, tc.reason, resp.ProviderFinish)
			require.Equal(t, Usage{InputTokens: 100, OutputTokens: 20, ThoughtTokens: 30}, resp.Usage)
			require.InDelta(t, 0.0006, *resp.CostUSD, 1e-12)
			require.Equal(t, tc.body, string(resp.Raw))

			again, err := ReadRaw(ProviderGemini, resp.Raw)
			require.NoError(t, err)
			require.Nil(t, again.CostUSD)
			again.CostUSD = resp.CostUSD
			require.Equal(t, resp, again)
		})
	}
}

func TestGeminiRequest(t *testing.T) {
	t.Parallel()
	w := serve(t, 200, nil, `{"candidates":[{"content":{"parts":[{"text":"x"}]},"finishReason":"STOP"}]}`)
	temperature := 0.25
	_, err := geminiAt(t, w.URL+"/proxy/").Generate(t.Context(),
		ExtractionRequest(testWindow(), Params{Temperature: &temperature, MaxOutputTokens: 512}))
	require.NoError(t, err)
	require.Equal(t, http.MethodPost, w.method)
	require.Equal(t, "/proxy/v1beta/models/gemini-test:generateContent", w.url)
	require.Equal(t, testKey, w.header.Get("x-goog-api-key"))
	require.Empty(t, w.header.Get("Authorization"))

	config := w.sent["generationConfig"].(map[string]any)
	require.InDelta(t, 0.25, config["temperature"], 0)
	require.InDelta(t, 512, config["maxOutputTokens"], 0)
	require.Equal(t, "application/json", config["responseMimeType"])
	entry := config["responseSchema"].(map[string]any)["properties"].(map[string]any)["entries"].(map[string]any)["items"].(map[string]any)
	require.ElementsMatch(t, []any{"entryId", "type", "title", "evidence"}, entry["required"])
	require.ElementsMatch(t, []any{"fact", "decision", "insight", "task_note", "reference"},
		entry["properties"].(map[string]any)["type"].(map[string]any)["enum"])
	prompt, err := json.Marshal(w.sent["contents"])
	require.NoError(t, err)
	require.Contains(t, string(prompt), "We decided to use Go.")
	require.NotEmpty(t, w.sent["systemInstruction"])
}

func TestGeminiFailures(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		status     int
		header     map[string]string
		body       string
		kind       Kind
		code       string
		retryable  bool
		retryAfter time.Duration
		message    string
		raw        bool
	}{
		"429 with Retry-After": {
			status: 429, header: map[string]string{"Retry-After": "17"},
			body: `{"error":{"code":429,"message":"Quota exceeded","status":"RESOURCE_EXHAUSTED"}}`,
			kind: KindRateLimit, code: "RESOURCE_EXHAUSTED", retryable: true, retryAfter: 17 * time.Second, message: "Quota exceeded",
		},
		"429 with RetryInfo": {
			status: 429,
			body:   `{"error":{"code":429,"message":"Quota exceeded","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34.5s"}]}}`,
			kind:   KindRateLimit, code: "RESOURCE_EXHAUSTED", retryable: true, retryAfter: 34500 * time.Millisecond,
		},
		"503": {
			status: 503, body: `{"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}`,
			kind: KindUnavailable, code: "UNAVAILABLE", retryable: true, message: "overloaded",
		},
		"503 without a body anyone can read": {
			status: 503, body: "<html>bad gateway</html>", kind: KindUnavailable, retryable: true, message: "bad gateway",
		},
		"key refused with 400": {
			status: 400, body: `{"error":{"code":400,"message":"API key not valid.","status":"INVALID_ARGUMENT","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID"}]}}`,
			kind: KindAuth, code: "API_KEY_INVALID", message: "GEMINI_API_KEY",
		},
		"403": {
			status: 403, body: `{"error":{"code":403,"message":"denied for ` + testKey + `","status":"PERMISSION_DENIED"}}`,
			kind: KindAuth, code: "PERMISSION_DENIED", message: "GEMINI_API_KEY refused: denied for [key]",
		},
		"404": {
			status: 404, body: `{"error":{"code":404,"message":"models/gemini-test is not found","status":"NOT_FOUND"}}`,
			kind: KindInvalidRequest, code: "NOT_FOUND", message: "gemini-test",
		},
		"redirect": {
			status: 302, header: map[string]string{"Location": "https://elsewhere.invalid/"}, kind: KindInvalidRequest,
		},
		"truncated body": {
			status: 200, body: `{"candidates":[{"content":{"parts":[{"text":"{\"entr`,
			kind: KindMalformed, retryable: true, message: "unreadable body", raw: true,
		},
		"not JSON": {status: 200, body: "<html>", kind: KindMalformed, retryable: true, raw: true},
		"empty object": {
			status: 200, body: "{}", kind: KindMalformed, retryable: true, raw: true, message: "no candidates",
		},
		"blocked prompt": {
			status: 200, body: `{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT","safetyRatings":[]},` + geminiUsage + `}`,
			kind: KindBlocked, code: "PROHIBITED_CONTENT", message: "prompt blocked", raw: true,
		},
		"blocked answer": {
			status: 200, body: `{"candidates":[{"finishReason":"SAFETY","index":0}],` + geminiUsage + `}`,
			kind: KindBlocked, code: "SAFETY", message: "answer blocked", raw: true,
		},
		"MAX_TOKENS without content": {
			status: 200, body: `{"candidates":[{"content":{"role":"model"},"finishReason":"MAX_TOKENS","index":0}],` + geminiUsage + `}`,
			kind: KindTruncated, code: "MAX_TOKENS", message: "after 30 thought tokens", raw: true,
		},
		"thoughts only": {
			status: 200, body: `{"candidates":[{"content":{"parts":[{"thought":true,"thoughtSignature":"QUJD"}]},"finishReason":"STOP"}],` + geminiUsage + `}`,
			kind: KindEmpty, code: "STOP", retryable: true, message: "thoughts only", raw: true,
		},
		"no candidates": {
			status: 200, body: `{` + geminiUsage + `}`, kind: KindEmpty, retryable: true, raw: true,
		},
		"error in a body of 200": {
			status: 200, body: `{"error":{"code":429,"message":"slow down","status":"RESOURCE_EXHAUSTED"}}`,
			kind: KindRateLimit, code: "RESOURCE_EXHAUSTED", retryable: true, raw: true,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := serve(t, tc.status, tc.header, tc.body)
			resp, err := geminiAt(t, w.URL).Generate(t.Context(), Request{Prompt: "hello"})
			var e *Error
			require.ErrorAs(t, err, &e)
			require.Equal(t, tc.kind, e.Kind, err.Error())
			require.Equal(t, tc.kind, KindOf(err))
			require.Equal(t, tc.code, e.Code)
			require.Equal(t, tc.retryable, e.Retryable())
			require.Equal(t, tc.retryAfter, e.RetryAfter)
			require.Contains(t, err.Error(), tc.message)
			require.NotContains(t, err.Error(), testKey)
			require.Equal(t, int32(1), w.calls.Load(), "one attempt")
			require.NotContains(t, w.url, testKey)
			if tc.raw {
				require.Equal(t, tc.body, string(resp.Raw))
			}
		})
	}
}

func TestGeminiConnectionLost(t *testing.T) {
	t.Parallel()
	w := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Length", "1000")
		_, _ = io.WriteString(rw, `{"candidates":[`)
	}))
	_, err := geminiAt(t, w.URL).Generate(t.Context(), Request{Prompt: "hello"})
	require.Equal(t, KindUnavailable, KindOf(err))
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)

	w.Close()
	_, err = geminiAt(t, w.URL).Generate(t.Context(), Request{Prompt: "hello"})
	require.Equal(t, KindUnavailable, KindOf(err))
	require.NotContains(t, err.Error(), testKey)
}

func TestGeminiCancelled(t *testing.T) {
	t.Parallel()
	started := make(chan struct{})
	w := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		close(started)
		<-r.Context().Done()
	}))
	defer w.Close()
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-started
		cancel()
	}()
	_, err := geminiAt(t, w.URL).Generate(ctx, Request{Prompt: "hello"})
	require.ErrorIs(t, err, context.Canceled)
	require.Empty(t, KindOf(err))
}

func TestGeminiEmbedder(t *testing.T) {
	t.Parallel()
	w := serve(t, 200, nil, `{"embeddings":[{"values":[3,4]},{"values":[0,-2]}]}`)
	e, err := NewEmbedder(t.Context(), EmbedderConfig{Provider: ProviderGemini, APIKey: testKey, BaseURL: w.URL, Dimensions: 2})
	require.NoError(t, err)
	require.Equal(t, "gemini-gemini-embedding-001-2", e.Version())

	vectors, err := e.Embed(t.Context(), []string{"one", "two"})
	require.NoError(t, err)
	require.Equal(t, [][]float32{{0.6, 0.8}, {0, -1}}, vectors)
	require.Equal(t, "/v1beta/models/gemini-embedding-001:batchEmbedContents", w.url)
	require.Equal(t, testKey, w.header.Get("x-goog-api-key"))
	requests := w.sent["requests"].([]any)
	require.Len(t, requests, 2)
	require.InDelta(t, 2, requests[0].(map[string]any)["outputDimensionality"], 0)

	_, err = e.Embed(t.Context(), []string{"one"})
	require.Equal(t, KindMalformed, KindOf(err), "two vectors for one text")
	_, err = e.Embed(t.Context(), []string{"one", " "})
	require.Equal(t, KindInvalidRequest, KindOf(err))
	none, err := e.Embed(t.Context(), nil)
	require.NoError(t, err)
	require.Empty(t, none)
}

func TestEmbedderBatches(t *testing.T) {
	t.Parallel()
	w := serve(t, 200, nil, `{"embeddings":[{"values":[1,0]},{"values":[1,0]}]}`)
	e, err := NewEmbedder(t.Context(), EmbedderConfig{
		Provider: ProviderGemini, APIKey: testKey, BaseURL: w.URL, Dimensions: 2, BatchSize: 2,
	})
	require.NoError(t, err)
	vectors, err := e.Embed(t.Context(), []string{"a", "b", "c", "d"})
	require.NoError(t, err)
	require.Len(t, vectors, 4)
	require.Equal(t, int32(2), w.calls.Load())
}

func TestNormalize(t *testing.T) {
	t.Parallel()
	require.False(t, normalize([]float32{0, 0}))
	require.False(t, normalize([]float32{float32(math.NaN())}))
	v := []float32{1e-20, 1e-20}
	require.True(t, normalize(v))
	require.InDelta(t, math.Sqrt(0.5), v[0], 1e-6)
}

func TestGeminiSchemaRefusesWhatItCannotExpress(t *testing.T) {
	t.Parallel()
	w := serve(t, 200, nil, `{}`)
	_, err := geminiAt(t, w.URL).Generate(t.Context(), Request{Prompt: "x", Schema: []byte(`{"anyOf":[]}`)})
	require.Equal(t, KindInvalidRequest, KindOf(err))
	require.Zero(t, w.calls.Load())
	require.True(t, strings.Contains(err.Error(), `has type ""`), err.Error())
}
