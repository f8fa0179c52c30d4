package fact

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// readContext reads memories as cases write them: user.workContext, personalContext and topOfMind,
// history.recentMonths, earlierContext and longTermBackground, each with a summary, and facts. Values of the wrong
// type are ignored. A confidence may be a string or true; it counts as 0 if it is not a number. The only error is a
// text that is not a JSON object.
func readContext(raw []byte) (Context, error) {
	var fields object
	if err := json.Unmarshal(raw, &fields); err != nil {
		return Context{}, fmt.Errorf("read memory: %w", err)
	}
	user, history := lenient[object](fields["user"]), lenient[object](fields["history"])
	c := Context{
		User: UserContext{
			Work: summary(user["workContext"]), Personal: summary(user["personalContext"]),
			CurrentFocus: summary(user["topOfMind"]),
		},
		History: History{
			Recent: summary(history["recentMonths"]), Earlier: summary(history["earlierContext"]),
			Background: summary(history["longTermBackground"]),
		},
	}
	for _, raw := range lenient[[]json.RawMessage](fields["facts"]) {
		f := lenient[object](raw)
		content := lenient[string](f["content"])
		if strings.TrimSpace(content) == "" {
			continue
		}
		c.Facts = append(c.Facts, Statement{
			Content: content, Category: lenient[string](f["category"]),
			Confidence: confidenceFrom(f["confidence"]), SourceError: lenient[string](f["sourceError"]),
		})
	}
	return c, nil
}

func summary(raw json.RawMessage) string {
	return lenient[string](lenient[object](raw)["summary"])
}

func confidenceFrom(raw json.RawMessage) float64 {
	var c float64
	if json.Unmarshal(raw, &c) == nil {
		return c
	}
	if lenient[bool](raw) {
		return 1
	}
	c, err := strconv.ParseFloat(strings.TrimSpace(lenient[string](raw)), 64)
	if err != nil {
		return 0
	}
	return c
}
