package graduate

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"axiommind/activities/llm"
	"axiommind/schema"
)

// Only a plain yes counts as a contradiction, in any form of answer. Answers about other pairs are ignored.
func TestReadPairAnswers(t *testing.T) {
	t.Parallel()
	const yes, no, unclear = schema.PairContradicts, schema.PairCompatible, schema.PairUnclear
	for answer, want := range map[string]struct {
		one, two schema.PairVerdict
		dropped  int
	}{
		`{"entries":[{"id":"p1","contradict":"yes","reason":"r"},{"id":"p2","contradict":"no","reason":"r"}]}`:                                     {yes, no, 0},
		`[{"id":" P2 ","contradict":"YES"},{"id":"p1","contradict":"unclear"}]`:                                                                    {unclear, yes, 0},
		"<think>{\"entries\":[{\"id\":\"p1\",\"contradict\":\"yes\"}]}</think>{\"entries\":[{\"id\":\"p2\",\"contradict\":true}]}":                 {unclear, yes, 0},
		`{"entries":[{"id":"p1","contradict":"yes"},{"id":"p1","contradict":"no"}]}`:                                                               {unclear, unclear, 0},
		`{"entries":[{"id":"p1","contradict":"yes"},{"id":"p1","contradict":"yes"},{"id":"p2","contradict":"yes, if"}]}`:                           {yes, unclear, 0},
		`{"entries":[{"id":"p1","contradict":"yes"},{"id":"p2","contra`:                                                                            {yes, unclear, 0},
		`{"entries":[{"id":1,"contradict":"yes"},{"id":"p3","contradict":"yes"},{"id":"p1 and p2","contradict":"yes"},{"contradict":"yes"},"p1"]}`: {unclear, unclear, 5},
		`{"entries":[]}`: {unclear, unclear, 0},
	} {
		answers, dropped, err := readPairAnswers(llm.Answered{Text: answer}, []string{"p1", "p2"})
		require.NoError(t, err, answer)
		require.Len(t, answers, 2)
		require.Equal(t, []any{want.one, want.two, want.dropped}, []any{answers["p1"].verdict, answers["p2"].verdict, dropped}, answer)
		require.NotEmpty(t, answers["p1"].reason)
	}
	_, _, err := readPairAnswers(llm.Answered{Text: "they do"}, []string{"p1"})
	require.Error(t, err)
}

// Any answer gives one verdict for each pair of the question and none for others.
func FuzzReadPairAnswers(f *testing.F) {
	f.Add(`{"entries":[{"id":"p1","contradict":"yes","reason":"r"}]}`)
	f.Add("```\n[{\"id\":\"p2\",\"contradict\":[1]},{}]")
	f.Fuzz(func(t *testing.T, text string) {
		answers, dropped, err := readPairAnswers(llm.Answered{Text: text}, []string{"p1", "p2"})
		if err != nil {
			return
		}
		require.Len(t, answers, 2)
		require.GreaterOrEqual(t, dropped, 0)
		for label, a := range answers {
			require.Contains(t, []string{"p1", "p2"}, label)
			require.Contains(t, []schema.PairVerdict{schema.PairContradicts, schema.PairCompatible, schema.PairUnclear}, a.verdict)
			require.NotEmpty(t, a.reason)
			require.LessOrEqual(t, len(a.reason), maxVerdictReason+len("…"))
		}
	})
}

// A pair with any texts is one line of the question, and survives a round trip.
func TestContradictRequestIsOneLineEach(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		said := func(name string) schema.Entry {
			return schema.Entry{Type: schema.EntryFact, OccurredAt: spring, Title: rapid.String().Draw(t, name), Content: rapid.String().Draw(t, name+" text")}
		}
		var pairs []askedPair
		for i := range rapid.IntRange(1, 4).Draw(t, "pairs") {
			pairs = append(pairs, askedPair{pairLabel(i), said("older"), said("newer")})
		}
		request := contradictRequest(pairs)
		lines := strings.Split(strings.TrimSuffix(request.Prompt, "\n"), "\n")
		require.Len(t, lines, len(pairs))
		for i, line := range lines {
			var read struct {
				ID           string
				Older, Newer note
			}
			require.NoError(t, json.Unmarshal([]byte(line), &read))
			require.Equal(t, pairs[i].label, read.ID)
			require.Equal(t, []note{noteOf(pairs[i].older), noteOf(pairs[i].newer)}, []note{read.Older, read.Newer})
		}
	})
}
