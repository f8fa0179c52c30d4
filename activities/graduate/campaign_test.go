//go:build campaign

package graduate

import (
	"testing"

	"axiommind/deploy/local/stacktest"
)

func TestCampaignI10NoLedgerCrossesOwners(t *testing.T) {
	t.Parallel()
	noLedgerCrosses(t, stacktest.AllNames)
	t.Log("survived: reads of ledgers whose owners have similar names")
}

func TestCampaignCrowd(t *testing.T) {
	t.Parallel()
	crowds(t, maxNearest)
	t.Logf("survived: a sentence said by %d with different numbers", 2*maxNearest)
}

func TestCampaignI5CheckedSessions(t *testing.T) {
	t.Parallel()
	checkedSessions(t, allSessions)
	t.Logf("survived: checks of %d random sessions", allSessions)
}

func TestCampaignI3OrderDoesNotMatter(t *testing.T) {
	t.Parallel()
	orderDoesNotMatter(t, allOrders)
	t.Logf("survived: %d histories, each told in two orders", allOrders)
}

func TestCampaignHealthIsTheFold(t *testing.T) {
	t.Parallel()
	healthIsTheFold(t, 4)
	t.Log("survived: counts of health after four rounds of random happenings")
}
