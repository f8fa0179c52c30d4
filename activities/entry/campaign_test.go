//go:build campaign

package entry

import (
	"testing"

	"axiommind/deploy/local/stacktest"
)

func TestCampaignI10NoReadCrossesOwners(t *testing.T) {
	t.Parallel()
	noReadCrosses(t, stacktest.AllNames)
	t.Log("survived: reads of entries whose owners have similar names")
}

func TestCampaignI10SelectionsStayInTheirProject(t *testing.T) {
	t.Parallel()
	selectionsStay(t, hostile)
	t.Log("survived: selections in projects with hostile names")
}

func TestCampaignI5StagesAreCappedByEvidence(t *testing.T) {
	t.Parallel()
	stagesAreCapped(t, 30)
	t.Log("survived: 30 histories of an entry's stages")
}

func TestCampaignI2MaterializeBrokenOff(t *testing.T) {
	t.Parallel()
	materializeBrokenOff(t, stacktest.Draw(t, brokenOff, brokenOff))
	t.Logf("survived: a build broken off after each of its events")
}

func TestCampaignI4ViewIsTheFold(t *testing.T) {
	t.Parallel()
	viewIsTheFold(t, stacktest.Draw(t, allHistories, allHistories))
	t.Logf("survived: %d histories of entries and judgements", allHistories)
}
