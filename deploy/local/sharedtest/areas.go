package sharedtest

import (
	"encoding/json"
	"slices"
	"testing"
)

// Judges are, by area, functions that describe the defect in the outcome of a case, or return "".
type Judges map[string]func(input, expect json.RawMessage) string

// areaFile is the form of the files of observed behaviour.
type areaFile struct {
	Cases []areaCase `json:"cases"`
}

type areaCase struct {
	ID     string          `json:"id"`
	Area   string          `json:"area"`
	Input  json.RawMessage `json:"input"`
	Expect json.RawMessage `json:"expect"`
	// Ours replaces Expect where the observed behaviour is a flaw.
	Ours json.RawMessage `json:"ours"`
}

// RunAreas judges the cases of the areas that have a judge. See [RunCases].
func RunAreas(t *testing.T, judges Judges) {
	t.Helper()
	judged := func(c areaCase) bool { return judges[c.Area] != nil }
	RunCases(t, func(file areaFile) bool { return slices.ContainsFunc(file.Cases, judged) },
		func(_ *testing.T, v *Verdicts, file areaFile) {
			for _, c := range file.Cases {
				if !judged(c) {
					continue
				}
				want := c.Expect
				if len(c.Ours) > 0 {
					want = c.Ours
				}
				v.Count(c.Area, c.ID, Play(func() string { return judges[c.Area](c.Input, want) }))
			}
		})
}
