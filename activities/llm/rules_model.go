package llm

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"axiommind/activities/llm/rules"
	"axiommind/activities/llm/worth"
	"axiommind/schema"
)

// ProviderRules is the name of the provider of offline models.
const ProviderRules = "rules"

var rulesProvider = Provider{
	Name: ProviderRules,
	Model: &ModelProvider{
		Default: worth.Version, Read: readRules,
		New: func(_ context.Context, c Config) (Model, error) {
			if m := OfflineModel(c.Model); m.name == c.Model {
				return m, nil
			}
			return nil, configError("model", "%s has the models %s and %s, not %q", ProviderRules, worth.Version, rules.Version, c.Model)
		},
	},
}

// Rules is an offline model: it computes its answers from Request.Window and answers with JSON text as a language model would,
// so that everything after it works the same way.
type Rules struct {
	name    string
	extract func(window []schema.Message, works bool) schema.Extraction
}

// NewWorth returns the offline model that takes explicit statements, and the sentences of most worth by learned
// weights. See package worth.
func NewWorth() Rules { return Rules{worth.Version, worth.Extract} }

// NewRules returns the offline model that takes only explicit statements: see package rules.
func NewRules() Rules { return Rules{rules.Version, rules.Extract} }

// OfflineModel returns the offline model that a build was made with, in its present version.
func OfflineModel(name string) Rules {
	if strings.HasPrefix(name, "rules-") {
		return NewRules()
	}
	return NewWorth()
}

// Identity implements [Model].
func (o Rules) Identity() ModelIdentity { return ModelIdentity{ProviderRules, o.name} }

// Local implements [Local].
func (Rules) Local() {}

// Generate implements [Model]. It answers extraction requests only; it is not a language model.
func (o Rules) Generate(ctx context.Context, req Request) (Response, error) {
	if err := ctx.Err(); err != nil {
		return Response{}, err
	}
	if len(req.Window) == 0 {
		return Response{}, &Error{Provider: ProviderRules, Kind: KindInvalidRequest,
			Message: "no messages: " + o.name + " answers extraction requests only"}
	}
	extraction := o.extract(req.Window, req.Works)
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
