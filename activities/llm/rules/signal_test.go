package rules

import (
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/schema"
)

func TestSignals(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Signal{
		"That’s  wrong, use tabs":      SignalCorrection,
		"no, THAT IS INCORRECT":        SignalCorrection,
		"You misunderstood me":         SignalCorrection,
		"please try\nagain":            SignalCorrection,
		"不对，应该是 8081":                  SignalCorrection,
		"請重試一次":                        SignalCorrection,
		"違います。ポートは 8081 です。":           SignalCorrection,
		"그게 아니라 8081이야":                SignalCorrection,
		"that's wrong, but perfect!":   SignalCorrection,
		"yes, exactly":                 SignalReinforcement,
		"Yes. That's it":               SignalReinforcement,
		"Perfect!":                     SignalReinforcement,
		"perfect":                      SignalReinforcement,
		"that's exactly what I needed": SignalReinforcement,
		"keep doing that":              SignalReinforcement,
		"This is great, thanks":        "",
		"this is helpful.":             SignalReinforcement,
		"对，就是这样。":                      SignalReinforcement,
		"完全正确":                         SignalReinforcement,
		"完全正确的答案":                      "",
		"その通りです！":                      SignalReinforcement,
		"정확해요":                         SignalReinforcement,
		"a perfect storm":              "",
		"imperfect":                    "",
		"undo and redone":              "",
		"thanks":                       "",
		"":                             "",
	} {
		require.Equal(t, want, signalOf(text), "%q", text)
	}
}

func TestSignalsOfAConversation(t *testing.T) {
	t.Parallel()
	user := func(index int, text string) schema.Message {
		return schema.Message{Index: index, Role: schema.RoleUser, Kind: schema.KindText, Text: text}
	}
	agent, context := user(3, "that's wrong"), user(4, "that's wrong")
	agent.Role, context.Kind = schema.RoleAssistant, schema.KindContext
	require.Empty(t, Signals([]schema.Message{agent, context}), "only what a user says shows any")

	praise, wrong := user(1, "Perfect!"), user(2, "that's wrong")
	require.Equal(t, []Shown{{SignalReinforcement, 1}, {SignalReinforcement, 5}}, Signals([]schema.Message{praise, user(5, "yes, exactly")}))
	require.Equal(t, []Shown{{SignalCorrection, 2}}, Signals([]schema.Message{praise, wrong}), "a correction hides praise")

	long := []schema.Message{wrong}
	for i := range recentMessages - 1 {
		long = append(long, user(10+i, "go on"))
	}
	require.NotEmpty(t, Signals(long))
	long = append(long, user(20, "go on"))
	require.Empty(t, Signals(long), "only the last six messages count")
	require.Equal(t, []Shown{{SignalCorrection, 2}}, SignalsOf(long))
}
