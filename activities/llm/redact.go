package llm

import (
	"bytes"
	"encoding/json"

	"axiommind/activities/transcript/redact"
)

// redactedRaw returns a response without the secrets in it. The model was shown none, but may know some of its own, and
// its server may reveal one. A response in JSON stays JSON: each of its texts is redacted by itself.
func redactedRaw(raw []byte) []byte {
	if text, counts := redact.Text(string(raw)); counts == nil {
		return raw
	} else if !json.Valid(raw) {
		return []byte(text)
	}
	in := json.NewDecoder(bytes.NewReader(raw))
	in.UseNumber()
	var value any
	if in.Decode(&value) != nil {
		return nil // It is valid, so this can't be.
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if encoder.Encode(redactedValue(value)) != nil {
		return nil
	}
	return bytes.TrimSpace(out.Bytes())
}

// redactedValue redacts all texts of a decoded value.
func redactedValue(value any) any {
	switch v := value.(type) {
	case string:
		text, _ := redact.Text(v)
		return text
	case []any:
		for i := range v {
			v[i] = redactedValue(v[i])
		}
	case map[string]any:
		for name := range v {
			v[name] = redactedValue(v[name])
		}
	}
	return value
}
