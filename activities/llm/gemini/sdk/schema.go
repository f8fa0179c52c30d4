package sdk

import (
	"encoding/json"
	"fmt"

	"github.com/google/generative-ai-go/genai"
)

// jsonSchema is the part of JSON Schema that Gemini's response schema can express. It has no bounds and lengths; the
// reader checks those.
type jsonSchema struct {
	Type        string                 `json:"type"`
	Description string                 `json:"description"`
	Enum        []string               `json:"enum"`
	Properties  map[string]*jsonSchema `json:"properties"`
	Required    []string               `json:"required"`
	Items       *jsonSchema            `json:"items"`
}

var types = map[string]genai.Type{
	"object":  genai.TypeObject,
	"array":   genai.TypeArray,
	"string":  genai.TypeString,
	"integer": genai.TypeInteger,
	"number":  genai.TypeNumber,
	"boolean": genai.TypeBoolean,
}

// responseSchema converts a JSON Schema without references to Gemini's schema type.
func responseSchema(schema []byte) (*genai.Schema, error) {
	var js jsonSchema
	if err := json.Unmarshal(schema, &js); err != nil {
		return nil, fmt.Errorf("read response schema: %w", err)
	}
	return js.gemini("#")
}

func (s *jsonSchema) gemini(at string) (*genai.Schema, error) {
	typ, ok := types[s.Type]
	if !ok {
		return nil, fmt.Errorf("convert response schema: %s has type %q", at, s.Type)
	}
	out := &genai.Schema{Type: typ, Description: s.Description, Enum: s.Enum, Required: s.Required}
	if len(s.Enum) > 0 {
		out.Format = "enum"
	}
	if s.Items != nil {
		items, err := s.Items.gemini(at + "/items")
		if err != nil {
			return nil, err
		}
		out.Items = items
	}
	for name, p := range s.Properties {
		property, err := p.gemini(at + "/properties/" + name)
		if err != nil {
			return nil, err
		}
		if out.Properties == nil {
			out.Properties = make(map[string]*genai.Schema, len(s.Properties))
		}
		out.Properties[name] = property
	}
	return out, nil
}
