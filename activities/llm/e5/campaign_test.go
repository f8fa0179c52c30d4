//go:build campaign

package e5

import (
	"slices"
	"testing"
)

func TestCampaignBatchIsTheSameAsOne(t *testing.T) {
	t.Parallel()
	batchIsTheSameAsOne(t, 60)
	t.Log("survived: a vector is the same in any batch")
}

func TestCampaignAnyText(t *testing.T) {
	t.Parallel()
	anyText(t, slices.Concat(hostileTexts, longHostileTexts)...)
	t.Log("survived: texts that are longer than the buffers of the library")
}

func TestCampaignDamagedFilesAreRefused(t *testing.T) {
	t.Parallel()
	damagedFilesAreRefused(t, 0, 1, 2)
	t.Log("survived: any file of the embedder is damaged")
}
