//go:build campaign

package e5

import (
	"cmp"
	"encoding/json"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/deploy/local/sharedtest"
)

func TestCampaignBatchIsTheSameAsOne(t *testing.T) {
	t.Parallel()
	batchIsTheSameAsOne(t, 60)
	t.Log("survived: a vector is the same in any batch")
}

func TestCampaignAnyText(t *testing.T) {
	t.Parallel()
	anyText(t, slices.Concat(hostileTexts, longHostileTexts)...)
	t.Log("survived: texts that are longer than the buffers of the library")
}

func TestCampaignDamagedFilesAreRefused(t *testing.T) {
	t.Parallel()
	damagedFilesAreRefused(t, 0, 1, 2)
	t.Log("survived: any file of the embedder is damaged")
}

// TestCampaignEnginesFindTheSame asks LoCoMo's questions about two conversations, by the vectors of each engine alone.
// It also combines one engine's questions with the other's answers, as in an index that both have written.
func TestCampaignEnginesFindTheSame(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(sharedtest.Data.Path(t, "locomo", "locomo-dev.json"))
	require.NoError(t, err)
	var samples []struct {
		Conversation map[string]json.RawMessage
		QA           []struct {
			Question string
			Evidence []string
		}
	}
	require.NoError(t, json.Unmarshal(raw, &samples))
	engines := []*Engine{engine(t), slowEngine(t)}
	require.NoError(t, engines[0].Slow)
	var recall, first [2][2]float64
	n := 0.0
	for _, s := range samples[:2] {
		var ids, texts, questions []string
		for _, session := range s.Conversation {
			var turns []struct {
				Speaker, Text string
				ID            string `json:"dia_id"`
			}
			if json.Unmarshal(session, &turns) != nil {
				continue // a date or a name
			}
			for _, turn := range turns {
				ids, texts = append(ids, turn.ID), append(texts, turn.Speaker+": "+turn.Text)
			}
		}
		for _, q := range s.QA {
			questions = append(questions, q.Question)
		}
		var passages, queries [2][][]float32
		for i, e := range engines {
			passages[i], err = e.Passages(t.Context(), texts)
			require.NoError(t, err)
			queries[i], err = e.Queries(t.Context(), questions)
			require.NoError(t, err)
		}
		for q, of := range s.QA {
			if len(of.Evidence) == 0 {
				continue
			}
			n++
			for i := range engines {
				for j := range engines {
					order := make([]int, len(ids))
					for k := range order {
						order[k] = k
					}
					slices.SortFunc(order, func(a, b int) int {
						return cmp.Compare(dot(queries[i][q], passages[j][b]), dot(queries[i][q], passages[j][a]))
					})
					if slices.Contains(of.Evidence, ids[order[0]]) {
						first[i][j]++
					}
					for _, k := range order[:10] {
						if slices.Contains(of.Evidence, ids[k]) {
							recall[i][j] += 1 / float64(len(of.Evidence))
						}
					}
				}
			}
		}
	}
	t.Logf("%.0f questions, right in the first place: fast %.0f, slow %.0f, fast questions of slow passages %.0f, the reverse %.0f",
		n, first[0][0], first[1][1], first[0][1], first[1][0])
	t.Logf("%.0f questions, recall@10: fast %.4f, slow %.4f, fast questions of slow passages %.4f, the reverse %.4f",
		n, recall[0][0]/n, recall[1][1]/n, recall[0][1]/n, recall[1][0]/n)
	for _, r := range []float64{recall[0][0], recall[0][1], recall[1][0]} {
		require.InDelta(t, recall[1][1]/n, r/n, 0.02)
	}
}
