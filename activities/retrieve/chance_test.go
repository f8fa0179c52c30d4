package retrieve

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"axiommind/activities/fact"
	"axiommind/activities/retrieve/eval"
	"axiommind/activities/vector"
	"axiommind/schema"
)

// A query that shares no word with any entry finds nothing, in any language; a query that shares one finds it.
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
	require.Zero(t, r.Nearest, "the embedder knows no meaning")
}

// The pet of a question is the cat of the answer. A search lists it, and the rest of the memory as weak.
func TestDistantIsListedAndWeak(t *testing.T) {
	t.Parallel()
	b := newBench(t, localEmbedder(t))
	cat := "We decided to feed the office cat at noon."
	added := b.add(t, schema.Entry{Title: cat}, schema.Entry{Title: "The budget for the museum is approved."}, schema.Entry{Title: "Flour is delivered by train."},
		schema.Entry{Title: "Someone else feeds a parrot.", Scope: schema.Scope{User: "bob"}})
	r := b.search(t, Query{Text: "who looks after the pet?", Limit: 3})
	require.NotEmpty(t, r.Hits)
	require.Equal(t, cat, r.Hits[0].Title)
	for _, h := range r.Hits {
		require.True(t, h.Weak, h.Title)
		require.False(t, h.Explain.Words)
	}
	facts := []fact.Fact{
		{ID: "cat", Content: added[0].Title, EntryID: added[0].ID, Project: "red", Confidence: 0.5},
		{ID: "museum", Content: added[1].Title, EntryID: added[1].ID, Project: "red", Confidence: 0.9},
	}
	for query, first := range map[string]string{"who looks after the pet?": "museum", "When is the office cat fed?": "cat"} {
		ranked, err := b.searcher.RankFacts(t.Context(), query, "", "", facts)
		require.NoError(t, err)
		require.Equal(t, first, ranked[0].ID, "a context puts no weak hit before what is surer")
	}
	r = b.search(t, Query{Text: "When is the office cat fed?"})
	require.False(t, r.Hits[0].Weak)
	for _, h := range r.Hits[1:] {
		require.True(t, h.Weak, h.Title)
	}
	r = b.search(t, Query{Text: "Welches Element hat die Ordnungszahl 74?"})
	require.Empty(t, r.Hits, titles(r.Hits))
	require.Less(t, r.Nearest, Near)
	// Another owner's memory is no reason to answer.
	require.Empty(t, b.search(t, Query{Text: "Someone else feeds a parrot.", User: "carl"}).Hits)
}

// A hit is weak by itself: a paraphrase is not because another hit has the words of the query too, and the limit changes
// nothing. A word in common is no meaning in common.
func TestWeakIsOfTheHit(t *testing.T) {
	t.Parallel()
	b := newBench(t, localEmbedder(t))
	b.add(t, schema.Entry{Title: "The office cat is fed at noon."}, schema.Entry{Title: "Die Bürokatze bekommt mittags Futter."},
		schema.Entry{Title: "The office opens at 9."}, schema.Entry{Title: "Flour is delivered by train."})
	query := "When is the office cat fed?"
	weak := map[string]bool{}
	for _, h := range b.search(t, Query{Text: query, Limit: 20}).Hits {
		weak[h.Title] = h.Weak
	}
	require.False(t, weak["The office cat is fed at noon."])
	require.False(t, weak["Die Bürokatze bekommt mittags Futter."])
	require.True(t, weak["Flour is delivered by train."])
	for limit := 1; limit < 4; limit++ {
		for _, h := range b.search(t, Query{Text: query, Limit: limit}).Hits {
			require.Equal(t, weak[h.Title], h.Weak, "%q, limit %d", h.Title, limit)
		}
	}
	for _, query := range []string{"Which office did Caesar hold in 59 BC?", "At noon of which day did the Titanic reach Queenstown?", "Which cat is a Hindu goddess said to ride?"} {
		for _, h := range b.search(t, Query{Text: query}).Hits {
			require.True(t, h.Weak, "%q finds %q, height %.1f, share %.2f", query, h.Title, h.Explain.Height, h.Explain.Share)
		}
	}
}

// TestDistant asks questions that share no word with their answers, in six languages, and questions about things that no
// message mentions; some of these share a word with a message. The rule was chosen on the other set, which the campaign asks
// too. This one tests it: it has other topics, and was written before it was asked.
func TestDistant(t *testing.T) {
	t.Parallel()
	distantIsWeak(t, "fresh-", freshFloors)
}

var freshFloors = distantFloors{recall: 0.97, language: 0.85, none: 1, word: 0.5, empty: 0.08}

// distantFloors are the least recall@10 overall and in one language, the least shares of questions without an answer for
// which all hits are weak, without and with a word in common, and the least share of empty answers to the former.
type distantFloors struct{ recall, language, none, word, empty float64 }

// distantIsWeak asks the questions of the set that the prefix names.
func distantIsWeak(t *testing.T, prefix string, least distantFloors) {
	t.Helper()
	b := newBench(t, localEmbedder(t))
	d := ownSet(t, prefix)
	texts, languages := map[string]string{}, map[string]int{}
	for _, s := range d.Sessions {
		texts[s.ID] = s.Messages[0].Text
	}
	for _, q := range d.Questions {
		languages[q.Language]++
		terms := vector.NewQueryTerms(q.Query)
		for _, ref := range q.Relevant {
			require.Zero(t, terms.Share(texts[ref.Session]), q.ID)
		}
		shares := slices.ContainsFunc(slices.Collect(maps.Values(texts)), func(text string) bool { return terms.Share(text) > 0 })
		require.False(t, q.Abstain && shares != (q.Category == "word"), "%s shares a word with a message: %t", q.ID, shares)
	}
	for _, language := range []string{"en", "de", "es", "fr", "ja", "zh"} {
		require.Equal(t, 16, languages[language], language)
	}
	b.ingest(t, payloadsOf(d.Sessions)...)
	r, err := eval.Run(t.Context(), d.Questions, asked{searcher: b.searcher, kinds: []Kind{KindMessage}}, eval.Options{})
	require.NoError(t, err)
	counts := map[string]*struct{ all, empty, sure float64 }{"distant": {}, "none": {}, "word": {}}
	for _, a := range r.Questions {
		n := counts[a.Category]
		n.all++
		if a.Returned == 0 {
			n.empty++
		}
		if a.Sure > 0 {
			n.sure++
		}
		if a.Abstain && a.Sure > 0 || !a.Abstain && a.Returned == 0 {
			t.Logf("%s finds %d, of which %d are not weak", a.ID, a.Returned, a.Sure)
		}
	}
	for category, n := range counts {
		t.Logf("%s: of %.0f answers %.0f are empty, %.0f have a hit that is not weak", category, n.all, n.empty, n.sure)
	}
	near, none, word := counts["distant"], counts["none"], counts["word"]
	require.Zero(t, near.empty)
	require.GreaterOrEqual(t, r.Overall.Recall.At10, least.recall)
	for language, s := range r.Languages {
		require.GreaterOrEqual(t, s.Recall.At10, least.language, language)
	}
	require.LessOrEqual(t, none.sure, (1-least.none)*none.all)
	require.LessOrEqual(t, word.sure, (1-least.word)*word.all)
	require.GreaterOrEqual(t, none.empty, least.empty*none.all)
	t.Logf("recall@10 %.3f, %.3f abstained", r.Overall.Recall.At10, r.Overall.Abstained)
}

// stranger is an embedder whose chance is not known.
type stranger struct {
	mu    sync.Mutex
	calls [][]string
}

func (p *stranger) Version() string { return "stranger" }
func (p *stranger) Dimensions() int { return 64 }
func (p *stranger) Embed(_ context.Context, texts []string) ([][]float32, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls = append(p.calls, texts)
	out := make([][]float32, len(texts))
	for i := range texts {
		out[i] = make([]float32, p.Dimensions())
		out[i][0], out[i][1+i%60] = 2, 2
	}
	return out, nil
}

func (p *stranger) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	vectors, err := p.Embed(ctx, []string{text})
	return vectors[0], err
}

// The chance of an embedder that does not know it is measured once, also if eight searches begin at once.
func TestChanceIsMeasured(t *testing.T) {
	t.Parallel()
	e := &stranger{}
	s := NewSearcher(nil, nil, e, Options{})
	var group errgroup.Group
	for n := range 8 {
		group.Go(func() error {
			r := &search{Searcher: s, query: Query{Text: fmt.Sprint(n)}}
			_, err := r.embed(t.Context())
			assert.Positive(t, r.expected)
			return err
		})
	}
	require.NoError(t, group.Wait())
	require.Len(t, e.calls, 9)
	require.Len(t, e.calls[0], 48)
}

// A hit is weak if it is hardly nearer than chance and has few of the query's words.
func TestWeak(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		height, share float64
		weak          bool
	}{{0, 1, false}, {0, most, false}, {strong, 0, false}, {strong - 0.1, most - 0.1, true}} {
		require.Equal(t, c.weak, Explain{Height: c.height, Words: c.share > 0, Share: c.share}.weak(), c)
	}
}

// A claim keeps the best reasons of all its wordings, whichever of them has the better score.
func TestMatchJoinsReasons(t *testing.T) {
	t.Parallel()
	c := &claim{Hit: Hit{Explain: Explain{Hybrid: 0.4, Words: true, Share: 0.6, Height: 1}}}
	c.match(Explain{Hybrid: 0.5, Height: 4})
	c.match(Explain{Hybrid: 0.1, Height: 5})
	require.Equal(t, Explain{Hybrid: 0.5, Words: true, Share: 0.6, Height: 5}, c.Explain)
}

func TestAnswer(t *testing.T) {
	t.Parallel()
	r := &search{}
	require.Len(t, r.answer([]*claim{{}, {Hit: Hit{Explain: Explain{Height: Near}}}}), 2)
	require.Empty(t, r.answer([]*claim{{Hit: Hit{Explain: Explain{Height: Near - 0.1}}}}))
	require.Equal(t, 1, r.result.Unrelated)
	require.InDelta(t, Near-0.1, r.result.Nearest, 0)
}
