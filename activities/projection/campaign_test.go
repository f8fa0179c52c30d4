//go:build campaign

package projection_test

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
