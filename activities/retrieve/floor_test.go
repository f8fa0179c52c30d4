package retrieve

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/schema"
)

// What shares no word with any entry finds nothing, in whatever language; what shares one does.
func TestNothingRelatedIsNothing(t *testing.T) {
	t.Parallel()
	b := newHashBench(t)
	var entries []schema.Entry
	for _, title := range []string{
		"We decided to use SQLite for the billing service.", "Deploys are frozen on Fridays.", "Tabs, not spaces.", "OK",
		"배포는 금요일 오후에 하지 않습니다.", "우리는 하이브리드 검색을 사용하기로 했습니다.", "我们决定使用消息队列处理订单。",
		"用户喜欢简洁的回答。", "デプロイは金曜日に行わないです。", "Das Backup liegt auf der zweiten Platte.",
		"la sauvegarde est sur le disque", "резервная копия на диске", "สำรองข้อมูลทุกคืน", "!!!", "⭐", "Launch party 🎉",
	} {
		entries = append(entries, schema.Entry{Title: title})
	}
	for _, title := range []string{"Deploys are frozen.", "Tabs, not spaces.", "OK", "我们决定使用消息队列。", "배포는 금요일에 한다."} {
		entries = append(entries, schema.Entry{Title: title, SessionID: "plain", Scope: schema.Scope{Project: "plain"}})
	}
	b.add(t, entries...)
	for _, query := range []string{"🎉🎉", "-"} {
		require.Empty(t, b.search(t, Query{Text: query, Project: "plain", Limit: 5}).Hits, query)
	}
	one := 1.0
	for _, query := range append(nonsense, "🚀🚀", "외계인이 춤을 춥니다", "우리는 무엇을 먹나요", "我们什么时候吃饭", "猫はどこですか",
		"Wo ist der Bahnhof", "où est la gare", "где вокзал", "how is the weather") {
		for _, alpha := range []*float64{nil, &one} {
			r := b.search(t, Query{Text: query, Limit: 5, Alpha: alpha})
			require.Empty(t, r.Hits, "%q finds %q", query, titles(r.Hits))
		}
	}
	for query, want := range map[string]string{
		"billing": "We decided to use SQLite for the billing service.", "🎉🎉": "Launch party 🎉", "⭐": "⭐", "ok": "OK",
		"검색": "우리는 하이브리드 검색을 사용하기로 했습니다.", "订单": "我们决定使用消息队列处理订单。", "Fridya": "Deploys are frozen on Fridays.",
		"金曜日": "デプロイは金曜日に行わないです。", "ข้อมูล": "สำรองข้อมูลทุกคืน", "копия": "резервная копия на диске",
	} {
		r := b.search(t, Query{Text: query})
		require.NotEmpty(t, r.Hits, query)
		require.Equal(t, want, r.Hits[0].Title, query)
	}
	r := b.search(t, Query{Text: "how is the weather"})
	require.Positive(t, r.Unrelated)
	require.InDelta(t, 0.95, r.Floor, 0)
	require.Less(t, r.Nearest, r.Floor)
	none := -1.0
	open := NewSearcher(b.conn, b.client, b.embedder, Options{Floor: &none})
	all, err := open.Search(t.Context(), Query{Text: "how is the weather", Project: "red", Limit: 5})
	require.NoError(t, err)
	require.Len(t, all.Hits, 5, "the floor is a setting")
}

// planes is an embedder whose vectors of unrelated texts lie at a known angle.
type planes struct{ calls [][]string }

func (p *planes) Version() string { return "planes" }
func (p *planes) Dimensions() int { return len(unrelated) + 1 }
func (p *planes) Embed(_ context.Context, texts []string) ([][]float32, error) {
	p.calls = append(p.calls, texts)
	out := make([][]float32, len(texts))
	for i := range texts {
		out[i] = make([]float32, p.Dimensions())
		out[i][0], out[i][i+1] = 2, 2
	}
	return out, nil
}

func (p *planes) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	vectors, err := p.Embed(ctx, []string{text})
	return vectors[0], err
}

// An embedder without a known floor is measured once.
func TestFloorIsMeasured(t *testing.T) {
	t.Parallel()
	e := &planes{}
	s := NewSearcher(nil, nil, e, Options{})
	for n := range 2 {
		r := &search{Searcher: s, query: Query{Text: fmt.Sprint(n)}}
		_, err := r.embed(t.Context())
		require.NoError(t, err)
		require.InDelta(t, 0.5, r.result.Floor, 1e-6, "cosine of any two, which do not deviate")
	}
	require.Equal(t, [][]string{unrelated, {"0"}, {"1"}}, e.calls)
	floor := 0.25
	r := &search{Searcher: NewSearcher(nil, nil, e, Options{Floor: &floor}), query: Query{Text: "x"}}
	_, err := r.embed(t.Context())
	require.NoError(t, err)
	require.InDelta(t, 0.25, r.result.Floor, 0)
	require.Equal(t, []string{"x"}, e.calls[3])
	require.InDelta(t, 3, measure([][]float32{{1, 0}, {1, 0}, {-1, 0}, {1, 0}}).floor, 1e-6, "mean 0, deviation 1")
}
