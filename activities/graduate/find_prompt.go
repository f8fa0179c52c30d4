package graduate

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"axiommind/activities/llm"
	language "axiommind/activities/text"
	"axiommind/schema"
)

// ContradictPrompt is the version of the question whether entries contradict each other. A new version is asked about
// all pairs again, also those that an earlier one judged.
const ContradictPrompt = "contradict-v2"

//go:embed prompts/contradict.txt
var contradictSystem string

// askedPair is a pair to ask about.
type askedPair struct {
	label        string
	older, newer schema.Entry
}

// pairLabel is the label of the nth pair of a question. A model copies it more reliably than ids.
func pairLabel(n int) string { return fmt.Sprintf("p%d", n+1) }

// note is an entry as the model sees it.
type note struct {
	Said      string           `json:"said"`
	Type      schema.EntryType `json:"type"`
	Statement string           `json:"statement"`
	Text      string           `json:"text,omitempty"`
}

func noteOf(e schema.Entry) note {
	n := note{Said: e.OccurredAt.UTC().Format(time.DateOnly), Type: e.Type, Statement: e.Title}
	if beyondTitle(e) != "" {
		n.Text = e.Content
	}
	return n
}

// contradictRequest asks about the pairs, one JSON object a line.
func contradictRequest(pairs []askedPair) llm.Request {
	var b strings.Builder
	for _, p := range pairs {
		b.WriteString(llm.DataLine(struct {
			ID    string `json:"id"`
			Older note   `json:"older"`
			Newer note   `json:"newer"`
		}{p.label, noteOf(p.older), noteOf(p.newer)}))
	}
	return llm.Request{System: contradictSystem, Prompt: b.String(), Schema: []byte(contradictSchema)}
}

const contradictSchema = `{"$schema":"https://json-schema.org/draft/2020-12/schema","title":"Contradict","type":"object",` +
	`"additionalProperties":false,"required":["entries"],"properties":{"entries":{"type":"array","items":{"type":"object",` +
	`"additionalProperties":false,"required":["id","contradict","reason"],"properties":{"id":{"type":"string"},` +
	`"contradict":{"type":"string","enum":["yes","no","unclear"]},"reason":{"type":"string"}}}}}}`

// pairAnswer is the model's verdict on a pair.
type pairAnswer struct {
	verdict schema.PairVerdict
	reason  string
}

// readPairAnswers parses the verdicts on the pairs with the labels. Other items are dropped and counted. A pair without
// a verdict, or with different ones, is unclear.
func readPairAnswers(answer llm.Answered, labels []string) (answers map[string]pairAnswer, dropped int, err error) {
	items, truncated, err := llm.ReadList(answer.Text)
	if err != nil {
		return nil, 0, err
	}
	silent := "the answer says nothing of it"
	if truncated || answer.Truncated {
		silent = "the answer breaks off before it"
	}
	out := make(map[string]pairAnswer, len(labels))
	for _, label := range labels {
		out[label] = pairAnswer{schema.PairUnclear, silent}
	}
	seen := map[string]bool{}
	for _, raw := range items {
		var item struct {
			ID         string
			Contradict any
			Reason     string
		}
		label := ""
		if json.Unmarshal(raw, &item) == nil {
			label = strings.ToLower(strings.TrimSpace(item.ID))
		}
		before, known := out[label]
		if !known {
			dropped++
			continue
		}
		next := pairAnswerOf(item.Contradict, item.Reason)
		if seen[label] && before.verdict != next.verdict {
			next = pairAnswer{schema.PairUnclear, "the answer says more than one thing of it"}
		}
		seen[label], out[label] = true, next
	}
	return out, dropped, nil
}

// pairAnswerOf parses a verdict. Only a plain yes is a contradiction.
func pairAnswerOf(contradict any, reason string) pairAnswer {
	out := pairAnswer{schema.PairUnclear, strings.TrimSpace(strings.ToValidUTF8(reason, ""))}
	switch strings.ToLower(strings.TrimSpace(fmt.Sprint(contradict))) {
	case "yes", "true":
		out.verdict = schema.PairContradicts
	case "no", "false":
		out.verdict = schema.PairCompatible
	}
	if out.reason = language.Clip(out.reason, maxVerdictReason); out.reason == "" {
		out.reason = "the answer gives no reason"
	}
	return out
}
