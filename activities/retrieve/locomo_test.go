package retrieve

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/activities/llm"
	"axiommind/activities/vector"
	"axiommind/deploy/local/sharedtest"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
)

// conversation is one of LoCoMo, each turn by its id, and the questions with the ids that answer them.
type conversation struct {
	name      string
	turns     map[string]string
	questions map[string][]string
}

// readLocomo reads the first conversations of the shared data.
func readLocomo(t testing.TB, most int) []conversation {
	t.Helper()
	raw, err := os.ReadFile(sharedtest.Data.Path(t, "locomo", "locomo-dev.json"))
	require.NoError(t, err)
	var samples []struct {
		Conversation map[string]json.RawMessage `json:"conversation"`
		QA           []struct {
			Question string   `json:"question"`
			Evidence []string `json:"evidence"`
			Category int      `json:"category"`
		} `json:"qa"`
	}
	require.NoError(t, json.Unmarshal(raw, &samples))
	var out []conversation
	for i, s := range samples[:min(most, len(samples))] {
		c := conversation{fmt.Sprintf("conversation %d", i), map[string]string{}, map[string][]string{}}
		for _, session := range s.Conversation {
			var turns []struct {
				Speaker string `json:"speaker"`
				ID      string `json:"dia_id"`
				Text    string `json:"text"`
				Caption string `json:"blip_caption"`
			}
			if json.Unmarshal(session, &turns) != nil {
				continue // a date or a name
			}
			for _, turn := range turns {
				c.turns[turn.ID] = strings.TrimSpace(turn.Speaker + ": " + turn.Text + " " + turn.Caption)
			}
		}
		for _, q := range s.QA {
			var gold []string
			for _, id := range q.Evidence {
				if c.turns[id] != "" {
					gold = append(gold, id)
				}
			}
			if len(gold) > 0 && q.Category != 5 {
				c.questions[q.Question] = gold
			}
		}
		out = append(out, c)
	}
	return out
}

// evalEmbedder is the embedder without a model, or the one behind AXIOMMIND_EVAL_EMBEDDER_URL.
func evalEmbedder(t testing.TB) vector.Embedder {
	t.Helper()
	url := os.Getenv("AXIOMMIND_EVAL_EMBEDDER_URL")
	if url == "" {
		return llm.Hash{}
	}
	embedder, err := llm.NewEmbedder(t.Context(), llm.EmbedderConfig{
		Provider: llm.ProviderOpenAI, Model: os.Getenv("AXIOMMIND_EVAL_EMBEDDER_MODEL"), BaseURL: url, Dimensions: 384,
	})
	require.NoError(t, err)
	return embedder
}

// nonsense asks for nothing that anybody said: strays of the keyboard, marks, and questions about other
// worlds in the languages of the tests.
var nonsense = []string{
	"🪠🪠", "-", "???", "。。。", "⠿⠿", "꧁꧂", "…", "\u200b", "\ufe0f", "+", "\x00\x1b[31m",
	"asdfgh qwerty", "zxcvb", "blorptang quindle", "fhqwhgads", "9917734", "ㅋㅋㅋㅋ", "ㅁㄴㅇㄹ", "哈哈哈", "龘靐齉",
	"кгшщз", "ضصثق", "ワケワカメ", "lorem ipsum dolor",
	"Kubernetes etcd quorum behind an ingress sidecar", "PostgreSQL vacuum thresholds",
	"양자 컴퓨터 냉각 장치가 고장났습니다", "火星探测器的推进剂为什么泄漏了", "量子計算機の冷却装置が故障しました",
	"Wie wird der Zollbescheid angefochten?", "почему протекает двигатель ракеты",
}

// TestFloorCostsNoRecall holds the floor to its price on real questions, and to its purpose on nonsense.
// A turn of a conversation stands for an entry. Measured with every conversation and a real model by
//
//	AXIOMMIND_EVAL_CONVERSATIONS=6 AXIOMMIND_EVAL_EMBEDDER_URL=http://127.0.0.1:8901/v1 \
//	AXIOMMIND_EVAL_EMBEDDER_MODEL=all-MiniLM-L6-v2 go test -tags campaign ./activities/retrieve -run TestCampaignFloorCostsNoRecall -v
func TestFloorCostsNoRecall(t *testing.T) {
	t.Parallel()
	floorCostsNoRecall(t, 20)
}

// floorCostsNoRecall asks at most that many questions about each conversation, which are chosen at random.
func floorCostsNoRecall(t *testing.T, most int) {
	t.Helper()
	long, err := strconv.Atoi(cmp.Or(os.Getenv("AXIOMMIND_EVAL_CONVERSATIONS"), "1"))
	require.NoError(t, err)
	conversations := readLocomo(t, long)
	b := newBench(t, evalEmbedder(t))
	none := -1.0
	open := NewSearcher(b.conn, b.client, b.embedder, Options{Floor: &none})
	var with, without, questions, foundWith, foundWithout, foreign float64
	for _, c := range conversations {
		ids := map[string]string{}
		var entries []schema.Entry
		for _, id := range slices.Sorted(maps.Keys(c.turns)) {
			entries = append(entries, schema.Entry{Title: c.turns[id], SessionID: c.name, Scope: schema.Scope{Project: c.name}})
		}
		for _, e := range b.add(t, entries...) {
			ids[e.Title] = e.ID
		}
		recall := func(s *Searcher, q string, gold []string) (share, hits float64) {
			r, err := s.Search(context.Background(), Query{Text: q, Project: c.name, Limit: 10})
			require.NoError(t, err)
			got := map[string]bool{}
			for _, h := range r.Hits {
				for _, x := range h.Sessions {
					got[x.EntryID] = true
				}
			}
			for _, id := range gold {
				if got[ids[c.turns[id]]] {
					share += 1 / float64(len(gold))
				}
			}
			return share, float64(len(r.Hits))
		}
		asked := slices.Sorted(maps.Keys(c.questions))
		for _, i := range stacktest.Draw(t, min(most, len(asked)), len(asked)) {
			q, gold := asked[i], c.questions[asked[i]]
			a, n := recall(b.searcher, q, gold)
			z, m := recall(open, q, gold)
			if a < z {
				t.Logf("%q loses one of %q", q, gold)
			}
			with, without, foundWith, foundWithout, questions = with+a, without+z, foundWith+n, foundWithout+m, questions+1
		}
		for _, q := range nonsense {
			r := b.search(t, Query{Text: q, Project: c.name, Limit: 5})
			if len(r.Hits) > 0 {
				foreign++
				t.Logf("%q finds %d, %.3f, %q", q, len(r.Hits), r.Hits[0].Explain.Similarity, r.Hits[0].Title)
			}
		}
	}
	n := b.search(t, Query{Text: "anything", Project: conversations[0].name})
	t.Logf("%.0f questions: recall@10 %.4f with the floor of %.3f, %.4f without; %.1f and %.1f hits each; %.0f of %d nonsense queries find something",
		questions, with/questions, n.Floor, without/questions, foundWith/questions, foundWithout/questions, foreign, len(nonsense)*len(conversations))
	require.GreaterOrEqual(t, with, without)
	if _, measured := b.embedder.(versioned).Embedder.(llm.Hash); measured {
		require.Zero(t, foreign)
	}
	require.LessOrEqual(t, foreign, 0.05*float64(len(nonsense)*len(conversations)))
}
