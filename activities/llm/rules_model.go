package llm

import (
	"context"
	"encoding/json"
	"fmt"

	"axiommind/activities/llm/rules"
)

// ProviderRules is the name of the offline model.
const ProviderRules = "rules"

var rulesProvider = Provider{
	Name: ProviderRules,
	Model: &ModelProvider{
		Default: rules.Version, Read: readRules,
		New: func(context.Context, Config) (Model, error) { return NewRules(), nil },
	},
}

// Rules is the offline model. It applies the rules of package rules to Request.Window and answers with JSON text as a
// language model would, so that everything after it works the same way.
type Rules struct{}

// NewRules returns the offline model.
func NewRules() Rules { return Rules{} }

// Identity implements [Model].
func (Rules) Identity() ModelIdentity { return ModelIdentity{ProviderRules, rules.Version} }

// Local implements [Local].
func (Rules) Local() {}

// Generate implements [Model]. It answers extraction requests only; it is not a language model.
func (Rules) Generate(ctx context.Context, req Request) (Response, error) {
	if err := ctx.Err(); err != nil {
		return Response{}, err
	}
	if len(req.Window) == 0 {
		return Response{}, &Error{Provider: ProviderRules, Kind: KindInvalidRequest,
			Message: "no messages: rules answers extraction requests only"}
	}
	extraction := rules.Extract(req.Window, req.Works)
	for i := range extraction.Entries {
		extraction.Entries[i].EntryID = fmt.Sprintf("ent_%d", i+1)
	}
	raw, err := json.Marshal(extraction)
	if err != nil {
		return Response{}, fmt.Errorf("render extraction: %w", err)
	}
	return readRules(raw)
}

// readRules returns the body as the text.
func readRules(raw []byte) (Response, error) {
	resp := Response{Raw: raw, Text: string(raw), FinishReason: FinishStop, ProviderFinish: "stop"}
	if !json.Valid(raw) {
		return Response{Raw: raw}, malformed(ProviderRules, raw, nil)
	}
	return resp, nil
}
