//go:build campaign

package workflows_test

import "testing"

func TestCampaignI12Nights(t *testing.T) {
	t.Parallel()
	nights := make([]int, 2*len(ways))
	for n := range nights {
		nights[n] = n % len(ways)
	}
	nightsOf(t, nights)
	t.Logf("survived: %d nights with a model that makes every mistake", len(nights))
}
