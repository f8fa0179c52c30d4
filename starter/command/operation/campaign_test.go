//go:build campaign

package operation_test

import (
	"testing"
)

func TestCampaignRebuildGoesOn(t *testing.T) { testRebuildGoesOn(t) }

func TestCampaignRebuildTellsItsPhase(t *testing.T) { testRebuildTellsItsPhase(t) }

func TestCampaignRebuildOfVectorsShowsProgress(t *testing.T) { testRebuildOfVectorsShowsProgress(t) }

func TestCampaignRebuild(t *testing.T) { testRebuild(t) }
