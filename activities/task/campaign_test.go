//go:build campaign

package task_test

import (
	"testing"

	"axiommind/deploy/local/stacktest"
)

func TestCampaignI10NoReadCrossesProjects(t *testing.T) {
	t.Parallel()
	names, random := stacktest.Names(t)
	noReadCrossesProjects(t, names, random)
	t.Logf("survived: %d projects whose names are alike read none of each other's tasks", len(names))
}
