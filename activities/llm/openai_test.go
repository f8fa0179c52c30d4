package llm

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"axiommind/schema"
)

func openAIAt(t *testing.T, url, format string) Model {
	t.Helper()
	m, err := NewModel(t.Context(), Config{
		Provider: ProviderOpenAI, Model: "test-model", APIKey: testKey, BaseURL: url, ResponseFormat: format,
	})
	require.NoError(t, err)
	return m
}

const openAIUsage = `"usage":{"prompt_tokens":10,"completion_tokens":50,"total_tokens":60,"completion_tokens_details":{"reasoning_tokens":30}}`

// A server that ends a connection after an answer, without saying so, fails no call.
func TestConnectionThatTheServerClosed(t *testing.T) {
	t.Parallel()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = listener.Close() }()
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			in := bufio.NewReader(conn)
			if req, err := http.ReadRequest(in); err == nil {
				_, _ = io.Copy(io.Discard, req.Body)
				body := `{"choices":[{"message":{"content":"yes"}}]}`
				_, _ = fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
				_, _ = in.Peek(1) // The next request has begun.
			}
			_ = conn.Close()
		}
	}()
	model := openAIAt(t, "http://"+listener.Addr().String()+"/v1", "")
	for range 3 {
		resp, err := model.Generate(t.Context(), ExtractionRequest(testWindow(), Params{}))
		require.NoError(t, err)
		require.Equal(t, "yes", resp.Text)
	}
}

func TestOpenAIAnswers(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		body   string
		text   string
		finish FinishReason
	}{
		"text": {
			`{"id":"c1","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"{\"entries\":[]}"},"finish_reason":"stop"}],` + openAIUsage + `}`,
			`{"entries":[]}`, FinishStop,
		},
		"reasoning is left out": {
			`{"choices":[{"message":{"content":"yes","reasoning_content":"hmm"},"finish_reason":"stop"}],` + openAIUsage + `}`,
			"yes", FinishStop,
		},
		"content in parts": {
			`{"choices":[{"message":{"content":[{"type":"thinking","text":"hmm"},{"type":"text","text":"yes"}]},"finish_reason":"stop"}],` + openAIUsage + `}`,
			"yes", FinishStop,
		},
		"token limit with text": {
			`{"choices":[{"message":{"content":"{"},"finish_reason":"length"}],` + openAIUsage + `}`, "{", FinishLength,
		},
		"token limit, as mistral says": {
			`{"choices":[{"message":{"content":"{}"},"finish_reason":"model_length"}],` + openAIUsage + `}`, "{}", FinishLength,
		},
		"token limit, as anthropic says": {
			`{"choices":[{"message":{"content":"{}"},"finish_reason":"max_tokens"}],` + openAIUsage + `}`, "{}", FinishLength,
		},
		"token limit, as gemini says": {
			`{"choices":[{"message":{"content":"{}"},"finish_reason":"MAX_TOKENS"}],` + openAIUsage + `}`, "{}", FinishLength,
		},
		"in pieces": {
			": a comment\n\ndata: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"reasoning_content\":\"hmm\"},\"finish_reason\":null}]}\n\n" +
				"data: {\"choices\":[{\"delta\":{\"content\":\"{\\\"entries\\\"\"}}]}\r\n\r\ndata: {\"choices\":[{\"delta\":{\"content\":\":[]}\"},\"finish_reason\":\"stop\"}]}\n\n" +
				"data: {\"choices\":[]," + openAIUsage + "}\n\ndata: [DONE]\n\n",
			`{"entries":[]}`, FinishStop,
		},
		"unknown finish reason": {
			`{"choices":[{"message":{"content":"yes"},"finish_reason":"eos_token"}],` + openAIUsage + `}`, "yes", FinishUnknown,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := serve(t, 200, nil, tc.body)
			resp, err := openAIAt(t, w.URL+"/v1", "").Generate(t.Context(), ExtractionRequest(testWindow(), Params{}))
			require.NoError(t, err)
			require.Equal(t, tc.text, resp.Text)
			require.Equal(t, tc.finish, resp.FinishReason)
			require.Equal(t, Usage{InputTokens: 10, OutputTokens: 20, ThoughtTokens: 30}, resp.Usage)
			require.Nil(t, resp.CostUSD, "no prices configured")
			again, err := ReadRaw(ProviderOpenAI, resp.Raw)
			require.NoError(t, err)
			require.Equal(t, resp, again)
		})
	}
}

func TestOpenAIRequest(t *testing.T) {
	t.Parallel()
	tests := map[string]string{FormatSchema: "json_schema", FormatObject: "json_object", FormatNone: ""}
	for format, want := range tests {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			w := serve(t, 200, nil, `{"choices":[{"message":{"content":"x"},"finish_reason":"stop"}]}`)
			temperature := 0.0
			_, err := openAIAt(t, w.URL+"/v1", format).Generate(t.Context(),
				ExtractionRequest(testWindow(), Params{Temperature: &temperature, MaxOutputTokens: 99}))
			require.NoError(t, err)
			require.Equal(t, "/v1/chat/completions", w.url)
			require.Equal(t, "Bearer "+testKey, w.header.Get("Authorization"))
			require.Equal(t, "test-model", w.sent["model"])
			require.InDelta(t, 0, w.sent["temperature"], 0)
			require.Contains(t, w.sent, "temperature")
			require.InDelta(t, 99, w.sent["max_tokens"], 0)
			require.NotContains(t, w.sent, "max_completion_tokens", "only OpenAI itself knows it")
			require.Equal(t, true, w.sent["stream"], "so that a slow answer is seen to come")
			messages := w.sent["messages"].([]any)
			require.Len(t, messages, 2)
			require.Equal(t, "system", messages[0].(map[string]any)["role"])
			if want == "" {
				require.NotContains(t, w.sent, "response_format")
				return
			}
			sent := w.sent["response_format"].(map[string]any)
			require.Equal(t, want, sent["type"])
			if want == "json_schema" {
				inner := sent["json_schema"].(map[string]any)
				require.Equal(t, "object", inner["schema"].(map[string]any)["type"])
			}
		})
	}
}

func TestOpenAIFailures(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		status     int
		header     map[string]string
		body       string
		kind       Kind
		retryable  bool
		retryAfter time.Duration
		message    string
	}{
		"429": {
			status: 429, header: map[string]string{"Retry-After-Ms": "1500", "Retry-After": "2"},
			body: `{"error":{"message":"Rate limit reached","type":"requests","code":"rate_limit_exceeded"}}`,
			kind: KindRateLimit, retryable: true, retryAfter: 1500 * time.Millisecond, message: "rate_limit_exceeded",
		},
		"429 with a date": {
			status: 429,
			header: map[string]string{"Date": "Fri, 20 Nov 2026 10:00:00 GMT", "Retry-After": "Fri, 20 Nov 2026 10:00:20 GMT"},
			kind:   KindRateLimit, retryable: true, retryAfter: 20 * time.Second,
		},
		"no credit": {
			status: 429, body: `{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":"insufficient_quota"}}`,
			kind: KindQuota, message: "exceeded your current quota",
		},
		"503": {status: 503, body: `{"error":"loading model"}`, kind: KindUnavailable, retryable: true, message: "loading model"},
		"401": {
			status: 401, body: `{"error":{"message":"Incorrect API key provided: ` + testKey + `","type":"invalid_request_error","code":"invalid_api_key"}}`,
			kind: KindAuth, message: "key in OPENAI_API_KEY refused: Incorrect API key provided: [key]",
		},
		"404": {
			status: 404, body: `{"error":{"message":"model \"test-model\" not found, try pulling it first"}}`,
			kind: KindInvalidRequest, message: "try pulling it first",
		},
		"truncated body": {status: 200, body: `{"choices":[{"mess`, kind: KindMalformed, retryable: true},
		"no choices":     {status: 200, body: `{"choices":[]}`, kind: KindMalformed, retryable: true},
		"content filter": {
			status: 200, body: `{"choices":[{"message":{"content":""},"finish_reason":"content_filter"}]}`, kind: KindBlocked,
		},
		"refusal": {
			status: 200, body: `{"choices":[{"message":{"content":null,"refusal":"I can't help with that."},"finish_reason":"stop"}]}`,
			kind: KindBlocked, message: "I can't help",
		},
		"length without content": {
			status: 200, body: `{"choices":[{"message":{"content":""},"finish_reason":"length"}],` + openAIUsage + `}`,
			kind: KindTruncated, message: "after 30 thought tokens",
		},
		"reasoning only": {
			status: 200, body: `{"choices":[{"message":{"content":null,"reasoning":"hmm"},"finish_reason":"stop"}]}`,
			kind: KindEmpty, retryable: true, message: "thoughts only",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := serve(t, tc.status, tc.header, tc.body)
			_, err := openAIAt(t, w.URL, "").Generate(t.Context(), Request{Prompt: "hello"})
			var e *Error
			require.ErrorAs(t, err, &e)
			require.Equal(t, tc.kind, e.Kind, err.Error())
			require.Equal(t, tc.retryable, e.Retryable())
			require.Equal(t, tc.retryAfter, e.RetryAfter)
			require.Contains(t, err.Error(), tc.message)
			require.NotContains(t, err.Error(), testKey)
			require.Equal(t, int32(1), w.calls.Load(), "one attempt")
		})
	}
}

func TestOpenAIReadsNoEnvironment(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "from-the-environment")
	t.Setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/")
	t.Setenv("OPENAI_ORG_ID", "org")
	w := serve(t, 200, nil, `{"choices":[{"message":{"content":"x"},"finish_reason":"stop"}]}`)
	m, err := NewModel(t.Context(), Config{Provider: ProviderOpenAI, BaseURL: w.URL})
	require.NoError(t, err)
	_, err = m.Generate(t.Context(), Request{Prompt: "hello"})
	require.NoError(t, err)
	require.Empty(t, w.header.Get("Authorization"))
	require.Empty(t, w.header.Get("OpenAI-Organization"))
}

func TestOpenAIServerThatWantsAKey(t *testing.T) {
	t.Parallel()
	w := serve(t, http.StatusUnauthorized, nil, `{"error":"unauthorized"}`)
	m, err := NewModel(t.Context(), Config{Provider: ProviderOpenAI, BaseURL: w.URL, KeyVariable: "VLLM_KEY"})
	require.NoError(t, err)
	_, err = m.Generate(t.Context(), Request{Prompt: "hello"})
	require.Equal(t, KindAuth, KindOf(err))
	require.ErrorContains(t, err, "VLLM_KEY is not set")
}

func TestOpenAIEmbedder(t *testing.T) {
	t.Parallel()
	w := serve(t, 200, nil, `{"data":[{"index":1,"embedding":[0,2]},{"index":0,"embedding":[3,4]}],"model":"m"}`)
	e, err := NewEmbedder(t.Context(), EmbedderConfig{
		Provider: ProviderOpenAI, Model: "BAAI/bge-m3", BaseURL: w.URL + "/v1", Dimensions: 2,
	})
	require.NoError(t, err)
	require.Regexp(t, `^openai-baai-bge-m3-[0-9a-f]{8}-2$`, e.Version())
	vectors, err := e.Embed(t.Context(), []string{"first", "second"})
	require.NoError(t, err)
	require.Equal(t, [][]float32{{0.6, 0.8}, {0, 1}}, vectors)
	require.Equal(t, "/v1/embeddings", w.url)
	require.Equal(t, "float", w.sent["encoding_format"])
	require.Equal(t, []any{"first", "second"}, w.sent["input"])
	require.NotContains(t, w.sent, "dimensions")
}

func TestOpenAIEmbedderRefusesWrongAnswers(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		body string
		kind Kind
	}{
		"too few":          {`{"data":[{"index":0,"embedding":[1,0]}]}`, KindMalformed},
		"index twice":      {`{"data":[{"index":0,"embedding":[1,0]},{"index":0,"embedding":[1,0]}]}`, KindMalformed},
		"index too large":  {`{"data":[{"index":0,"embedding":[1,0]},{"index":2,"embedding":[1,0]}]}`, KindMalformed},
		"other dimensions": {`{"data":[{"index":0,"embedding":[1,0,0]},{"index":1,"embedding":[1,0,0]}]}`, KindInvalidRequest},
		"no direction":     {`{"data":[{"index":0,"embedding":[0,0]},{"index":1,"embedding":[1,0]}]}`, KindMalformed},
		"broken":           {`{"data":[`, KindMalformed},
		"error":            {`{"error":{"message":"no"}}`, KindUnavailable},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := serve(t, 200, nil, tc.body)
			e, err := NewEmbedder(t.Context(), EmbedderConfig{Provider: ProviderOpenAI, Model: "m", BaseURL: w.URL, Dimensions: 2})
			require.NoError(t, err)
			_, err = e.Embed(t.Context(), []string{"first", "second"})
			require.Equal(t, tc.kind, KindOf(err))
		})
	}
}

// A server that is not OpenAI's bounds each list and text of an answer, with the fields in the order of the schema.
func TestBoundedSchema(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		`{"type":"object","properties":{"type":{"type":"string","enum":["a"]},"b":{"minLength":1,"type":"string"},"a":{"type":"array","items":{"type":"integer"}}}}`: `{"type":"object","properties":{"type":{"type":"string","enum":["a"]},"b":{"minLength":1,"type":"string","maxLength":1000},"a":{"type":"array","items":{"type":"integer"},"maxItems":30}}}`,
		`{"type":"string","maxLength":16384}`:        `{"type":"string","maxLength":1000}`,
		`{"maxItems":3,"type":"array"}`:              `{"maxItems":3,"type":"array"}`,
		`{"required":["a","b"],"x":{},"y":[],"z":1}`: `{"required":["a","b"],"x":{},"y":[],"z":1}`,
	} {
		require.Equal(t, want, string(bounded([]byte(given))))
	}
	bound := string(bounded(schema.ExtractionSchema))
	require.True(t, json.Valid([]byte(bound)))
	require.Less(t, strings.Index(bound, `"title":{`), strings.Index(bound, `"evidence":{`))
	require.Equal(t, 3, strings.Count(bound, `"maxItems":30`))
}

// An answer in pieces that breaks off, or that reports a failure, is no answer.
func TestOpenAIBrokenStreams(t *testing.T) {
	t.Parallel()
	for body, kind := range map[string]Kind{
		"data: {\"choices\":[{\"delta\":{\"content\":\"{\"}}]}\n\n": KindMalformed,
		"data: {\n\n":               KindMalformed,
		"data: [DONE]\n\n":          KindMalformed,
		"event: ping\ndata: {}\n\n": KindMalformed,
		"data: {\"choices\":[{\"delta\":{\"content\":\"{\"}}]}\n\ndata: {\"error\":{\"message\":\"context length\",\"code\":\"context_length_exceeded\"}}\n\n": KindTooLong,
	} {
		_, err := openAIAt(t, serve(t, 200, nil, body).URL+"/v1", "").Generate(t.Context(), ExtractionRequest(testWindow(), Params{}))
		e, ok := errors.AsType[*Error](err)
		require.True(t, ok, "%q: %v", body, err)
		require.Equal(t, kind, e.Kind, "%q: %v", body, err)
	}
}

// A model may take longer than the patience for its answer, but not for one piece of it.
func TestPatience(t *testing.T) {
	t.Parallel()
	const patience = 2 * time.Second
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // Until then the server does not see that its client has left.
		if r.URL.Path == "/silent/chat/completions" {
			<-r.Context().Done()
			return
		}
		pieces := time.NewTicker(patience / 4)
		defer pieces.Stop()
		for range 6 {
			<-pieces.C
			_, _ = io.WriteString(w, "data: {\"choices\":[{\"delta\":{\"content\":\" \"}}]}\n\n")
			w.(http.Flusher).Flush()
		}
		_, _ = io.WriteString(w, "data: {\"choices\":[{\"delta\":{\"content\":\"{}\"},\"finish_reason\":\"stop\"}]}\n\n")
	}))
	t.Cleanup(server.Close)
	ask := func(path string) error {
		m, err := NewModel(t.Context(), Config{Provider: ProviderOpenAI, Model: "m", BaseURL: server.URL + path, Patience: patience})
		require.NoError(t, err)
		_, err = m.Generate(t.Context(), ExtractionRequest(testWindow(), Params{}))
		return err
	}
	require.NoError(t, ask("/slow"))
	err := ask("/silent")
	e, ok := errors.AsType[*Error](err)
	require.True(t, ok, err)
	require.True(t, e.Retryable())
	require.ErrorContains(t, err, "the server sent nothing for 2s")
	require.ErrorContains(t, err, "--model-patience")
	_, err = NewModel(t.Context(), Config{Provider: ProviderOpenAI, Model: "m", BaseURL: server.URL, Patience: -1})
	require.ErrorIs(t, err, ErrConfig)
}
