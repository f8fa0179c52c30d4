//go:build campaign

package main

import "testing"

func TestCampaignInjections(t *testing.T) {
	t.Parallel()
	requireNothingPlanted(t, everyOrder, nil)
	t.Logf("survived: %d injected orders by rules", len(carriers)*everyOrder)
}

func TestCampaignInjectionsOfAnObedientModel(t *testing.T) {
	t.Parallel()
	requireNothingPlantedByModel(t, everyOrder)
	t.Logf("survived: %d injected orders by a model that obeys them", len(carriers)*everyOrder)
}

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
	ids := []string{`a'b`, `a\`, `a\'; DROP TABLE events_raw; --`, "세션 1", "%s%25", "?", "{x:String}", "a/b?c=d", `"q"`, "🎉", turn}
	anySignsInNames(t, ids)
	t.Logf("survived: %d names of any signs", len(ids))
}

func TestCampaignImportSurvivesItsStarter(t *testing.T) {
	t.Parallel()
	const sessions = 12
	importSurvivesItsStarter(t, sessions)
	t.Logf("survived: an import of %d sessions without its starter", sessions)
}

func TestCampaignListsPageAlike(t *testing.T) { testListsPageAlike(t) }

func TestCampaignSessionsByPrefix(t *testing.T) { testSessionsByPrefix(t) }

func TestCampaignRebuildGoesOn(t *testing.T) { testRebuildGoesOn(t) }

func TestCampaignRebuildTellsItsPhase(t *testing.T) { testRebuildTellsItsPhase(t) }

func TestCampaignImportLooksForSessions(t *testing.T) { testImportLooksForSessions(t) }

func TestCampaignRebuildOfVectorsShowsProgress(t *testing.T) { testRebuildOfVectorsShowsProgress(t) }

func TestCampaignBusySession(t *testing.T) { testBusySession(t) }

func TestCampaignInterruptedBuilds(t *testing.T) { testInterruptedBuilds(t) }

func TestCampaignRetryOfWrongInput(t *testing.T) { testRetryOfWrongInput(t) }

func TestCampaignRealignAfterARun(t *testing.T) { testRealignAfterARun(t) }

func TestCampaignHostileTranscript(t *testing.T) { testHostileTranscript(t) }

func TestCampaignConflictsFind(t *testing.T) { testConflictsFind(t) }

func TestCampaignProposals(t *testing.T) { testProposals(t) }

func TestCampaignRebuild(t *testing.T) { testRebuild(t) }

func TestCampaignIDsByPrefix(t *testing.T) { testIDsByPrefix(t) }
