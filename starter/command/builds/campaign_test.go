//go:build campaign

package builds_test

import (
	"testing"
)

func TestCampaignInterruptedBuilds(t *testing.T) { testInterruptedBuilds(t) }

func TestCampaignRetryOfWrongInput(t *testing.T) { testRetryOfWrongInput(t) }
