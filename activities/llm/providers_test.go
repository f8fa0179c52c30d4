package llm

import (
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"axiommind/activities/llm/gemini/sdk"
	"axiommind/deploy/local/stacktest"
)

// wireCase is a provider's side of the wire, for [TestProviders]. A new provider needs one.
type wireCase struct {
	// answer is the body of an answer whose text is {"entries":[]}, with some usage, and noAnswer one that the
	// protocol allows and that holds no text.
	answer, noAnswer string
	// vectors is the body of the vectors (3, 4) and (0, 2) of two texts.
	vectors string
	// model and embedder say where the requests go, under the base URL.
	model, embedder string
}

var wireCases = map[string]wireCase{
	ProviderGemini: {
		answer:   `{"candidates":[{"content":{"parts":[{"text":"{\"entries\":[]}"}]},"finishReason":"STOP"}],` + geminiUsage + `}`,
		noAnswer: `{"candidates":[{"content":{"parts":[]},"finishReason":"STOP"}]}`,
		vectors:  `{"embeddings":[{"values":[3,4]},{"values":[0,2]}]}`,
		model:    "/v1beta/models/m:generateContent", embedder: "/v1beta/models/m:batchEmbedContents",
	},
	ProviderOpenAI: {
		answer:   `{"choices":[{"message":{"content":"{\"entries\":[]}"},"finish_reason":"stop"}],` + openAIUsage + `}`,
		noAnswer: `{"choices":[{"message":{"content":""},"finish_reason":"stop"}]}`,
		vectors:  `{"data":[{"index":1,"embedding":[0,2]},{"index":0,"embedding":[3,4]}]}`,
		model:    "/chat/completions", embedder: "/embeddings",
	},
}

// Every registered provider keeps the promises of [Model] and [Embedder].
func TestProviders(t *testing.T) {
	t.Parallel()
	for _, p := range providers {
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			require.True(t, p.model() || p.embedder(), "provider %q has neither a model nor an embedder", p.Name)
			if p.KeyVariable == "" {
				testOffline(t, p)
				return
			}
			c, ok := wireCases[p.Name]
			require.True(t, ok, "provider %q has no case in wireCases: say what its server answers", p.Name)
			if p.model() {
				testModel(t, p, c)
			}
			if p.embedder() {
				testEmbedder(t, p, c)
			}
		})
	}
}

// testOffline checks a provider that needs no key and no server.
func testOffline(t *testing.T, p Provider) {
	t.Helper()
	if p.model() {
		m, err := NewModel(t.Context(), Config{Provider: p.Name})
		require.NoError(t, err)
		require.Equal(t, ModelIdentity{p.Name, p.Model.Default}, m.Identity())
		resp, err := m.Generate(t.Context(), ExtractionRequest(testWindow(), Params{}))
		require.NoError(t, err)
		again, err := ReadRaw(p.Name, resp.Raw)
		require.NoError(t, err)
		require.Equal(t, resp, again)
	}
	if p.embedder() {
		if p.Name == ProviderLocal {
			stacktest.Embedder(t)
		}
		e, err := NewEmbedder(t.Context(), EmbedderConfig{Provider: p.Name})
		require.NoError(t, err)
		checkVectors(t, p, e, []string{"one text", "another text"})
	}
}

func testModel(t *testing.T, p Provider, c wireCase) {
	t.Helper()
	at := func(url, key string) (Model, error) {
		return NewModel(t.Context(), Config{Provider: p.Name, Model: "m", APIKey: key, BaseURL: url, Gemini: sdk.New})
	}
	_, err := NewModel(t.Context(), Config{Provider: p.Name})
	require.Equal(t, KindAuth, KindOf(err))
	require.ErrorContains(t, err, p.KeyVariable+" is not set")
	require.NotEmpty(t, p.Model.Default)

	request := ExtractionRequest(testWindow(), Params{})
	w := serve(t, 200, nil, c.answer)
	m, err := at(w.URL+"/base", testKey)
	require.NoError(t, err)
	require.Zero(t, w.calls.Load(), "making a model asks nothing")
	require.Equal(t, ModelIdentity{p.Name, "m"}, m.Identity())
	resp, err := m.Generate(t.Context(), request)
	require.NoError(t, err)
	require.Equal(t, `{"entries":[]}`, resp.Text)
	require.Equal(t, FinishStop, resp.FinishReason)
	require.Positive(t, resp.Usage.InputTokens)
	require.EqualValues(t, 1, w.calls.Load())
	require.NotContains(t, w.url, testKey, "a key in a URL shows in errors and in logs")
	require.Equal(t, "/base"+c.model, strings.SplitN(w.url, "?", 2)[0])
	again, err := ReadRaw(p.Name, resp.Raw)
	require.NoError(t, err)
	require.Equal(t, resp, again)

	failing(t, p, c.noAnswer, func(url string) error {
		m, err := at(url, testKey)
		require.NoError(t, err)
		_, err = m.Generate(t.Context(), request)
		return err
	})
	_, err = ReadRaw(p.Name, []byte(c.noAnswer))
	require.Equal(t, KindEmpty, KindOf(err), "an answer without text is stored and read again as one")
}

func testEmbedder(t *testing.T, p Provider, c wireCase) {
	t.Helper()
	at := func(url, key string) (Embedder, error) {
		return NewEmbedder(t.Context(), EmbedderConfig{Provider: p.Name, Model: "m", APIKey: key, BaseURL: url, Dimensions: 2})
	}
	_, err := NewEmbedder(t.Context(), EmbedderConfig{Provider: p.Name})
	require.ErrorContains(t, err, p.KeyVariable+" is not set")
	require.Positive(t, p.Embedder.Batch)
	require.LessOrEqual(t, p.Embedder.Batch, p.Embedder.MaxBatch)

	w := serve(t, 200, nil, c.vectors)
	e, err := at(w.URL+"/base", testKey)
	require.NoError(t, err)
	require.Zero(t, w.calls.Load(), "making an embedder asks nothing")
	vectors := checkVectors(t, p, e, []string{"one text", "another text"})
	require.Equal(t, [][]float32{{0.6, 0.8}, {0, 1}}, vectors, "in the order of the texts")
	require.Equal(t, "/base"+c.embedder, strings.SplitN(w.url, "?", 2)[0])
	require.NotContains(t, w.url, testKey)

	failing(t, p, `{}`, func(url string) error {
		e, err := at(url, testKey)
		require.NoError(t, err)
		_, err = e.Embed(t.Context(), []string{"one text"})
		return err
	})
}

// checkVectors embeds the texts and checks the properties of every vector.
func checkVectors(t *testing.T, p Provider, e Embedder, texts []string) [][]float32 {
	t.Helper()
	require.True(t, strings.HasPrefix(e.Version(), p.Name+"-"), e.Version())
	require.Regexp(t, `^[a-z0-9.-]+$`, e.Version())
	vectors, err := e.Embed(t.Context(), texts)
	require.NoError(t, err)
	require.Len(t, vectors, len(texts))
	for _, v := range vectors {
		require.Len(t, v, e.Dimensions())
		sum := 0.0
		for _, x := range v {
			sum += float64(x) * float64(x)
		}
		require.InDelta(t, 1, math.Sqrt(sum), 1e-5)
	}
	return vectors
}

// failing checks that each failure of a server is classified correctly, after one request.
func failing(t *testing.T, p Provider, empty string, call func(url string) error) {
	t.Helper()
	for name, tc := range map[string]struct {
		status int
		body   string
		kinds  []Kind
		says   string
	}{
		"key refused":   {401, `{"error":{"message":"no ` + testKey + `"}}`, []Kind{KindAuth}, "key in " + p.KeyVariable + " refused"},
		"no credit":     {402, `{}`, []Kind{KindQuota}, ""},
		"too many":      {429, `{"error":{"message":"slow down"}}`, []Kind{KindRateLimit}, "slow down"},
		"no such model": {404, `{"error":{"message":"unknown model"}}`, []Kind{KindInvalidRequest}, "unknown model"},
		"overloaded":    {503, `busy`, []Kind{KindUnavailable}, "busy"},
		"no JSON":       {200, `<html>`, []Kind{KindMalformed}, ""},
		"no answer":     {200, empty, []Kind{KindEmpty, KindMalformed}, ""},
	} {
		w := serve(t, tc.status, map[string]string{"Retry-After": "7"}, tc.body)
		err := call(w.URL)
		require.Contains(t, tc.kinds, KindOf(err), "%s: %v", name, err)
		require.ErrorContains(t, err, p.Name+": ", name)
		require.ErrorContains(t, err, tc.says, name)
		require.NotContains(t, err.Error(), testKey, name)
		require.EqualValues(t, 1, w.calls.Load(), "%s: a call is one request", name)
		if e, ok := err.(*Error); ok && tc.status == 429 { //nolint:errorlint // What the room returns is never wrapped.
			require.Equal(t, 7*time.Second, e.RetryAfter)
		}
	}
	w := serve(t, 200, nil, `{}`)
	w.Close()
	require.Equal(t, KindUnavailable, KindOf(call(w.URL)), "nobody listens")
}

// The help, the list of names and the table of settings in the topic about configuration name every provider, with its key.
func TestProvidersAreDocumented(t *testing.T) {
	t.Parallel()
	require.True(t, strings.HasPrefix(ModelChoices(), "rules (offline), gemini"), ModelChoices())
	require.True(t, strings.HasPrefix(EmbedderChoices(), "hash (offline), local (offline), gemini"), EmbedderChoices())
	topic, err := os.ReadFile("../../starter/help/configuration.md")
	require.NoError(t, err)
	row := func(flag string) string {
		for line := range strings.Lines(string(topic)) {
			if strings.HasPrefix(line, "| `"+flag+"`") {
				return line
			}
		}
		t.Fatalf("the topic's table of settings has no row of %s", flag)
		return ""
	}
	models, embedders := row("--model-provider"), row("--embedder")
	seen := map[string]bool{}
	for _, p := range providers {
		require.Regexp(t, `^[a-z][a-z0-9]*$`, p.Name, "a name is a setting, and part of the names of collections")
		require.False(t, seen[p.Name], "provider %q is registered twice", p.Name)
		seen[p.Name] = true
		require.Equal(t, p.KeyVariable, KeyVariable(p.Name))
		if p.model() {
			require.Contains(t, models, "`"+p.Name+"`", "the topic's row of --model-provider does not name provider %q", p.Name)
			require.Contains(t, models, p.KeyVariable, "the topic's row of --model-provider does not name the key of provider %q", p.Name)
			require.NotNil(t, p.Model.Read)
		}
		if p.embedder() {
			require.Contains(t, embedders, "`"+p.Name+"`", "the topic's row of --embedder does not name provider %q", p.Name)
		}
	}
	require.Empty(t, KeyVariable("oracle"))
}
