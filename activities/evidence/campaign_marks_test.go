//go:build campaign

package evidence

import (
	"testing"
	"time"
)

func TestCampaignManyMarksCostLittle(t *testing.T) {
	t.Parallel()
	t.Cleanup(func() {
		if !t.Failed() {
			t.Log("survived: the cost of large messages of marks is linear")
		}
	})
	manyMarks(t, 1, 40*time.Second)
}
