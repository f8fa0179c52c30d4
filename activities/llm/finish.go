package llm

import (
	"cmp"
	"strings"
)

// finishes are the words, in lower case, that providers and servers of their protocols have for the reason why a model
// stopped. Gemini's enum may be given as a number.
var finishes = map[string]FinishReason{
	"stop": FinishStop, "1": FinishStop,

	"length": FinishLength, "max_tokens": FinishLength, "2": FinishLength, "max_output_tokens": FinishLength,
	"model_length": FinishLength, "model_context_window_exceeded": FinishLength,

	"content_filter": FinishBlocked, "safety": FinishBlocked, "3": FinishBlocked, "recitation": FinishBlocked, "4": FinishBlocked,
	"blocklist": FinishBlocked, "prohibited_content": FinishBlocked, "spii": FinishBlocked, "image_safety": FinishBlocked,
	"language": FinishBlocked,
}

// finishOf returns the reason that a provider's word means.
func finishOf(word string) FinishReason {
	return cmp.Or(finishes[strings.ToLower(word)], FinishUnknown)
}
