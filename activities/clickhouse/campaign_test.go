//go:build campaign

package clickhouse_test

import "testing"

func TestCampaignScratch(t *testing.T) {
	t.Parallel()
	scratchOf(t, append([]string{""}, hostileNames...)...)
	t.Cleanup(func() {
		if !t.Failed() {
			t.Logf("survived: scratch databases of %d hostile names", len(hostileNames))
		}
	})
}
