//go:build campaign

package vector

import "testing"

func TestCampaignAnyQueryTextIsTaken(t *testing.T) {
	t.Parallel()
	anyQueryTextIsTaken(t, 100)
	t.Log("survived: searches for any text of any user")
}

func TestCampaignRebuildOfAnyVersion(t *testing.T) {
	t.Parallel()
	rebuildOfVersions(t, hostileVersions)
	t.Logf("survived: rebuilds of %d hostile names of versions", len(hostileVersions))
}

func TestCampaignRebuildWhileWriting(t *testing.T) {
	t.Parallel()
	rebuildWhileWriting(t, 6)
	t.Log("survived: writes between any turns of a rebuild")
}

func TestCampaignSearchDuringRebuild(t *testing.T) {
	t.Parallel()
	searchDuringRebuild(t, 3, 60)
	t.Log("survived: searches during three rebuilds")
}

func TestCampaignRebuildKilledAnywhere(t *testing.T) {
	t.Parallel()
	rebuildKilled(t, func(yield func(int64) bool) {
		for n := int64(1); yield(n); n += 2 {
		}
	})
	t.Log("survived: a rebuild of vectors is killed before or after a request")
}

func TestCampaignVectorsAreFoundAfterRestart(t *testing.T) {
	t.Parallel()
	foundAfterRestart(t, 3)
	t.Log("survived: Weaviate is stopped and started twice")
}

func both(int) []bool { return []bool{false, true} }

func TestCampaignKilledAnywhere(t *testing.T) {
	t.Parallel()
	writerKilled(t, both)
	t.Log("survived: a writer of vectors is killed before or after a write")
}

func TestCampaignMessagePages(t *testing.T) {
	t.Parallel()
	messagePages(t, 1, 7, 1000)
	t.Log("survived: messages are read one at a time")
}

func TestCampaignSessionsKilledAnywhere(t *testing.T) {
	t.Parallel()
	sessionsKilled(t, both)
	t.Log("survived: an index of sessions is killed before or after a write")
}
