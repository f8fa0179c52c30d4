//go:build campaign

package tier

import (
	"testing"

	"axiommind/deploy/local/stacktest"
)

func TestCampaignI10NoReadCrossesMemories(t *testing.T) {
	t.Parallel()
	noReadCrosses(t, stacktest.AllNames)
	t.Log("survived: reads of memories whose owners have similar names")
}

func TestCampaignI4(t *testing.T) {
	t.Parallel()
	tablesAreTheFold(t, 25)
	t.Log("survived: tables of 25 memories with random events")
}
