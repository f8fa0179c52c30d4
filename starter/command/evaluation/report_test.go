package evaluation

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"axiommind/activities/retrieve"
	"axiommind/activities/retrieve/eval"
	"axiommind/schema"
)

// GoldLines are the lines of a gold set.
const GoldLines = `{"id":"a","query":"Where?","category":"place","relevant":[{"entry":"e1"},{"entry":"e2"}]}
{"id":"b","query":"Who?","category":"person","relevant":[{"entry":"e3"}]}
{"id":"c","query":"Why?","category":"person","abstain":true}
`

// ranked returns the prepared entries of each question.
type ranked map[string][]string

func (r ranked) Retrieve(_ context.Context, q eval.Question, _ int) ([]eval.Found, error) {
	var found []eval.Found
	for _, id := range r[q.ID] {
		found = append(found, eval.Found{Kind: eval.KindEntry, ID: id})
	}
	return found, nil
}

func runOf(t *testing.T, r ranked) eval.Result {
	t.Helper()
	questions, err := eval.ReadGoldSet(strings.NewReader(GoldLines), "gold.jsonl")
	require.NoError(t, err)
	run, err := eval.Run(t.Context(), questions, r, eval.Options{
		Embedder: "hash-v2-384", Settings: map[string]string{"alpha": "0.3", "variant": "default"},
	})
	require.NoError(t, err)
	return run
}

// SavedRun writes a run that found nothing to a file.
func SavedRun(t *testing.T) string { return savedRun(t, runOf(t, ranked{})) }

func savedRun(t *testing.T, run eval.Result) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "run.json")
	require.NoError(t, writeRun(path, run))
	return path
}

func TestEvalTable(t *testing.T) {
	t.Parallel()
	before := runOf(t, ranked{"a": {"e1", "e2"}, "b": {"x", "e3"}})
	after := runOf(t, ranked{"a": {"e1"}, "b": {"e3"}, "c": {"x"}})
	comparison, err := eval.Compare(before, after, eval.MaxDrop(0.02))
	require.NoError(t, err)
	report := evalReport{Run: after, Ablations: []ablation{{Name: "no reranking", Run: before}}, Comparison: &comparison}
	var b strings.Builder
	printEval(&b, &evalOptions{goldSet: "gold.jsonl", out: "run.json", compare: "old.json"}, report)
	out := b.String()
	require.Contains(t, out, "gold.jsonl: 3 questions, 3 references; embedder hash-v2-384, alpha 0.3, 20 results asked for, 1 question at a time\n")
	require.Regexp(t, `(?m)^SETTING +N +R@1 +R@5 +R@10 +95 % +R@20 +MRR +NDCG@10 +P50 +P95 +P99$`, out)
	require.Regexp(t, `(?m)^default +3 +0\.750 +0\.750 +0\.750 +0\.500–1\.000 +0\.750 +1\.000 +0\.807 .* ms$`, out)
	require.Regexp(t, `(?m)^no reranking +3 +0\.250 +1\.000 `, out)
	require.Regexp(t, `(?m)^category person +2 +1\.000 `, out)
	require.Regexp(t, `(?m)^QUESTIONS OF +HIT@1 .* ALL@20$`, out)
	require.Contains(t, out, "1 question that nothing answers: nothing is returned for 0.000 of them\n")
	require.Contains(t, out, "written to run.json\n")
	require.Contains(t, out, "recall@10  1.000 → 0.750  -0.250  fell by more than 0.020\n")
	require.Contains(t, out, "mrr        0.750 → 1.000  +0.250\n")
	require.Contains(t, out, "2 questions got worse, 1 got better\n  a: found at 1, -, and at 1, 2 before\n  c: something is returned\n")
	require.NotContains(t, out, "language", "there is none")
	require.EqualError(t, report.verdict(), "recall@10 fell by 0.250, from 1.000 to 0.750; 0.020 is allowed")
	report.Comparison = nil
	require.NoError(t, report.verdict())

	b.Reset()
	printEval(&b, &evalOptions{goldSet: "gold.jsonl"}, evalReport{Run: runOf(t, ranked{})})
	require.Contains(t, b.String(), "Nothing was returned for any question: are the sessions processed")
}

func TestWriteRun(t *testing.T) {
	t.Parallel()
	run := runOf(t, ranked{"a": {"e1"}})
	path := savedRun(t, run)
	require.NoError(t, writeRun(path, run), "an earlier run is overwritten")
	f, err := os.Open(path)
	require.NoError(t, err)
	defer func() { _ = f.Close() }()
	again, err := eval.ReadResult(f, path)
	require.NoError(t, err)
	require.Equal(t, run, again)
	left, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, left, 1)
}

// A hit is found in its session and in the messages that it quotes, and so are the entries that say the same.
func TestFoundOf(t *testing.T) {
	t.Parallel()
	quote := func(message int, text string) []schema.Evidence {
		return []schema.Evidence{{MessageIndex: message, Text: text, Found: true}, {MessageIndex: 99, Quote: "nowhere"}}
	}
	h := retrieve.Hit{
		Entry:             schema.Entry{ID: "e", SessionID: "own", Title: "Release on Thursday", Evidence: quote(4, "every Thursday")},
		EvidenceSessionID: "other", Score: 0.5,
		Sessions: []retrieve.Statement{
			{EntryID: "e", SessionID: "own"},
			{EntryID: "f", SessionID: "third", EvidenceSessionID: "third", Title: "Thursday", Evidence: quote(1, "on Thursdays")},
		},
	}
	require.Equal(t, eval.Found{
		Kind: eval.KindEntry, ID: "e", Session: "other", Messages: []int{4}, Text: "Release on Thursday\nevery Thursday", Score: 0.5,
		Also: []eval.Found{
			{Kind: eval.KindEntry, ID: "e", Session: "own", Text: "Release on Thursday"},
			{Kind: eval.KindEntry, ID: "f", Session: "third", Messages: []int{1}, Text: "Thursday\non Thursdays"},
		},
	}, foundOf(h))
}

func TestEvalVariants(t *testing.T) {
	t.Parallel()
	o := &evalOptions{alpha: 0.4, flags: pflag.NewFlagSet("", pflag.ContinueOnError)}
	o.flags.Float64Var(&o.alpha, "alpha", 0.5, "")
	require.Len(t, o.variants(), 1)
	require.Nil(t, o.variants()[0].alpha, "it is the embedder's")
	require.NoError(t, o.flags.Set("alpha", "0.4"))
	o.ablations = true
	all := o.variants()
	require.Equal(t, []float64{0.4, 0, 1, 0.4, 0.4}, []float64{*all[0].alpha, *all[1].alpha, *all[2].alpha, *all[3].alpha, *all[4].alpha})
	require.Zero(t, *all[1].weights, "words alone are BM25: no factor, no neighbours")
	require.Zero(t, *all[2].weights)
	require.Zero(t, all[3].weights.Neighbours)
	require.NotEmpty(t, all[3].weights.Stage)
	require.Zero(t, *all[4].weights)
	require.Equal(t, []string{"default", "default"}, []string{all[0].settings(1)["rerank"], all[0].settings(1)["neighbours"]})
	require.Equal(t, []string{"default", "none"}, []string{all[3].settings(1)["rerank"], all[3].settings(1)["neighbours"]})
	require.Equal(t, []string{"none", "none"}, []string{all[4].settings(1)["rerank"], all[4].settings(1)["neighbours"]})
}
