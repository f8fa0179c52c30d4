package llm

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"strconv"
	"strings"

	"axiommind/activities/llm/signal"
	"axiommind/schema"
)

// PromptVersion names the version of the extraction prompt. It changes whenever the wording does.
const PromptVersion = "extract-v6"

// maxRepairAnswer limits how much of an unreadable answer a repair request shows to the model, in bytes.
const maxRepairAnswer = 16 << 10

//go:embed prompts/extract.txt
var extractPrompt string

//go:embed prompts/correction.txt
var correctionHint string

//go:embed prompts/reinforcement.txt
var reinforcementHint string

//go:embed prompts/repair.txt
var repairPrompt string

//go:embed prompts/rest.txt
var restPrompt string

// PromptHash returns the hex SHA-256 of the prompts, the answer's schema, the hints and their rules: everything sent to
// a model except the window.
func PromptHash() string {
	return schema.HashParts(PromptVersion, extractPrompt, repairPrompt, restPrompt, schema.SchemaVersion,
		string(schema.ExtractionSchema), correctionHint, reinforcementHint, signal.Version)
}

// ExtractionRequest asks for the memories in the window. The window should contain only extractable messages. Evidence
// refers to them by their Index. If the user corrects or confirms the agent, a line after the messages says so. The
// hash of the window covers this line, because it depends on the window alone.
func ExtractionRequest(window []schema.Message, params Params) Request {
	return Request{
		System: extractPrompt,
		Prompt: RenderWindow(window) + hint(window),
		Schema: schema.ExtractionSchema,
		Params: params,
		Window: window,
	}
}

// maxHinted bounds how many messages a hint names: the last ones.
const maxHinted = 6

// hint returns a line that points at the signals in the window, or "" if there are none.
func hint(window []schema.Message) string {
	shown := signal.Of(window)
	if len(shown) == 0 {
		return ""
	}
	line := reinforcementHint
	if shown[0].Signal == signal.Correction {
		line = correctionHint
	}
	var indexes []string
	for _, s := range shown[max(0, len(shown)-maxHinted):] {
		indexes = append(indexes, strconv.Itoa(s.MessageIndex))
	}
	return "\n" + strings.ReplaceAll(line, "{messages}", strings.Join(indexes, ", "))
}

// RepairRequest asks the model to repair an answer that could not be read. The reason is the error of
// [ReadExtraction].
func RepairRequest(req Request, answer, reason string) Request {
	if len(answer) > maxRepairAnswer {
		answer = strings.ToValidUTF8(answer[:maxRepairAnswer], "")
	}
	var b strings.Builder
	b.WriteString(req.Prompt)
	b.WriteString("\n")
	b.WriteString(repairPrompt)
	writeLine(&b, struct {
		Reason string `json:"reason"`
		Answer string `json:"answer"`
	}{reason, answer})
	req.Prompt = b.String()
	return req
}

// RestRequest asks for the entries that are missing from a truncated answer. It shows the entries that were kept, so
// that the next answer does not break off at the same place.
func RestRequest(req Request, kept []schema.ExtractedEntry) Request {
	var b strings.Builder
	b.WriteString(req.Prompt)
	b.WriteString("\n")
	b.WriteString(restPrompt)
	for _, e := range kept {
		writeLine(&b, struct {
			Type    schema.EntryType `json:"type"`
			Section string           `json:"section,omitempty"`
			Title   string           `json:"title"`
		}{e.Type, e.Section, e.Title})
	}
	req.Prompt = b.String()
	return req
}

// RenderWindow renders messages as JSON objects, one per line. JSON escaping keeps every text within its line and
// gives quotes the same form as in the answer.
func RenderWindow(window []schema.Message) string {
	var b strings.Builder
	for _, m := range window {
		writeLine(&b, struct {
			Index  int         `json:"index"`
			Role   schema.Role `json:"role"`
			Author string      `json:"author,omitempty"`
			Text   string      `json:"text"`
		}{m.Index, m.Role, m.Author, m.Text})
	}
	return b.String()
}

func writeLine(b *strings.Builder, v any) { b.WriteString(DataLine(v)) }

// DataLine returns data for a prompt: the object as JSON on a line of its own, with the line's end. No text in it can
// end the line, because JSON escapes line breaks, and DataLine escapes those that JSON leaves. It does not escape <, >
// and &, because quotes must be copied exactly as shown.
func DataLine(v any) string {
	var line bytes.Buffer
	enc := json.NewEncoder(&line)
	enc.SetEscapeHTML(false)
	// Encoding a struct of strings and integers can't fail.
	_ = enc.Encode(v)
	return strings.ReplaceAll(line.String(), "\u0085", `\u0085`)
}

// WindowHash returns the hex SHA-256 of the window as the model sees it.
func WindowHash(window []schema.Message) string { return schema.HashText(RenderWindow(window)) }

// Key returns the key under which the raw answer to an extraction request is stored. The same request to the same
// model with the same settings has the same key, except that asking about the window again gives another key.
func Key(id ModelIdentity, promptHash string, req Request, window schema.Window) string {
	parts := []string{"model", id.Provider, id.Model, promptHash, settingsOf(req.Params), window.Hash, strconv.Itoa(window.Asked)}
	if id.Provider == ProviderRules && req.Works {
		parts = append(parts, "works")
	}
	return schema.HashParts(parts...)
}

// settingsOf returns the settings as JSON. Equal settings give equal JSON, because fields are in a fixed order.
func settingsOf(p Params) string {
	settings, _ := json.Marshal(p)
	return string(settings)
}
