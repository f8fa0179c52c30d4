package llm

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"axiommind/activities/eventlog"
	"axiommind/activities/projection"
	"axiommind/activities/session"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
)

func TestMain(m *testing.M) { stacktest.Main(m) }

// bench is the room with the offline model on a database of its own.
type bench struct {
	*Activities
	meter *stacktest.Meter
	key   schema.SessionKey
	// logged is how many messages the session has.
	logged int
}

func newBench(t testing.TB) *bench {
	t.Helper()
	conn := stacktest.Migrated(t)
	b := &bench{meter: &stacktest.Meter{Conn: conn}, key: schema.SessionKey{Scope: schema.Scope{Project: "p", User: "u"}, SessionID: "s"}}
	var err error
	b.Activities, err = NewActivities(projection.New(b.meter, eventlog.Options{}).Store, asked{NewRules()}, Params{}, 0)
	require.NoError(t, err)
	return b
}

// say logs messages that follow those of the session in one event, and returns the size of its payload.
func (b *bench) say(t testing.TB, messages ...schema.Message) int {
	t.Helper()
	for i := range messages {
		messages[i].Index, messages[i].Key = b.logged, fmt.Sprint(b.logged)
		b.logged++
	}
	event, err := schema.NewEvent(schema.SessionIngestedPayload{SessionKey: b.key, Messages: messages}, schema.Event{
		TS: time.UnixMicro(1), Actor: "test", DedupeKey: schema.SessionIngestedKey(b.key, messages),
	})
	require.NoError(t, err)
	appended, err := b.log.Append(t.Context(), b.key.Stream(), []schema.Event{event})
	require.NoError(t, err)
	return len(appended.Events[0].Payload)
}

func (b *bench) ask(t testing.TB, w schema.Window) Request {
	t.Helper()
	s, err := session.Open(t.Context(), b.log, b.key)
	require.NoError(t, err)
	request, err := b.request(t.Context(), s, ExtractInput{SessionKey: b.key, Window: w})
	require.NoError(t, err)
	return request
}

func message(role schema.Role, kind schema.Kind, text string) schema.Message {
	return schema.Message{Role: role, Kind: kind, Text: text}
}

func TestWorkIsSeenBeyondTheWindow(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.say(t,
		message(schema.RoleUser, schema.KindText, "How do I keep bread fresh?"),
		message(schema.RoleAssistant, schema.KindThinking, "The user asks about bread."),
		message(schema.RoleUser, schema.KindContext, "Answer in short."),
		message(schema.RoleAssistant, schema.KindText, "Slicing the bread is done."),
		message(schema.RoleUser, schema.KindText, "Thanks."),
	)
	window := schema.Window{Last: 3}
	answer := func(request Request) string {
		resp, err := b.model.Generate(t.Context(), request)
		require.NoError(t, err)
		return resp.Text
	}
	chat := b.ask(t, window)
	require.Equal(t, `{"entries":[]}`, answer(chat), "thoughts and instructions are no tools")

	b.say(t, message(schema.RoleTool, schema.KindToolResult, "ok"))
	work := b.ask(t, window)
	require.Contains(t, answer(work), "licing the bread", "a tool was called after the window")
	require.Equal(t, chat.Prompt, work.Prompt)
	id := b.model.Identity()
	require.NotEqual(t, Key(id, PromptHash(), chat, window), Key(id, PromptHash(), work, window))
}

// asked is a model that is not local: its answers are stored before they are read.
type asked struct{ Model }

// A local model is not asked window by window: the plan records its results, and stores no answer of its own. A second
// attempt changes nothing.
func TestLocalModelIsNotAsked(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.model = NewRules()
	for i := range 3 {
		b.say(t, message(schema.RoleUser, schema.KindText, fmt.Sprintf("We decided to use database %d for part %d.", i, i)))
	}
	in := PlanInput{SessionKey: b.key, BuildID: "b", Extractor: ExtractorOf(b.model.Identity()), At: time.UnixMicro(1)}
	for range 2 {
		plan, err := b.plan(t.Context(), in)
		require.NoError(t, err)
		require.Empty(t, plan.Windows)
		require.False(t, plan.More)
		require.Equal(t, 1, plan.Recorded.Windows)
		require.Equal(t, 3, plan.Recorded.Entries)
		require.Equal(t, 1, plan.Recorded.Usage.Calls)
	}
	var recorded []schema.MemoryExtractedPayload
	for event, err := range b.log.Replay(t.Context(), eventlog.ReplayOptions{}) {
		require.NoError(t, err)
		require.NotEqual(t, schema.ModelResponded, event.Type)
		if event.Type == schema.MemoryExtracted {
			p, err := schema.Decode[schema.MemoryExtractedPayload](event)
			require.NoError(t, err)
			recorded = append(recorded, p)
		}
	}
	require.Len(t, recorded, 1)
	require.Len(t, recorded[0].Entries, 3)
	require.Equal(t, in.Extractor, recorded[0].Extractor)
}

// A plan reads only messages that are not extracted yet, and a window only its own: neither grows with the session.
func TestReadsWhatItNeeds(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	talk := strings.Repeat("Nothing came up that anybody wanted to write down. ", 500)
	sizes := make([]int, 6)
	for i := range sizes {
		sizes[i] = b.say(t, message(schema.RoleUser, schema.KindText, fmt.Sprint(i, " ", talk)))
	}
	in := PlanInput{SessionKey: b.key, BuildID: "b", Extractor: ExtractorOf(b.model.Identity())}
	b.meter.Take()
	planned, err := b.plan(t.Context(), in)
	require.NoError(t, err)
	require.Len(t, planned.Windows, 6)
	all := 0
	for _, n := range sizes {
		all += n
	}
	require.EqualValues(t, all, b.meter.Take(), "the whole session is new, and read once")

	b.ask(t, planned.Windows[4])
	require.Zero(t, b.meter.Take(), "the messages are still in memory")
	b.log = projection.New(b.meter, eventlog.Options{}).Store // As a worker has it that did not plan.
	b.ask(t, planned.Windows[4])
	require.EqualValues(t, sizes[4], b.meter.Take())

	for _, w := range planned.Windows {
		_, err := b.record(t.Context(), RecordInput{
			SessionKey: b.key, BuildID: "b", Extractor: in.Extractor, At: time.UnixMicro(1),
			Windows: []AnsweredWindow{{Window: w, Quarantined: "no answer", QuarantinedType: schema.ErrorModelMalformed}},
		})
		require.NoError(t, err)
	}
	added := b.say(t, message(schema.RoleUser, schema.KindText, "one more"))
	b.meter.Take()
	planned, err = b.plan(t.Context(), in)
	require.NoError(t, err)
	require.Len(t, planned.Windows, 1)
	extractions := 0
	for event, err := range b.log.Stream(t.Context(), b.key.Stream(), eventlog.StreamOptions{Types: []string{schema.MemoryExtracted}}) {
		require.NoError(t, err)
		extractions += len(event.Payload)
	}
	require.EqualValues(t, added+2*extractions, b.meter.Take(), "what is extracted is read again")
}
