package llm

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"axiommind/schema"
)

// An answer that ended at the limit of tokens is truncated, even if its JSON looks whole. Its window is asked about
// again, for the rest or in halves, and no other build uses the answer as its own.
func TestFinishAtTheLimitIsTruncated(t *testing.T) {
	t.Parallel()
	entry := `{"entryId":"e1","type":"decision","title":"We use Go.","evidence":[{"messageIndex":0,"quote":"We decided to use Go."}]}`
	for name, tt := range map[string]struct {
		text, finish string
		entries      int
		truncated    bool
	}{
		"empty, at its end":      {`{"entries":[]}`, "stop", 0, false},
		"whole, at its end":      {`{"entries":[` + entry + `]}`, "stop", 1, false},
		"empty":                  {`{"items":[],"entries":[]}`, "length", 0, true},
		"empty, of mistral":      {`{"entries":[]}`, "model_length", 0, true},
		"empty, of anthropic":    {`{"entries":[]}`, "max_tokens", 0, true},
		"empty, of gemini":       {`{"entries":[]}`, "MAX_TOKENS", 0, true},
		"with an entry":          {`{"entries":[` + entry + `]}`, "length", 1, true},
		"after the first entry":  {`{"entries":[` + entry + `,{"entryId":"e2`, "length", 1, true},
		"within the first entry": {`{"entries":[{"entryId":"e1`, "length", 0, true},
		"no json":                {`Let me think about "세션" first:`, "length", 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			content, err := json.Marshal(tt.text)
			require.NoError(t, err)
			w := serve(t, 200, nil, `{"choices":[{"message":{"content":`+string(content)+`},"finish_reason":"`+tt.finish+`"}],`+openAIUsage+`}`)
			b.model = openAIAt(t, w.URL+"/v1", "")
			b.say(t, message(schema.RoleUser, schema.KindText, "We decided to use Go.\n"+strings.Repeat("And so on.\n", 200)))
			planIn := PlanInput{SessionKey: b.key, BuildID: "first", Extractor: ExtractorOf(b.model.Identity()), At: time.UnixMicro(1)}
			plan, err := b.plan(t.Context(), planIn)
			require.NoError(t, err)
			require.Len(t, plan.Windows, 1)
			extractIn := ExtractInput{SessionKey: b.key, BuildID: "first", Extractor: planIn.Extractor, Window: plan.Windows[0]}
			result, err := b.extract(t.Context(), extractIn)
			require.NoError(t, err)
			require.Empty(t, result.Unreadable, "there is nothing to repair")
			recorded, err := b.record(t.Context(), RecordInput{
				SessionKey: b.key, BuildID: "first", Extractor: planIn.Extractor, At: time.UnixMicro(1),
				Windows: []AnsweredWindow{{Window: plan.Windows[0], Keys: []string{result.Key}}},
			})
			require.NoError(t, err)
			require.Equal(t, tt.entries, recorded.Entries)
			require.Equal(t, tt.truncated, recorded.Truncated == 1)
			require.Zero(t, recorded.Quarantined)

			again, err := b.plan(t.Context(), planIn)
			require.NoError(t, err)
			require.Equal(t, tt.truncated, len(again.Windows) > 0, again.Windows)
			calls := w.calls.Load()
			extractIn.BuildID = "second"
			_, err = b.extract(t.Context(), extractIn)
			require.NoError(t, err)
			require.Equal(t, tt.truncated, w.calls.Load() > calls)
		})
	}
}
