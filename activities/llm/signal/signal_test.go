package signal

import (
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/schema"
)

func TestSignals(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Signal{
		"That’s  wrong, use tabs":      Correction,
		"no, THAT IS INCORRECT":        Correction,
		"You misunderstood me":         Correction,
		"please try\nagain":            Correction,
		"不对，应该是 8081":                  Correction,
		"請重試一次":                        Correction,
		"違います。ポートは 8081 です。":           Correction,
		"그게 아니라 8081이야":                Correction,
		"that's wrong, but perfect!":   Correction,
		"yes, exactly":                 Reinforcement,
		"Yes. That's it":               Reinforcement,
		"Perfect!":                     Reinforcement,
		"perfect":                      Reinforcement,
		"that's exactly what I needed": Reinforcement,
		"keep doing that":              Reinforcement,
		"This is great, thanks":        "",
		"this is helpful.":             Reinforcement,
		"对，就是这样。":                      Reinforcement,
		"完全正确":                         Reinforcement,
		"完全正确的答案":                      "",
		"その通りです！":                      Reinforcement,
		"정확해요":                         Reinforcement,
		"a perfect storm":              "",
		"imperfect":                    "",
		"undo and redone":              "",
		"thanks":                       "",
		"":                             "",
	} {
		require.Equal(t, want, signalOf(text), "%q", text)
	}
}

func TestOfAConversation(t *testing.T) {
	t.Parallel()
	user := func(index int, text string) schema.Message {
		return schema.Message{Index: index, Role: schema.RoleUser, Kind: schema.KindText, Text: text}
	}
	agent, context := user(3, "that's wrong"), user(4, "that's wrong")
	agent.Role, context.Kind = schema.RoleAssistant, schema.KindContext
	require.Empty(t, Last([]schema.Message{agent, context}), "only what a user says shows any")

	praise, wrong := user(1, "Perfect!"), user(2, "that's wrong")
	require.Equal(t, []Shown{{Reinforcement, 1}, {Reinforcement, 5}}, Last([]schema.Message{praise, user(5, "yes, exactly")}))
	require.Equal(t, []Shown{{Correction, 2}}, Last([]schema.Message{praise, wrong}), "a correction hides praise")

	long := []schema.Message{wrong}
	for i := range recentMessages - 1 {
		long = append(long, user(10+i, "go on"))
	}
	require.NotEmpty(t, Last(long))
	long = append(long, user(20, "go on"))
	require.Empty(t, Last(long), "only the last six messages count")
	require.Equal(t, []Shown{{Correction, 2}}, Of(long))
}
