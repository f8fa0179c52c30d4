package llm

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"axiommind/activities/eventlog"
	"axiommind/schema"
)

// A recorded window that shows other messages today is said to have moved, with both hashes; an answer that is not there
// is missed, and named.
func TestReplayWindows(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.say(t, message(schema.RoleUser, schema.KindText, "We decided to use ClickHouse for the 로그."))
	recorded := schema.MemoryExtractedPayload{
		SessionID: "s", Window: schema.Window{Hash: "as it was"}, Extractor: ExtractorOf(NewRules().Identity()), ResponseKeys: []string{},
	}
	in := ReplayInput{RecordInput: RecordInput{SessionKey: b.key, BuildID: "b", At: time.UnixMicro(1)}, Recorded: []schema.MemoryExtractedPayload{recorded}}
	result, err := Replay(t.Context(), b.log, in)
	require.NoError(t, err)
	require.Equal(t, 1, result.Entries)
	require.Equal(t, NewRules().Identity().String(), result.Here)
	require.Len(t, result.Moved, 1)
	require.Equal(t, "as it was", result.Moved[0].Window.Hash)
	require.Len(t, result.Moved[0].Hash, 64)

	in.Recorded[0].Extractor.Provider, in.Recorded[0].ResponseKeys = ProviderOpenAI, []string{"gone"}
	_, err = Replay(t.Context(), b.log, in)
	require.ErrorIs(t, err, eventlog.ErrNotFound)
	require.ErrorContains(t, err, `read the answer for messages 0 to 0: the log holds none with the recorded key "gone"`)
}

// Answers that a worker computed are computed again by the model that the build was made with.
func TestReplayComputesWithTheSameModel(t *testing.T) {
	t.Parallel()
	const found = "The pool in `pkg/sync` was exhausted because `openFile` takes a connection for each file."
	for _, model := range []Rules{NewRules(), NewWorth()} {
		b := newBench(t)
		b.say(t, message(schema.RoleUser, schema.KindText, found))
		in := ReplayInput{RecordInput: RecordInput{SessionKey: b.key, BuildID: "b", At: time.UnixMicro(1)}, Recorded: []schema.MemoryExtractedPayload{
			{SessionID: "s", Extractor: ExtractorOf(model.Identity()), ResponseKeys: []string{}},
		}}
		result, err := Replay(t.Context(), b.log, in)
		require.NoError(t, err)
		require.Equal(t, model.Identity().String(), result.Here)
		require.Equal(t, model.name == NewWorth().name, result.Entries == 1)
	}
}

// Windows are read in pages of one extractor; one that something was kept of begins a page, for that is read from the log.
func TestReplayPages(t *testing.T) {
	t.Parallel()
	window := func(model string, kept bool) schema.MemoryExtractedPayload {
		return schema.MemoryExtractedPayload{Extractor: schema.Extractor{Model: model}, Window: schema.Window{Kept: kept}}
	}
	all := []schema.MemoryExtractedPayload{window("a", true), window("a", false), window("a", true), window("b", false)}
	for range 2 * maxPlanned {
		all = append(all, window("b", false))
	}
	var sizes []int
	for _, page := range pagesOf(all) {
		sizes = append(sizes, len(page))
	}
	require.Equal(t, []int{2, 1, maxPlanned, maxPlanned, 1}, sizes)
	require.Empty(t, pagesOf(nil))
}
