package llm

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func embedOne(t require.TestingT, text string) []float32 {
	vectors, err := Hash{}.Embed(bg, []string{text})
	require.NoError(t, err)
	require.Len(t, vectors, 1)
	return vectors[0]
}

func cosine(a, b []float32) float64 {
	var sum float64
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

func TestHashPutsLikeTextsNear(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ query, near, far string }{
		"words":      {"fix the login bug", "The login bug must be fixed", "deploy the billing service to production"},
		"inflection": {"database migrations", "migrating a database", "the weather was lovely in spring"},
		"Korean":     {"로그인 오류 수정", "로그인 오류를 수정했습니다", "배포 일정이 다음 주로 연기되었습니다"},
		"Chinese":    {"采集语音数据", "语音数据集的采集方案", "重启网关让改动生效"},
		"long vowel": {"サーバー", "サーバーの設定", "データベース"},
		"Javanese":   {"ꦗꦮꦕꦫꦏꦤ", "ꦲꦤꦗꦮꦕꦫꦏꦤꦥ", "ꦱꦩꦢ"},
		"Japanese":   {"ログインの修正", "ログイン修正が完了しました", "支払い機能の設計を始めます"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q := embedOne(t, tc.query)
			near, far := cosine(q, embedOne(t, tc.near)), cosine(q, embedOne(t, tc.far))
			require.Greater(t, near, far+0.2, "near %.3f, far %.3f", near, far)
		})
	}
}

func TestHashFoldsForms(t *testing.T) {
	t.Parallel()
	for _, pair := range [][2]string{
		{"Fix Login", "  fix   LOGIN!! "}, {"ＡＢＣ１２３", "abc123"}, {"café", "cafe\u0301"}, {"STRASSE", "straße"}, {"가", "\u1100\u1161"}, {"ᎣᎠ", "ꭳꭰ"}, {"ﾃﾞｰﾀ", "データ"},
	} {
		require.Equal(t, embedOne(t, pair[0]), embedOne(t, pair[1]), "%q", pair)
	}
	require.Less(t, cosine(embedOne(t, "1.5"), embedOne(t, "15")), 0.9)
}

// A text without letters and digits is near no other, and so finds nothing by chance.
func TestHashWithoutWords(t *testing.T) {
	t.Parallel()
	texts := []string{"🎉🎉", "🎉", "-", "⭐", "", " ", "OK", "go", "We decided to use Go."}
	for i, a := range texts {
		for _, b := range texts[:min(i, 6)] {
			require.Less(t, cosine(embedOne(t, a), embedOne(t, b)), 0.3, "%q and %q", a, b)
		}
	}
	require.Equal(t, embedOne(t, "🎉"), embedOne(t, "🎉"))
}

const hashChecksum = 35.996348

// TestHashStaysTheSame pins the vectors: stored ones must not become strangers to new ones.
func TestHashStaysTheSame(t *testing.T) {
	t.Parallel()
	require.Equal(t, "hash-v2-384", Hash{}.Version())
	require.Equal(t, 384, Hash{}.Dimensions())
	v := embedOne(t, "We decided to use Go. 我们决定用 Go。 우리는 Go를 쓰기로 했다.")
	var sum float64
	for i, x := range v {
		sum += float64(x) * float64(i+1)
	}
	require.InDelta(t, hashChecksum, sum, 1e-4)
}

func TestHashProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		v := embedOne(t, text)
		require.Len(t, v, HashDimensions)
		require.InDelta(t, 1, math.Sqrt(cosine(v, v)), 1e-5)
		require.Equal(t, v, embedOne(t, text))
	})
}

func BenchmarkHash(b *testing.B) {
	text := strings.Repeat("We decided to use Go for the worker. 我们决定用 Go 编写服务。 ", 8)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		hashText(text)
	}
}
