package llm

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"axiommind/activities/llm/gemini/sdk"
	"axiommind/schema"
)

// answered is an answer of a server and the activity failure that it becomes.
type answered struct {
	name   string
	status int
	body   string
	kind   Kind
	// failureType follows from the kind, class from the type.
	failureType string
	class       schema.FailureClass
	retryable   bool
}

func tooLongFor(name string, status int, body string) answered {
	return answered{name, status, body, KindTooLong, schema.ErrorModelTooLong, schema.FailureInput, false}
}

func passing(name string, status int, body string, kind Kind, failureType string) answered {
	return answered{name, status, body, kind, failureType, schema.FailurePassing, true}
}

func setup(name string, status int, body string, kind Kind) answered {
	return answered{name, status, body, kind, schema.ErrorModelRefused, schema.FailureSetup, false}
}

func blocked(name string, status int, body string) answered {
	return answered{name, status, body, KindBlocked, schema.ErrorModelBlocked, schema.FailureInput, false}
}

// statusTable has real answers of servers. Both providers read all of them, because proxies of each answer for the
// other.
var statusTable = []answered{
	passing("rate", 429, `{"error":{"message":"Rate limit reached for requests","type":"requests","code":"rate_limit_exceeded"}}`,
		KindRateLimit, schema.ErrorModelRateLimited),
	passing("rate of gemini", 429, `{"error":{"code":429,"message":"Resource has been exhausted","status":"RESOURCE_EXHAUSTED"}}`,
		KindRateLimit, schema.ErrorModelRateLimited),
	passing("rate without a body", 429, ``, KindRateLimit, schema.ErrorModelRateLimited),
	passing("rate in another status", 400, `{"error":{"type":"rate_limit_error","message":"slow down"}}`, KindRateLimit, schema.ErrorModelRateLimited),
	passing("request timeout", 408, ``, KindUnavailable, schema.ErrorModelUnavailable),
	passing("conflict", 409, `{}`, KindUnavailable, schema.ErrorModelUnavailable),
	passing("too early", 425, ``, KindUnavailable, schema.ErrorModelUnavailable),
	passing("internal", 500, `{"error":{"code":500,"message":"An internal error has occurred","status":"INTERNAL"}}`, KindUnavailable, schema.ErrorModelUnavailable),
	passing("bad gateway", 502, `<html><h1>502 Bad Gateway</h1></html>`, KindUnavailable, schema.ErrorModelUnavailable),
	passing("unavailable", 503, `{"error":{"code":503,"message":"The model is overloaded","status":"UNAVAILABLE"}}`, KindUnavailable, schema.ErrorModelUnavailable),
	passing("gateway timeout", 504, `upstream request timeout`, KindUnavailable, schema.ErrorModelUnavailable),
	passing("cloudflare", 522, ``, KindUnavailable, schema.ErrorModelUnavailable),
	passing("overloaded", 529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, KindUnavailable, schema.ErrorModelUnavailable),
	passing("overloaded with status 200", 200, `{"error":{"type":"overloaded_error","message":"Overloaded"}}`, KindUnavailable, schema.ErrorModelUnavailable),
	passing("page of a proxy", 200, `<!doctype html><title>Sign in</title>`, KindMalformed, schema.ErrorModelMalformed),
	passing("half a body", 200, `{"choices":[{"mess`, KindMalformed, schema.ErrorModelMalformed),
	passing("no body", 200, ``, KindMalformed, schema.ErrorModelMalformed),
	passing("another body", 200, `{"status":"ok"}`, KindMalformed, schema.ErrorModelMalformed),

	setup("key", 401, `{"error":{"message":"Incorrect API key provided","type":"invalid_request_error","code":"invalid_api_key"}}`, KindAuth),
	setup("key of gemini", 400, `{"error":{"code":400,"message":"API key not valid.","status":"INVALID_ARGUMENT","details":[{"reason":"API_KEY_INVALID"}]}}`, KindAuth),
	setup("right", 403, `{"error":{"code":403,"message":"Permission denied on resource project","status":"PERMISSION_DENIED"}}`, KindAuth),
	setup("credit", 402, `{"error":{"message":"Insufficient credits"}}`, KindQuota),
	setup("quota", 429, `{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":"insufficient_quota"}}`, KindQuota),
	setup("model", 404, `{"error":{"message":"The model does not exist","type":"invalid_request_error","code":"model_not_found"}}`, KindInvalidRequest),
	setup("model of gemini", 404, `{"error":{"code":404,"message":"models/x is not found for API version v1beta","status":"NOT_FOUND"}}`, KindInvalidRequest),
	setup("parameter", 400, `{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model.","code":"unsupported_parameter"}}`, KindInvalidRequest),
	setup("answer too long", 400, `{"error":{"message":"max_tokens is too large: 100000. This model supports at most 16384 completion tokens."}}`, KindInvalidRequest),
	setup("method", 405, ``, KindInvalidRequest),

	blocked("filter", 400, `{"error":{"message":"The response was filtered due to the prompt triggering content management policy","code":"content_filter"}}`),
	blocked("policy", 400, `{"error":{"message":"Your request was rejected","code":"content_policy_violation"}}`),

	tooLongFor("openai", 400, `{"error":{"message":"This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`),
	tooLongFor("code alone", 400, `{"error":{"message":"no","code":"context_length_exceeded"}}`),
	tooLongFor("openai, of a string", 400, `{"error":{"message":"Invalid 'messages[1].content': string too long.","code":"string_above_max_length"}}`),
	tooLongFor("openai, of a minute", 429, `{"error":{"message":"Request too large for gpt-4 in organization o on tokens per min (TPM): Limit 10000, Requested 12000.","type":"tokens","code":"rate_limit_exceeded"}}`),
	tooLongFor("gemini", 400, `{"error":{"code":400,"message":"The input token count (1050000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}`),
	tooLongFor("gemini, of bytes", 400, `{"error":{"code":400,"message":"Request payload size exceeds the limit: 20971520 bytes.","status":"INVALID_ARGUMENT"}}`),
	tooLongFor("anthropic", 400, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}`),
	tooLongFor("anthropic, of bytes", 413, `{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}`),
	tooLongFor("nginx", 413, `<html><h1>413 Request Entity Too Large</h1></html>`),
	tooLongFor("vllm", 400, `{"object":"error","message":"This model's maximum context length is 4096 tokens. However, you requested 5000 tokens. Please reduce the length of the messages or completion.","type":"BadRequestError","code":400}`),
	tooLongFor("llama.cpp", 400, `{"error":{"code":400,"message":"the request exceeds the available context size. try increasing the context size or enable context shift","type":"exceed_context_size_error"}}`),
	tooLongFor("llama.cpp, older", 500, `{"error":{"code":500,"message":"the request exceeds the available context size","type":"server_error"}}`),
	tooLongFor("lm studio", 400, `{"error":"Trying to keep the first 5000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens"}`),
	tooLongFor("tgi", 422, `{"error":"Input validation error: `+"`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens and 100 `max_new_tokens`"+`","error_type":"validation"}`),
	tooLongFor("tgi, older", 422, `{"error":"Input validation error: `+"`inputs` must have less than 4096 tokens. Given: 5000"+`","error_type":"validation"}`),
	tooLongFor("mistral", 400, `{"object":"error","message":"Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length","type":"invalid_request_error"}`),
	tooLongFor("bedrock", 400, `{"message":"Input is too long for requested model."}`),
	tooLongFor("groq", 400, `{"error":{"message":"Please reduce the length of the messages or completion.","type":"invalid_request_error","code":"context_length_exceeded"}}`),
	tooLongFor("openrouter", 400, `{"error":{"message":"This endpoint's maximum context length is 8192 tokens. However, you requested about 9000 tokens.","code":400}}`),
	tooLongFor("ollama", 400, `{"error":{"message":"input length exceeds maximum context length","type":"invalid_request_error"}}`),
	tooLongFor("text", 400, `prompt is too long`),
	tooLongFor("with status 200", 200, `{"error":{"code":400,"message":"This model's maximum context length is 8192 tokens."}}`),
}

// Each answer of a server becomes one kind of failure, whichever provider reads it, with a class that names the remedy.
// A question that is too long is never sent again.
func TestStatusTable(t *testing.T) {
	t.Parallel()
	for _, provider := range []string{ProviderGemini, ProviderOpenAI} {
		for _, tt := range statusTable {
			t.Run(provider+" "+tt.name, func(t *testing.T) {
				t.Parallel()
				w := serve(t, tt.status, map[string]string{"Retry-After": "7"}, tt.body)
				m, err := NewModel(t.Context(), Config{Provider: provider, Model: "m", APIKey: testKey, BaseURL: w.URL, Gemini: sdk.New})
				require.NoError(t, err)
				_, err = m.Generate(t.Context(), ExtractionRequest(testWindow(), Params{}))
				var e *Error
				require.ErrorAs(t, err, &e)
				require.Equal(t, tt.kind, e.Kind, "%v", err)
				require.Equal(t, tt.failureType, e.FailureType())
				require.Equal(t, tt.class, schema.ClassOf(e.FailureType()))
				require.Equal(t, tt.retryable, e.Retryable())
				require.Equal(t, tt.kind == KindTooLong || tt.kind == KindBlocked, e.OfInput())
				require.EqualValues(t, 1, w.calls.Load())
				if tt.kind == KindRateLimit {
					require.Equal(t, 7*time.Second, e.RetryDelay())
				}
			})
		}
	}
}

// A server that is not there, hangs up or is too slow may be there later.
func TestConnectionFailures(t *testing.T) {
	t.Parallel()
	hangUp := func(rw http.ResponseWriter, _ *http.Request) {
		connection, _, err := rw.(http.Hijacker).Hijack()
		if err == nil {
			_ = connection.(*net.TCPConn).SetLinger(0) // Resets it.
			_ = connection.Close()
		}
	}
	slow := func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // Before that, a server does not notice who is gone.
		<-r.Context().Done()
	}
	for _, provider := range []string{ProviderGemini, ProviderOpenAI} {
		for name, handler := range map[string]http.HandlerFunc{"refused": nil, "reset": hangUp, "too slow": slow} {
			t.Run(provider+" "+name, func(t *testing.T) {
				t.Parallel()
				server := httptest.NewServer(handler)
				defer server.Close()
				if handler == nil {
					server.Close()
				}
				m, err := NewModel(t.Context(), Config{Provider: provider, Model: "m", APIKey: testKey, BaseURL: server.URL, Gemini: sdk.New})
				require.NoError(t, err)
				timeout := time.Minute
				if name == "too slow" {
					timeout = 50 * time.Millisecond
				}
				ctx, cancel := context.WithTimeout(t.Context(), timeout)
				defer cancel()
				_, err = m.Generate(ctx, Request{Prompt: "hello"})
				var e *Error
				require.ErrorAs(t, err, &e)
				require.Equal(t, KindUnavailable, e.Kind)
				require.Equal(t, schema.FailurePassing, schema.ClassOf(e.FailureType()))
				require.True(t, e.Retryable())
			})
		}
	}
}

// A pause that a provider asks for is kept if it is short. A long one ends the call without waiting, and the failure is
// still a passing one.
func TestImpatient(t *testing.T) {
	t.Parallel()
	wait := func(after time.Duration) error {
		return impatient(fmt.Errorf("ask: %w", &Error{Kind: KindRateLimit, RetryAfter: after}))
	}
	type failure interface {
		Retryable() bool
		FailureType() string
	}
	for after, waits := range map[time.Duration]bool{0: true, time.Second: true, maxWait: true, maxWait + 1: false, 8 * time.Hour: false} {
		var f failure
		require.ErrorAs(t, wait(after), &f)
		require.Equal(t, waits, f.Retryable(), after)
		require.Equal(t, schema.ErrorModelRateLimited, f.FailureType())
		require.Equal(t, KindRateLimit, KindOf(wait(after)))
	}
	require.ErrorContains(t, wait(8*time.Hour), "retry after 8h0m0s")
	require.Equal(t, maxWait, (&Error{RetryAfter: 8 * time.Hour}).RetryDelay())
	require.NoError(t, impatient(nil))
}

// Whatever a server sends as an error is read, and kept short.
func FuzzErrorFromBody(f *testing.F) {
	for _, tt := range statusTable {
		f.Add(tt.status, tt.body)
	}
	f.Fuzz(func(t *testing.T, status int, body string) {
		e := errorFromBody(ProviderOpenAI, status, []byte(body))
		if e.Kind == "" || e.Kind == KindTruncated || e.Kind == KindEmpty {
			t.Fatalf("an error of kind %q", e.Kind)
		}
		if len(e.Message) > maxMessage+len("…") || !utf8.ValidString(e.Message) {
			t.Fatalf("a message of %d bytes: %q", len(e.Message), e.Message)
		}
		if e.RetryDelay() < 0 || e.RetryDelay() > maxWait {
			t.Fatalf("a delay of %s", e.RetryDelay())
		}
	})
}
