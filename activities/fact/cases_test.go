package fact

import (
	"testing"

	"axiommind/deploy/local/sharedtest"
)

func TestCases(t *testing.T) {
	t.Parallel()
	sharedtest.RunAreas(t, sharedtest.Judges{
		"format_for_injection": judgeFormat,
		"token_count":          judgeTokens,
		"dedup":                judgeDedup,
		"apply_updates":        judgeUpdate,
		"crud":                 judgeCommand,
		"eviction_hybrid":      judgeEviction,
		"scrub_uploads":        judgeUploads,
	})
}
