//go:build campaign

package feed_test

import (
	"testing"
)

func TestCampaignInjections(t *testing.T) {
	t.Parallel()
	requireNothingPlanted(t, everyOrder, nil)
	t.Logf("survived: %d injected orders by rules", len(carriers)*everyOrder)
}

func TestCampaignInjectionsOfAnObedientModel(t *testing.T) {
	t.Parallel()
	requireNothingPlantedByModel(t, everyOrder)
	t.Logf("survived: %d injected orders by a model that obeys them", len(carriers)*everyOrder)
}

func TestCampaignImportSurvivesItsStarter(t *testing.T) {
	t.Parallel()
	const sessions = 12
	importSurvivesItsStarter(t, sessions)
	t.Logf("survived: an import of %d sessions without its starter", sessions)
}

func TestCampaignImportLooksForSessions(t *testing.T) { testImportLooksForSessions(t) }
