//go:build campaign

package fact_test

import (
	"testing"

	"axiommind/deploy/local/stacktest"
)

func TestCampaignI10NoReadCrossesMemories(t *testing.T) {
	t.Parallel()
	noReadCrosses(t, stacktest.AllNames)
	t.Log("survived: reads of memories whose owners have similar names")
}
