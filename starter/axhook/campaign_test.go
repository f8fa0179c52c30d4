//go:build campaign

package main

import "testing"

func TestCampaignDeliveredLater(t *testing.T) {
	t.Parallel()
	h := newHome(t, dead(t))
	h.shipped = true
	deliveredLater(t, h)
	t.Log("survived: a server that is away, with axhook as it is shipped")
}

func TestCampaignAxcontext(t *testing.T) {
	t.Parallel()
	h := newHome(t, dead(t))
	h.shipped = true
	answers(t, h)
	t.Log("survived: a server that never answers, with axcontext as it is shipped")
}
