//go:build campaign

package serve_test

import "testing"

func TestCampaignServeJourney(t *testing.T) {
	t.Parallel()
	testServeJourney(t, true)
	t.Log("survived: every endpoint, with an erasure")
}
