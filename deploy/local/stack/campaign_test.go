//go:build campaign

package stack_test

import "testing"

func TestCampaignTemporalSurvivesCanceledRequests(t *testing.T) {
	t.Parallel()
	const clients, requests = 32, 400
	temporalSurvivesCanceledRequests(t, clients, requests)
	t.Logf("survived: %d requests that Temporal's clients gave up", clients*requests)
}

func TestCampaignRowsSurviveAKillDuringInserts(t *testing.T) {
	t.Parallel()
	const kills = 3
	rowsSurviveKills(t, kills)
	t.Logf("survived: %d kills of ClickHouse during inserts", kills)
}
