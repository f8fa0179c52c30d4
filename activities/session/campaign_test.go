//go:build campaign

package session

import "testing"

func TestCampaignSessionIsItsMessages(t *testing.T) {
	t.Parallel()
	sessionIsItsMessages(t, 100)
	t.Log("survived: sessions that are cut into events anywhere")
}

func TestCampaignWindowsReadEachEventOnce(t *testing.T) {
	t.Parallel()
	windowsReadEachEventOnce(t, 100)
	t.Log("survived: windows over events that are cut anywhere")
}

func TestCampaignMessages(t *testing.T) {
	t.Parallel()
	readMessages(t, 25)
	t.Log("survived: any messages of sessions that are cut anywhere")
}
