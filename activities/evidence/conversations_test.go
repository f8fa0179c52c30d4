package evidence

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/schema"
)

var sentence = regexp.MustCompile(`(?s).+?(?:[.!?]+(?:\s|$)|$)`)

// TestSentencesOfConversationsProve holds doubts to their price: whole sentences of real conversations,
// verbatim, in capitals and with other spaces, prove what they say.
func TestSentencesOfConversationsProve(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(filepath.Join(sharedDir(t, "AXIOMMIND_DATA", "../shared/data"), "locomo", "locomo-dev.json"))
	require.NoError(t, err)
	var samples []struct {
		Conversation map[string]json.RawMessage `json:"conversation"`
	}
	require.NoError(t, json.Unmarshal(raw, &samples))
	spoil := map[string]func(string) string{
		"verbatim": func(s string) string { return s },
		"capitals": strings.ToUpper,
		"spaces":   func(s string) string { return strings.ReplaceAll(s, " ", "\u00a0\n") },
	}
	sentences, proved := map[string]int{}, map[string]int{}
	for _, sample := range samples {
		for _, session := range sample.Conversation {
			var turns []struct{ Text string }
			if json.Unmarshal(session, &turns) != nil {
				continue // a date or a name
			}
			for _, turn := range turns {
				a := NewAligner(message(turn.Text), nil)
				for _, quote := range sentence.FindAllString(turn.Text, -1) {
					if quote = strings.TrimSpace(quote); letters(quote) < MinLetters {
						continue
					}
					for kind, change := range spoil {
						sentences[kind]++
						if _, aligned := a.AlignEntry([]schema.Quote{{Quote: change(quote)}}); aligned {
							proved[kind]++
						}
					}
				}
			}
		}
	}
	for kind := range spoil {
		t.Logf("%s: %d of %d sentences of conversations prove", kind, proved[kind], sentences[kind])
		require.GreaterOrEqual(t, float64(proved[kind]), 0.999*float64(sentences[kind]), kind)
	}
	require.Greater(t, sentences["verbatim"], 1000)
}
