//go:build campaign

package batch

import "testing"

func TestCampaignListIsWhole(t *testing.T) {
	t.Parallel()
	listIsWhole(t, 100)
	t.Log("survived: lists whose attempts break off anywhere")
}
