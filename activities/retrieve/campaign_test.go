//go:build campaign

package retrieve

import (
	"math"
	"testing"

	"axiommind/activities/llm"
	"axiommind/deploy/local/stacktest"
)

func TestCampaignTenancyProperty(t *testing.T) {
	t.Parallel()
	tenancy(t, stacktest.AllNames, 30)
	t.Log("survived: searches of owners with similar names")
}

func TestCampaignDistant(t *testing.T) {
	t.Parallel()
	distantIsWeak(t, "fresh-", freshFloors)
	distantIsWeak(t, "distant-", distantFloors{recall: 0.95, language: 0.9, none: 1, word: 1, empty: 0.25})
	t.Log("survived: questions without a word of their answers, and without an answer")
}

func TestCampaignNonsense(t *testing.T) {
	t.Parallel()
	nonsenseIsWeak(t, localEmbedder(t), math.MaxInt)
	nonsenseIsWeak(t, llm.Hash{}, math.MaxInt)
	t.Log("survived: all questions about a conversation, and nonsense")
}

func TestCampaignAsOfIsAFold(t *testing.T) {
	t.Parallel()
	asOfIsAFold(t, stacktest.Draw(t, histories, histories))
	t.Logf("survived: what was believed on each day of %d histories", histories)
}

func TestCampaignI10HandlesOfMessages(t *testing.T) {
	t.Parallel()
	handlesOfMessages(t, stacktest.AllNames)
	t.Log("survived: handles of messages whose owners have similar names")
}
