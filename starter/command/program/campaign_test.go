//go:build campaign

package program_test

import (
	"testing"

	"axiommind/starter/command/commandtest"
)

func TestCampaignI10OneSessionIDInManyScopes(t *testing.T) {
	t.Parallel()
	var scopes [][3]string
	for _, project := range []string{"-red", "-blue"} {
		for _, user := range []string{"ann", "bob"} {
			for _, agent := range []string{"", "coder"} {
				scopes = append(scopes, [3]string{project, user, agent})
			}
		}
	}
	oneSessionIDInManyScopes(t, scopes)
	t.Logf("survived: one session id in %d scopes", len(scopes))
}

func TestCampaignAnySignsInNames(t *testing.T) {
	t.Parallel()
	ids := []string{`a'b`, `a\`, `a\'; DROP TABLE events_raw; --`, "세션 1", "%s%25", "?", "{x:String}", "a/b?c=d", `"q"`, "🎉", commandtest.Turn}
	anySignsInNames(t, ids)
	t.Logf("survived: %d names of any signs", len(ids))
}

func TestCampaignListsPageAlike(t *testing.T) { testListsPageAlike(t) }

func TestCampaignSessionsByPrefix(t *testing.T) { testSessionsByPrefix(t) }

func TestCampaignBusySession(t *testing.T) { testBusySession(t) }

func TestCampaignHostileTranscript(t *testing.T) { testHostileTranscript(t) }

func TestCampaignIDsByPrefix(t *testing.T) { testIDsByPrefix(t) }
