//go:build campaign

package eventlog_test

import (
	"iter"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// countUp yields the numbers from one on.
func countUp() iter.Seq[int64] {
	return func(yield func(int64) bool) {
		for n := int64(1); yield(n); n++ {
		}
	}
}

func TestCampaignI2SwitchKilledAnywhere(t *testing.T) {
	t.Parallel()
	hows := switchKilled(t, countUp())
	require.Len(t, hows, 4, "each way to be killed, whether or not a writer waits")
	for how := range hows {
		t.Logf("survived: a switch is killed %s a write, %s", map[bool]string{false: "before", true: "after"}[how.after],
			map[bool]string{false: "and called again", true: "and a waiting writer ends it"}[how.waits])
	}
}

func TestCampaignI4RebuildBesideWriters(t *testing.T) {
	t.Parallel()
	rebuildBesideWriters(t, 3, time.Nanosecond)
	t.Log("survived: three rebuilds under writers at full speed")
}

func TestCampaignModel(t *testing.T) {
	t.Parallel()
	model(t, 100)
	t.Log("survived: random appends, page sizes and crashes of a projection")
}

func TestCampaignHeadModel(t *testing.T) {
	t.Parallel()
	headModel(t, 100)
	t.Log("survived: programs with old heads append in random order")
}

func TestCampaignCatchUpInPages(t *testing.T) {
	t.Parallel()
	catchUpInPages(t, 30, 1, 4, 1000)
	t.Log("survived: a rebuild catches up in pages of 1, 4 and 1,000 events")
}

func TestCampaignFillInPages(t *testing.T) {
	t.Parallel()
	fillInPages(t, 8, 1, 5, 1000)
	t.Log("survived: a rebuild fills its tables in pages of 1, 5 and 1,000 events")
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
