package llm

import (
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/schema"
)

func TestExtractionRequestHints(t *testing.T) {
	t.Parallel()
	user := func(index int, text string) schema.Message {
		return schema.Message{Index: index, Role: schema.RoleUser, Kind: schema.KindText, Text: text}
	}
	calm := []schema.Message{user(0, "The port is 8080."), user(1, "Go on.")}
	require.Equal(t, RenderWindow(calm), ExtractionRequest(calm, Params{}).Prompt)

	wrong := []schema.Message{user(3, "Perfect!"), user(7, "That's wrong, it is 8081."), user(9, "你理解错了")}
	prompt := ExtractionRequest(wrong, Params{}).Prompt
	require.Contains(t, prompt, RenderWindow(wrong)+"\nThis line is a hint and no message.")
	require.Contains(t, prompt, "corrects the agent in message 7, 9.")
	require.NotContains(t, prompt, "{messages}")

	require.Contains(t, ExtractionRequest(wrong[:1], Params{}).Prompt, "confirms what the agent does in message 3.")

	var many []schema.Message
	for i := range 2 * maxHinted {
		many = append(many, user(i, "try again"))
	}
	require.Contains(t, ExtractionRequest(many, Params{}).Prompt, "in message 6, 7, 8, 9, 10, 11.", "the last ones are named")
}
