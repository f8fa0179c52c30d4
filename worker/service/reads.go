package service

import (
	"axiommind/activities/llm"
	"axiommind/activities/llm/worth"
)

// Values of ModelReads.
const (
	ReadPassages = "passages"
	ReadAll      = "all"
)

// ExtractionParams returns the settings of an extraction.
func (c *Config) ExtractionParams() llm.Params {
	p := llm.Params{MaxOutputTokens: c.MaxOutputTokens}
	if c.ModelReads != ReadAll {
		p.Passages = worth.Version
	}
	return p
}
