package evidence

import (
	"encoding/json"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/activities/llm"
	"axiommind/schema"
)

var askAt = flag.String("ask", "", "ask the model of an OpenAI-compatible server at this URL, and record its answers")

// answersFile holds windows of sessions, and the answers that a model of 1.5 billion parameters gave about them.
const answersFile = "testdata/answers.json"

// asked is a window of a session and the answer about it.
type asked struct {
	Name     string           `json:"name"`
	Messages []schema.Message `json:"messages"`
	// Keeps has a part of each quote that proves an entry of the answer.
	Keeps []string `json:"keeps,omitempty"`
	// Raw is the body of the response.
	Raw json.RawMessage `json:"raw,omitempty"`
}

func (a *asked) request() llm.Request {
	for i := range a.Messages {
		a.Messages[i].Index, a.Messages[i].Kind = i, schema.KindText
	}
	return llm.ExtractionRequest(a.Messages, llm.Params{})
}

func readAnswers(t *testing.T) []asked {
	t.Helper()
	raw, err := os.ReadFile(answersFile)
	require.NoError(t, err)
	var out []asked
	require.NoError(t, json.Unmarshal(raw, &out))
	return out
}

func TestRecordAnswers(t *testing.T) {
	if *askAt == "" {
		t.Skip("run with -ask URL after the prompt has changed")
	}
	all := readAnswers(t)
	model, err := llm.NewModel(t.Context(), llm.Config{Provider: llm.ProviderOpenAI, Model: "qwen2.5-coder-1.5b-instruct", BaseURL: *askAt})
	require.NoError(t, err)
	for i := range all {
		response, err := model.Generate(t.Context(), all[i].request())
		require.NoError(t, err)
		t.Log(all[i].Name, response.Usage)
		all[i].Raw = response.Raw
	}
	out, err := json.MarshalIndent(all, "", " ")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(answersFile, append(out, '\n'), 0o600))
}

// TestWeakModelProves: of the answers of a small model, only those that quote whole sentences of the speaker are
// proven. An order in a pasted text, which the model took for the user's, proves nothing, nor does a piece of a
// sentence that says the opposite (I1).
func TestWeakModelProves(t *testing.T) {
	t.Parallel()
	for _, a := range readAnswers(t) {
		t.Run(a.Name, func(t *testing.T) {
			t.Parallel()
			window := a.request().Window
			response, err := llm.ReadRaw(llm.ProviderOpenAI, a.Raw)
			require.NoError(t, err)
			read, err := llm.ReadExtraction(response.Text)
			require.NoError(t, err)
			aligner := NewAligner(window, func(int) string { return "e" })
			var proofs []string
			for _, e := range read.Entries {
				proof, _ := aligner.AlignEntry(e.Evidence)
				if !Proven(proof) {
					continue
				}
				for _, p := range proof {
					proofs = append(proofs, window[p.MessageIndex].Text[p.Span.ByteStart:p.Span.ByteEnd])
				}
			}
			for _, want := range a.Keeps {
				require.True(t, slices.ContainsFunc(proofs, func(p string) bool { return strings.Contains(p, want) }), "%q is kept of %q", want, proofs)
			}
			require.Len(t, proofs, len(a.Keeps), proofs)
		})
	}
}
