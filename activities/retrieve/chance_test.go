package retrieve

import (
	"context"
	"fmt"
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

// TestDistant asks questions that share no word with their answers, in six languages, and questions on which nothing is near.
// The rule was chosen on the odd half, and the even half tests it.
func TestDistant(t *testing.T) {
	t.Parallel()
	b := newBench(t, localEmbedder(t))
	d := ownSet(t, "distant-")
	texts, languages := map[string]string{}, map[string]int{}
	for _, s := range d.Sessions {
		texts[s.ID] = s.Messages[0].Text
	}
	for _, q := range d.Questions {
		languages[q.Language]++
		for _, ref := range q.Relevant {
			require.False(t, vector.NewQueryTerms(q.Query).In(texts[ref.Session]), q.ID)
		}
		for _, said := range texts {
			assert.False(t, q.Abstain && vector.NewQueryTerms(q.Query).In(said), "%s shares a word with %q", q.ID, said)
		}
	}
	require.Equal(t, map[string]int{"en": 16, "de": 16, "es": 16, "fr": 16, "ja": 16, "zh": 16}, languages)
	b.ingest(t, payloadsOf(d.Sessions)...)
	for _, half := range []eval.Half{eval.HalfOdd, eval.HalfEven} {
		r, err := eval.Run(t.Context(), d.Questions, asked{searcher: b.searcher, kinds: []Kind{KindMessage}}, eval.Options{Half: half})
		require.NoError(t, err)
		var empty, answered, near, far float64
		for _, a := range r.Questions {
			if a.Abstain && a.Sure > 0 {
				t.Logf("%s finds something that is not weak", a.ID)
			}
			switch {
			case a.Abstain && a.Returned == 0:
				empty++
				far++
			case a.Abstain:
				far++
			case a.Returned > 0:
				answered++
				near++
			default:
				near++
				t.Logf("%s finds nothing", a.ID)
			}
		}
		t.Logf("%s half: %.0f of %.0f answered, recall@10 %.3f; of %.0f others %.0f are empty, %.3f abstained", half, answered, near, r.Overall.Recall.At10, far, empty, r.Overall.Abstained)
		require.InDelta(t, 1, answered/near, 0)
		require.GreaterOrEqual(t, r.Overall.Recall.At10, 0.9)
		require.InDelta(t, 1, r.Overall.Abstained, 0.06)
		require.GreaterOrEqual(t, empty/far, 0.25)
		for language, s := range r.Languages {
			t.Logf("%s %s: recall@10 %.3f", half, language, s.Recall.At10)
			require.GreaterOrEqual(t, s.Recall.At10, 0.5, language)
		}
	}
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
