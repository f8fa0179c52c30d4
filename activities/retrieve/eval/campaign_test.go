//go:build campaign

package eval

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/deploy/local/stacktest"
)

// The sessions have 25,000 long messages.
func TestCampaignLongMemEvalOfTheDataSet(t *testing.T) {
	t.Parallel()
	d := readLongMemEval(t, stacktest.Draw(t, longMemEvalQuestions, longMemEvalQuestions))
	require.Len(t, d.Questions, longMemEvalQuestions)
	t.Logf("left out: %s", strings.Join(d.LeftOut, "; "))
	result, err := Run(t.Context(), d.Questions, NewBM25(d.Sessions), Options{})
	require.NoError(t, err)
	t.Logf("BM25: recall@10 %.3f, MRR %.3f", result.Overall.Recall.At10, result.Overall.MRR)
	// This BM25 reaches 0.813. The reference measures 0.793 with terms and parameters of its own.
	require.InDelta(t, 0.813, result.Overall.Recall.At10, 0.02)
	requireReadBack(t, d)
	t.Logf("survived: import of %d questions and their sessions", longMemEvalQuestions)
}
