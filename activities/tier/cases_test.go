package tier

import (
	"encoding/json"
	"slices"
	"testing"

	"axiommind/deploy/local/sharedtest"
)

// tierCase is a case of observed behaviour.
type tierCase struct {
	ID     string          `json:"id"`
	Area   string          `json:"area"`
	Input  json.RawMessage `json:"input"`
	Expect json.RawMessage `json:"expect"`
	// Ours is the behavior we want where the observed one is a flaw. If it is a text, it only explains Expect, except in
	// the areas of readsText.
	Ours json.RawMessage `json:"ours"`
}

type tierFile struct {
	Cases []tierCase `json:"cases"`
}

// judge returns the flaw in the outcome of a case, or "".
type judge func(t *testing.T, input, expect json.RawMessage) string

// judges holds the judge of each area of this room. The files of the judges add them.
var judges = map[string]judge{}

// readsText are the areas whose judges are given the text of Ours in place of Expect.
var readsText = map[string]bool{"dream_flow": true}

// judgeArea makes the judge that of the area.
func judgeArea(area string, j judge) struct{} {
	judges[area] = j
	return struct{}{}
}

func TestCases(t *testing.T) {
	t.Parallel()
	ofThisRoom := func(c tierCase) bool { return judges[c.Area] != nil }
	sharedtest.RunCases(t, func(file tierFile) bool { return slices.ContainsFunc(file.Cases, ofThisRoom) },
		func(t *testing.T, v *sharedtest.Verdicts, file tierFile) {
			for _, c := range file.Cases {
				if ofThisRoom(c) {
					problem := "it broke off"
					t.Run(c.ID, func(t *testing.T) { // Its database serves the next case.
						problem = sharedtest.Play(func() string { return judgeOne(t, c) })
					})
					v.Count(c.Area, c.ID, problem)
				}
			}
		})
}

// judgeOne judges by our own behavior where a case describes it.
func judgeOne(t *testing.T, c tierCase) string {
	expect := c.Expect
	if len(c.Ours) > 0 && (c.Ours[0] == '{' || readsText[c.Area]) {
		expect = c.Ours
	}
	return judges[c.Area](t, c.Input, expect)
}
