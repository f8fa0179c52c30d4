//go:build campaign

package tier

import (
	"testing"

	"axiommind/activities/fact"
	"axiommind/deploy/local/stacktest"
)

func TestCampaignI10NoReadCrossesMemories(t *testing.T) {
	t.Parallel()
	noReadCrosses(t, stacktest.AllNames)
	t.Log("survived: reads of memories whose owners have similar names")
}

func TestCampaignSummarizeInParts(t *testing.T) {
	t.Parallel()
	summarizeInParts(t, maxSummarized)
	t.Log("survived: a session that is summarized in three parts")
}

func TestCampaignNothingSaidIsNotAskedAbout(t *testing.T) {
	t.Parallel()
	nothingSaidIsNotAskedAbout(t, maxSummarized)
	t.Log("survived: a long session with documents between its messages")
}

func TestCampaignReviewInParts(t *testing.T) {
	t.Parallel()
	reviewInParts(t, maxSummarized/fact.MaxGroups)
	t.Log("survived: facts that are reviewed in two parts")
}

func TestCampaignI4(t *testing.T) {
	t.Parallel()
	tablesAreTheFold(t, 25)
	t.Log("survived: tables of 25 memories with random events")
}
