package tier

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"axiommind/deploy/local/sharedtest"
	"axiommind/schema"
)

var _ = judgeArea("dream_parse", judgeDreamParse)

// judgeDreamParse judges how an answer is read. An expectation in words is one of an answer that must not be used.
func judgeDreamParse(_ *testing.T, input, expect json.RawMessage) string {
	var in struct {
		Raw string `json:"raw"`
	}
	if problem := sharedtest.Decode(input, &in); problem != "" {
		return problem
	}
	answer := ParseAnswer(in.Raw)
	var prose string
	if json.Unmarshal(expect, &prose) == nil {
		return judgeUnusable(answer, prose)
	}
	var want struct {
		Memory string `json:"memory"`
		Dream  string `json:"dream"`
	}
	if problem := sharedtest.Decode(expect, &want); problem != "" {
		return problem
	}
	if answer.Memory != want.Memory || answer.Diary != want.Dream {
		return fmt.Sprintf("memory %q, dream %q, want %q, %q", answer.Memory, answer.Diary, want.Memory, want.Dream)
	}
	return ""
}

// judgeUnusable reports whether a memory stays as it is, although the answer holds it, both if the model stopped at its
// limit and if it did not say so.
func judgeUnusable(answer Answer, prose string) string {
	if !strings.Contains(prose, "keep the old MEMORY.md") {
		return fmt.Sprintf("do not know what %q means", prose)
	}
	g := schema.DreamGatheredPayload{Memory: ParseCore(answer.Memory)}
	for _, truncated := range []bool{false, true} {
		answer.Truncated = truncated
		if d := Compose(g, []Answer{answer}, Guard{}); d.Refused == "" || d.Text != "" {
			return fmt.Sprintf("the answer is used: %q", d.Text)
		}
	}
	return ""
}
