package llm

import (
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/deploy/local/sharedtest"
	"axiommind/deploy/local/stacktest"
)

// local returns the embedder with the model.
func local(t testing.TB) Embedder {
	t.Helper()
	e, err := NewEmbedder(t.Context(), EmbedderConfig{Provider: ProviderLocal, Dir: stacktest.Embedder(t)})
	require.NoError(t, err)
	return e
}

func TestLocalEmbedder(t *testing.T) {
	t.Parallel()
	e := local(t)
	checkVectors(t, localProvider, e, []string{"one text", "第二个", "", "\x00"})
	q, err := e.EmbedQuery(t.Context(), "one text")
	require.NoError(t, err)
	vectors, err := e.Embed(t.Context(), []string{"one text"})
	require.NoError(t, err)
	require.NotEqual(t, vectors[0], q)
	for field, c := range map[string]EmbedderConfig{"dimensions": {Dimensions: 3}, "model": {Model: "other"}} {
		c.Provider = ProviderLocal
		_, err := NewEmbedder(t.Context(), c)
		require.ErrorIs(t, err, ErrConfig)
		require.ErrorContains(t, err, field)
	}
}

func TestLocalEmbedderIsNotInstalled(t *testing.T) {
	t.Parallel()
	_, err := NewEmbedder(t.Context(), EmbedderConfig{Provider: ProviderLocal, Dir: t.TempDir()})
	require.Equal(t, KindInvalidRequest, KindOf(err))
	require.ErrorContains(t, err, "go run ./deploy/local up")
}

// TestBaseline measures the cosine of unrelated texts.
func TestBaseline(t *testing.T) {
	t.Parallel()
	e := local(t)
	texts := []string{
		"The train to Lisbon leaves at noon.", "光合作用把光变成糖。", "그는 오래된 접착제로 바이올린을 고쳤다.", "The stock exchange closed early on Thursday.",
		"Kühe fressen im Sommer Gras auf der Alm.", "We store backups in another region.", "回归测试每天晚上运行。", "회의는 화요일 오전 열 시에 시작한다.",
		"Flour, eggs and butter make a simple dough.", "The treaty was signed in 1648.",
	}
	vectors, err := e.Embed(t.Context(), texts)
	require.NoError(t, err)
	sum, n, most := 0.0, 0.0, 0.0
	for i, a := range vectors {
		for _, b := range vectors[:i] {
			sum, n, most = sum+cosine(a, b), n+1, max(most, cosine(a, b))
		}
	}
	t.Logf("mean %.3f, most %.3f", sum/n, most)
	require.InDelta(t, baselineLocal, sum/n, 0.03)
	require.InDelta(t, 0, Similarity(e, baselineLocal), 1e-9)
	require.InDelta(t, 1, Similarity(e, 1), 1e-9)
	require.InDelta(t, 0.5, Similarity(Hash{}, 0.5), 0)
	require.InDelta(t, 0.5, Similarity(nil, 0.5), 0)
}

// TestModelOfADirectory: a directory with a model is the embedder, and that of the local stack still serves an index of its
// vectors.
func TestModelOfADirectory(t *testing.T) {
	t.Parallel()
	stacktest.Embedder(t)
	c := EmbedderConfig{Provider: ProviderLocal, Dir: sharedtest.Models.Path(t, "all-MiniLM-L6-v2")}
	e, err := NewEmbedder(t.Context(), c)
	require.NoError(t, err)
	require.Regexp(t, `^local-onnx-[0-9a-f]{12}-384$`, e.Version())
	checkVectors(t, localProvider, e, []string{"one text", "第二个", "", "\x00"})
	for _, version := range []string{e.Version(), LocalEmbedder{}.Version()} {
		of, err := EmbedderOf(t.Context(), c, version)
		require.NoError(t, err)
		require.Equal(t, version, of.Version())
	}
	_, err = EmbedderOf(t.Context(), c, "local-onnx-000000000000-384")
	require.ErrorContains(t, err, e.Version())
	for field, c := range map[string]EmbedderConfig{"dimensions": {Dimensions: 3}, "model": {Model: "other"}} {
		c.Provider, c.Dir = ProviderLocal, sharedtest.Models.Path(t, "all-MiniLM-L6-v2")
		_, err := NewEmbedder(t.Context(), c)
		require.ErrorIs(t, err, ErrConfig)
		require.ErrorContains(t, err, field)
	}
}
