//go:build campaign

package truth_test

import (
	"testing"
)

func TestCampaignRealignAfterARun(t *testing.T) { testRealignAfterARun(t) }

func TestCampaignConflictsFind(t *testing.T) { testConflictsFind(t) }

func TestCampaignProposals(t *testing.T) { testProposals(t) }
