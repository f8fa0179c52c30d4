package llm

import "axiommind/activities/llm/answer"

// Result is what could be read from an answer.
type Result = answer.Result

// ReadExtraction parses the text of a model's answer: see [answer.Read].
func ReadExtraction(text string) (Result, error) { return answer.Read(text) }
