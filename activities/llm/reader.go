package llm

import "axiommind/activities/llm/answer"

// Result is what could be read of an answer.
type Result = answer.Result

// ErrUnreadable is what [ReadExtraction] returns, wrapped with the reason, for an answer that holds
// no extraction.
var ErrUnreadable = answer.ErrUnreadable

// ReadExtraction reads the text of a model's answer: see [answer.Read].
func ReadExtraction(text string) (Result, error) { return answer.Read(text) }
