package llm

import (
	"encoding/json"

	"axiommind/activities/llm/answer"
)

// Result is the readable part of an answer.
type Result = answer.Result

// ReadExtraction parses the text of a model's answer: see [answer.Read].
func ReadExtraction(text string) (Result, error) { return answer.Read(text) }

// ReadList parses the text of a model's answer to a question that wants a list: see [answer.ReadList].
func ReadList(text string) (items []json.RawMessage, truncated bool, err error) {
	return answer.ReadList(text)
}
