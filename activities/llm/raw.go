package llm

import "fmt"

// ReadRaw reads a stored body of the provider again, without the network, so that a better reader
// does not pay twice. Response.CostUSD is nil: reading again costs nothing.
//
// A body that is an answer of no use gives the same error as the live call did.
func ReadRaw(provider string, raw []byte) (Response, error) {
	switch provider {
	case ProviderGemini:
		return readGemini(raw)
	case ProviderOpenAI:
		return readOpenAI(raw)
	case ProviderRules:
		return readRules(raw)
	default:
		return Response{}, fmt.Errorf("read raw answer: unknown provider %q", provider)
	}
}
