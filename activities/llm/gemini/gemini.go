// Package gemini describes a client of Google's API. The client itself is in package sdk, which brings Google's
// libraries: only programs that call the model link it.
package gemini

import (
	"context"
	"net/http"
)

// Request is one generateContent request.
type Request struct {
	// Model is the model's name, with or without the prefix models/.
	Model string
	// System is the system instruction. It may be empty.
	System, Prompt string
	// Temperature is left to the model if it is nil, and MaxOutputTokens if it is 0.
	Temperature     *float64
	MaxOutputTokens int
	// Schema is the JSON Schema of the answer, or empty for free text.
	Schema []byte
}

// Client sends requests through the HTTP client that it was made with. The caller reads the responses there.
type Client interface {
	Generate(context.Context, Request) error
}

// NewClient makes a client without a request.
type NewClient func(context.Context, *http.Client) (Client, error)
