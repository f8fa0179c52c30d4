//go:build campaign

package evidence_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/activities/text/formtest"
)

func TestCampaignRuleIsPinned(t *testing.T) {
	t.Parallel()
	got := judgements(t, func(string) bool { return true })
	want, err := os.ReadFile(ruleFile())
	if os.IsNotExist(err) && *formtest.Update {
		require.NoError(t, os.WriteFile(ruleFile(), []byte(got), 0o644))
		return
	}
	require.NoError(t, err, "a new rule needs a golden file: run the test with -update")
	require.Equal(t, string(want), got, otherJudgement)
	t.Log("survived: all quotes and characters are judged as when the rule was made")
}

func TestCampaignMisleadingQuotesProveNothing(t *testing.T) {
	t.Parallel()
	t.Cleanup(func() {
		if !t.Failed() {
			t.Log("survived: no misleading quote proves")
		}
	})
	misleadingQuotesProveNothing(t, 1)
}
