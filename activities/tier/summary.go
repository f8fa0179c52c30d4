package tier

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"axiommind/activities/evidence/normal"
	"axiommind/activities/llm"
	"axiommind/activities/transcript/format"
	"axiommind/schema"
)

// SummaryPrompt names the version of the prompt that asks for a summary. It changes whenever the wording does.
const SummaryPrompt = "summary-v2"

//go:embed prompts/summary.txt
var summarySystem string

const summarySchema = `{"$schema":"https://json-schema.org/draft/2020-12/schema","title":"Summary","type":"object",` +
	`"additionalProperties":false,"required":["entries"],"properties":{"entries":{"type":"array","items":{"type":"object",` +
	`"additionalProperties":false,"required":["text"],"properties":{"text":{"type":"string"}}}}}}`

// Limits of the input of a summary, in characters.
const (
	// maxShown is how much of a message a model is shown.
	maxShown = 500
	// maxQuoted is how much of a message an offline summary quotes.
	maxQuoted = 120
)

func blank(text string) bool { return strings.TrimSpace(text) == "" }

// saidIn returns the speaker's own words in a message, without quotations and attachments. A summary covers nothing
// else: a record says who said which words, and dreams take it at its word.
func saidIn(m schema.Message) string { return format.TrustOf(m).Said(m.Text) }

// shownLine is a message as a summary's prompt shows it: one line, or "" for a message that is no conversation.
func shownLine(m schema.Message, l Labels) string {
	said := saidIn(m)
	if !m.Extractable() || blank(said) {
		return ""
	}
	speaker := l.User
	if m.Role == schema.RoleAssistant {
		speaker = l.Assistant
	}
	return speaker + ": " + cut(inLine(said), maxShown)
}

// conversationText is the text of the messages that a model summarizes.
func conversationText(messages []schema.Message, l Labels) string {
	var lines []string
	for _, m := range messages {
		if line := shownLine(m, l); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

var lineBreaks = regexp.MustCompile(`\s*[\n\r\v\f\x{85}\x{2028}\x{2029}]\s*`)

// inLine returns the text as one line, so that no message can pass for several.
func inLine(text string) string { return lineBreaks.ReplaceAllString(strings.TrimSpace(text), " ") }

// cut returns the first characters of the text, up to the limit. It does not cut through a character that several runes
// make, unless that is longer than the limit.
func cut(text string, limit int) string {
	if utf8.RuneCountInString(text) <= limit {
		return text
	}
	end := 0
	for range limit {
		_, size := utf8.DecodeRuneInString(text[end:])
		end += size
	}
	if start, _ := normal.Cluster(text, end); start > 0 {
		end = start
	}
	return strings.TrimSpace(text[:end])
}

// Markers of sections that models were asked for once, and the word for a conversation that is not worth recording.
const (
	markDaily  = "[DAILY]"
	markMemory = "[MEMORY]"
	markNone   = "无"
)

// CleanSummary returns the daily section of a summary without code fences, or "" if it reports nothing to record.
func CleanSummary(raw string) string {
	raw = strings.TrimSpace(raw)
	if raw == markNone {
		return ""
	}
	// The text between the markers counts. If they are in another order, nothing does.
	if _, after, ok := strings.Cut(raw, markDaily); ok {
		before, _, hasMemory := strings.Cut(raw, markMemory)
		switch {
		case !hasMemory:
			raw = after
		case strings.Contains(before, markDaily):
			_, raw, _ = strings.Cut(before, markDaily)
		default:
			raw = ""
		}
	}
	raw, _, _ = strings.Cut(raw, markMemory)
	return strings.TrimSpace(strings.ReplaceAll(raw, "```", ""))
}

var (
	fenceLine = regexp.MustCompile("(?m)^[ \t]*(?:```|~~~)[\\w+#.-]*[ \t]*$\n?")
	thoughts  = regexp.MustCompile(`(?is)^.*</think(?:ing)?>|<think(?:ing)?>.*$`)
)

// summaryRequest asks for a summary of the messages.
func summaryRequest(messages []schema.Message, params llm.Params) llm.Request {
	return llm.Request{System: summarySystem, Prompt: conversationText(messages, English), Schema: []byte(summarySchema), Params: params}
}

// readSummary returns the summary in a model's answer, one item a line, or "" if it reports nothing to record. A model
// that does not keep to the schema may answer with the items alone.
func readSummary(answer string) string {
	text := fenceLine.ReplaceAllString(thoughts.ReplaceAllString(answer, ""), "")
	if items, ok := summaryItems(text); ok {
		return items
	}
	text = CleanSummary(text)
	if said := strings.Trim(text, "-*•. \t\"'。"); strings.EqualFold(said, "none") || said == markNone {
		return ""
	}
	return text
}

// summaryItems returns the texts of an answer that is JSON. In one line each, none passes for a heading of the record.
func summaryItems(answer string) (summary string, ok bool) {
	if answer = strings.TrimSpace(answer); !strings.HasPrefix(answer, "{") {
		return "", false
	}
	items, _, err := llm.ReadList(answer)
	if err != nil {
		return "", false
	}
	var lines []string
	for _, raw := range items {
		var item struct{ Text string }
		if json.Unmarshal(raw, &item) != nil {
			continue
		}
		if said := listMark.ReplaceAllString(inLine(item.Text), ""); !blank(said) {
			lines = append(lines, "- "+said)
		}
	}
	return strings.Join(lines, "\n"), true
}

// preface is the text that replaces the flushed turns for an agent.
func preface(summary string, turns int) string {
	if blank(summary) {
		return ""
	}
	return fmt.Sprintf("[System: Previous conversation summary — %d turns were compacted]\n\n%s\n\n"+
		"The recent conversation continues below.\n\n---\n\n", turns, summary)
}

// fromTurns reports whether the summarizer quotes turns of the conversation, as the offline model does, and writes
// nothing of its own.
func fromTurns(summarizer string) bool { return strings.HasPrefix(summarizer, llm.ProviderRules+"/") }
