package graduate

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"

	"axiommind/activities/llm"
	"axiommind/activities/text"
	"axiommind/schema"
)

// StatedPrompt is the version of the question whether sentences state an entry.
const StatedPrompt = "stated-v1"

//go:embed prompts/stated.txt
var statedSystem string

// asked is an entry to ask about, with the whole sentences around its quotes.
type asked struct {
	label     string
	statement string
	passages  []passage
}

type passage struct {
	Role schema.Role `json:"role"`
	Text string      `json:"text"`
}

// askLabel is the label of the nth entry of a question. A model copies it more reliably than an id.
func askLabel(n int) string { return fmt.Sprintf("e%d", n+1) }

// statedRequest asks about the entries, one JSON object a line.
func statedRequest(entries []asked) llm.Request {
	var b strings.Builder
	for _, e := range entries {
		b.WriteString(llm.DataLine(struct {
			ID        string    `json:"id"`
			Statement string    `json:"statement"`
			Passages  []passage `json:"passages"`
		}{e.label, e.statement, e.passages}))
	}
	return llm.Request{System: statedSystem, Prompt: b.String(), Schema: []byte(statedSchema)}
}

const statedSchema = `{"$schema":"https://json-schema.org/draft/2020-12/schema","title":"Stated","type":"object",` +
	`"additionalProperties":false,"required":["entries"],"properties":{"entries":{"type":"array","items":{"type":"object",` +
	`"additionalProperties":false,"required":["id","states","reason"],"properties":{"id":{"type":"string"},` +
	`"states":{"type":"string","enum":["yes","no","unclear"]},"reason":{"type":"string"}}}}}}`

// verdict is the model's verdict on an entry.
type verdict struct {
	yes    bool
	reason string
}

// maxVerdictReason bounds a model's reason, in bytes.
const maxVerdictReason = 400

// readVerdicts parses the verdicts on the entries with the labels. Unknown labels are ignored. An entry without a
// verdict, or with different ones, is not stated: only a plain yes counts.
func readVerdicts(answer llm.Answered, labels []string) (map[string]verdict, error) {
	items, truncated, err := llm.ReadList(answer.Text)
	if err != nil {
		return nil, err
	}
	silent := "the answer says nothing of it"
	if truncated || answer.Truncated {
		silent = "the answer breaks off before it"
	}
	out := make(map[string]verdict, len(labels))
	for _, label := range labels {
		out[label] = verdict{reason: silent}
	}
	seen := map[string]bool{}
	for _, raw := range items {
		var item struct {
			ID     string
			States any
			Reason string
		}
		if json.Unmarshal(raw, &item) != nil {
			continue
		}
		label := strings.ToLower(strings.TrimSpace(item.ID))
		before, known := out[label]
		if !known {
			continue
		}
		v := verdictOf(item.States, item.Reason)
		if seen[label] && before.yes != v.yes {
			v = verdict{reason: "the answer says both yes and no"}
		}
		seen[label], out[label] = true, v
	}
	return out, nil
}

func verdictOf(states any, reason string) verdict {
	said := strings.ToLower(strings.TrimSpace(fmt.Sprint(states)))
	v := verdict{yes: said == "yes" || said == "true", reason: text.Clip(strings.TrimSpace(reason), maxVerdictReason)}
	switch {
	case v.reason != "":
	case v.yes:
		v.reason = "the sentences state it"
	default:
		v.reason = "the answer gives no reason"
	}
	return v
}
