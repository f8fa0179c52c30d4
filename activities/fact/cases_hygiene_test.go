package fact

import (
	"encoding/json"
	"fmt"

	"axiommind/deploy/local/sharedtest"
	"axiommind/schema"
)

// judgeUploads judges the rest of a summary, or whether a fact is kept.
func judgeUploads(input, expect json.RawMessage) string {
	var in struct {
		Summary *string `json:"summary"`
		Fact    *string `json:"fact"`
	}
	var want struct {
		Summary *string `json:"summary"`
		Kept    *bool   `json:"kept"`
	}
	if problem := sharedtest.Decode(input, &in) + sharedtest.Decode(expect, &want); problem != "" {
		return problem
	}
	switch {
	case in.Summary != nil && want.Summary != nil:
		if got := scrubUploads(*in.Summary); got != *want.Summary {
			return fmt.Sprintf("got %q, want %q", got, *want.Summary)
		}
	case in.Fact != nil && want.Kept != nil:
		if reason, _ := lasting(*in.Fact, []string{*in.Fact}); (reason != schema.SkippedUpload) != *want.Kept {
			return fmt.Sprintf("the fact is skipped for %q", reason)
		}
	default:
		return "nothing is expected"
	}
	return ""
}
