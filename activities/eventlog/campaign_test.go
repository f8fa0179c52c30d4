//go:build campaign

package eventlog_test

import (
	"testing"
)

func TestCampaignHeadModel(t *testing.T) {
	t.Parallel()
	headModel(t, 100)
	t.Log("survived: programs with old heads append in random order")
}

func TestCampaignConformance(t *testing.T) {
	t.Parallel()
	sizes := []int{1, 2, 3, pageBoundary - 1, pageBoundary, pageBoundary + 1, 3 * pageBoundary}
	parts := map[string]conformance{
		"concurrent appenders with the same keys":  concurrentSame(6, 5),
		"concurrent appenders that overlap":        concurrentOverlapping(6, 8),
		"concurrent appenders of different stores": concurrentDistinct(8, 5),
		"pages of any number of rows":              pageBoundaries(sizes, 1<<20),
		"pages of any number of rows and 30 bytes": pageBoundaries(sizes, 30),
		"100,005 events in one call":               testLongBatch,
	}
	// The parts run in parallel, once this function has returned.
	t.Cleanup(func() {
		if t.Failed() {
			return
		}
		for name := range parts {
			t.Log("survived: " + name)
		}
	})
	conform(t, parts)
}
