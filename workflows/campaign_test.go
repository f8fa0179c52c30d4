//go:build campaign

package workflows_test

import (
	"slices"
	"testing"
)

func TestCampaignI12Nights(t *testing.T) {
	t.Parallel()
	nights := slices.Repeat(ways, 2)
	nightsOf(t, nights)
	t.Logf("survived: %d nights with a model that makes every mistake", len(nights))
}
