//go:build campaign

package build_test

import (
	"testing"

	"axiommind/deploy/local/stacktest"
)

func TestCampaignI10BuildsOfOneUser(t *testing.T) {
	t.Parallel()
	names, _ := stacktest.Names(t)
	buildsOfOneUser(t, names)
	t.Logf("survived: users and projects of %d names that are alike read none of each other's builds", len(names))
}

func TestCampaignSelectionTakesTheLatestFailures(t *testing.T) {
	t.Parallel()
	selectionTakesTheLatestFailures(t, 100)
	t.Log("survived: selections of random builds, taken up again anywhere")
}

func TestCampaignSelectionReachesWindowsGivenUpEarlier(t *testing.T) {
	t.Parallel()
	selectionReachesWindowsGivenUpEarlier(t, hostileNames)
	t.Logf("survived: retries of sessions of %d hostile names", len(hostileNames))
}

func TestCampaignBackfillChooses(t *testing.T) {
	t.Parallel()
	backfillChooses(t, 1, 2, 3, 13, 200)
	t.Log("survived: a backfill in pages of any size, taken up again anywhere")
}
