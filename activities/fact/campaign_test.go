//go:build campaign

package fact

import (
	"testing"

	"axiommind/deploy/local/stacktest"
)

func TestCampaignNoMemoryIsOverBudget(t *testing.T) {
	t.Parallel()
	noMemoryIsOverBudget(t, stacktest.Draw(t, memories, memories))
	t.Logf("survived: %d random memories within their budgets", memories)
}
