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

func TestCampaignRebuild(t *testing.T) {
	t.Parallel()
	rebuildRows(t, []string{"p", "q:1"}, 3, 1000)
	t.Log("survived: tasks of two projects are rebuilt in pages of 3 and 1,000 events")
}

func TestCampaignCrashInApply(t *testing.T) {
	t.Parallel()
	crashInApply(t, writtenTables...)
	t.Log("survived: an apply crashes before it writes any of its tables")
}
