package graduate

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"axiommind/activities/evidence"
	"axiommind/activities/llm"
	"axiommind/schema"
)

// Only a plain yes counts as stated, in any form of answer.
func TestReadVerdicts(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]map[string]bool{
		`{"entries":[{"id":"e1","states":"yes","reason":"r"},{"id":"e2","states":"no","reason":"r"}]}`:                     {"e1": true, "e2": false},
		`[{"id":" E2 ","states":"YES"},{"id":"e1","states":"unclear"}]`:                                                    {"e1": false, "e2": true},
		"<think>{\"entries\":[{\"id\":\"e1\",\"states\":\"yes\"}]}</think>{\"entries\":[{\"id\":\"e2\",\"states\":true}]}": {"e1": false, "e2": true},
		`{"entries":[{"id":"e1","states":"yes"},{"id":"e1","states":"no"}]}`:                                               {"e1": false, "e2": false},
		`{"entries":[{"id":"e1","states":"yes"},{"id":"e2","sta`:                                                           {"e1": true, "e2": false},
		`{"entries":[{"id":1,"states":"yes"},{"id":"e3","states":"yes"},{"id":"e2","states":"yes, but"}]}`:                 {"e1": false, "e2": false},
		`{"entries":[]}`: {"e1": false, "e2": false},
	} {
		verdicts, err := readVerdicts(llm.Answered{Text: answer}, []string{"e1", "e2"})
		require.NoError(t, err, answer)
		got := map[string]bool{}
		for label, v := range verdicts {
			got[label] = v.yes
			require.NotEmpty(t, v.reason)
		}
		require.Equal(t, want, got, answer)
	}
	_, err := readVerdicts(llm.Answered{Text: "yes"}, []string{"e1"})
	require.Error(t, err)
}

// Any answer gives one verdict for each entry of the question and none for others.
func FuzzReadVerdicts(f *testing.F) {
	f.Add(`{"entries":[{"id":"e1","states":"yes","reason":"r"}]}`)
	f.Add("```\n[{\"id\":\"e2\",\"states\":[1]},{}]")
	f.Fuzz(func(t *testing.T, text string) {
		verdicts, err := readVerdicts(llm.Answered{Text: text}, []string{"e1", "e2"})
		if err != nil {
			return
		}
		require.Len(t, verdicts, 2)
		for label, v := range verdicts {
			require.Contains(t, []string{"e1", "e2"}, label)
			require.NotEmpty(t, v.reason)
			require.LessOrEqual(t, len(v.reason), maxVerdictReason+len("…"))
			require.True(t, !v.yes || strings.Contains(text, label) || strings.Contains(strings.ToLower(text), label) || strings.Contains(text, `\u`))
		}
	})
}

// An entry with any text is one line of the question, and survives a round trip.
func TestStatedRequestIsOneLineEach(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var entries []asked
		for i := range rapid.IntRange(1, 4).Draw(t, "entries") {
			entries = append(entries, asked{askLabel(i), rapid.String().Draw(t, "title"), []passage{{schema.RoleUser, rapid.String().Draw(t, "text")}}})
		}
		request := statedRequest(entries)
		lines := strings.Split(strings.TrimSuffix(request.Prompt, "\n"), "\n")
		require.Len(t, lines, len(entries))
		for i, line := range lines {
			var read struct {
				ID, Statement string
				Passages      []passage
			}
			require.NoError(t, json.Unmarshal([]byte(line), &read))
			require.Equal(t, entries[i], asked{read.ID, read.Statement, read.Passages})
		}
	})
}

// The whole sentences around any found quote are a proof by the current rule.
func TestWholeSentencesProve(t *testing.T) {
	t.Parallel()
	sentences := []string{"The limit is 8.", "그래서 우리는 금요일에 배포한다.", "It's \"done\", isn't it?", "- keep `a_b` for v1.5", "我们决定使用它。", "Perhaps not"}
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		for _, s := range rapid.SliceOfN(rapid.SampledFrom(sentences), 1, 5).Draw(t, "sentences") {
			b.WriteString(s + rapid.SampledFrom([]string{" ", "\n", "\n\n"}).Draw(t, "gap"))
		}
		text := b.String()
		runes := []rune(text)
		from := rapid.IntRange(0, len(runes)-1).Draw(t, "from")
		quote := string(runes[from:rapid.IntRange(from, len(runes)).Draw(t, "to")])
		aligner := evidence.NewAligner([]schema.Message{{Text: text}}, func(int) string { return "event" })
		found, _ := aligner.AlignEntry([]schema.Quote{{Quote: quote}})
		if !found[0].Found {
			return
		}
		whole, err := wholeSentence(schema.Message{Text: text}, "event", found[0])
		require.NoError(t, err)
		require.True(t, whole.Proven)
		require.Contains(t, whole.Text, strings.TrimSpace(found[0].Text))
		require.NoError(t, evidence.Verify(text, whole, evidence.Rule))
	})
}
