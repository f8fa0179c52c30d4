package fact

import (
	"encoding/json"
	"slices"
	"testing"

	"axiommind/deploy/local/sharedtest"
)

// caseFile is the form of the files of observed behaviour.
type caseFile struct {
	Cases []memoryCase `json:"cases"`
}

type memoryCase struct {
	ID     string          `json:"id"`
	Area   string          `json:"area"`
	Input  json.RawMessage `json:"input"`
	Expect json.RawMessage `json:"expect"`
	// Ours is what to do instead where the observed behaviour is a flaw.
	Ours json.RawMessage `json:"ours"`
}

// judges returns, by area, a function that says what is wrong with the outcome. It returns "" if nothing is.
func judges() map[string]func(input, expect json.RawMessage) string {
	return map[string]func(input, expect json.RawMessage) string{
		"format_for_injection": judgeFormat,
		"token_count":          judgeTokens,
		"dedup":                judgeDedup,
		"apply_updates":        judgeUpdate,
		"crud":                 judgeCommand,
		"eviction_hybrid":      judgeEviction,
		"scrub_uploads":        judgeUploads,
	}
}

func TestCases(t *testing.T) {
	t.Parallel()
	sharedtest.RunCases(t, func(file caseFile) bool { return slices.ContainsFunc(file.Cases, ours) },
		func(_ *testing.T, v *sharedtest.Verdicts, file caseFile) {
			for _, c := range slices.DeleteFunc(file.Cases, func(c memoryCase) bool { return !ours(c) }) {
				problem := judge(c, c.Expect)
				if problem != "" && len(c.Ours) > 0 && judge(c, c.Ours) == "" {
					problem = ""
				}
				v.Count(c.Area, c.ID, problem)
			}
		})
}

func ours(c memoryCase) bool { return judges()[c.Area] != nil }

// judge says what is wrong with the outcome of the case. It returns "" if nothing is.
func judge(c memoryCase, expect json.RawMessage) string {
	return sharedtest.Play(func() string { return judges()[c.Area](c.Input, expect) })
}
