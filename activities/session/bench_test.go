package session

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/activities/eventlog"
	"axiommind/activities/projection"
	"axiommind/schema"
)

// codingSession is some 30 MB of messages as coding agents leave them: most are results of tools, and 3 MB are
// conversation, which is 100 windows.
func codingSession() []schema.Message {
	r := rand.New(rand.NewPCG(1, 2))
	var messages []schema.Message
	add := func(role schema.Role, kind schema.Kind, size int) {
		text := strings.Repeat("func main() {\n\tfmt.Println(\"안녕, world\")\n}\n", size/48+1)
		messages = append(messages, schema.Message{Index: len(messages), Role: role, Kind: kind, Text: fmt.Sprint(len(messages), text)})
	}
	for range 3100 {
		add(schema.RoleAssistant, schema.KindText, r.IntN(2000))
		add(schema.RoleAssistant, schema.KindToolCall, r.IntN(2000))
		add(schema.RoleTool, schema.KindToolResult, r.IntN(14000))
	}
	schema.MessageKeys(messages)
	return messages
}

func logSession(b *testing.B, log *projection.Store, key schema.SessionKey, messages []schema.Message, chunk int) (size int) {
	var events []schema.Event
	for first := 0; first < len(messages); {
		end, n := first, 0
		for end < len(messages) && (end == first || n+len(messages[end].Text) <= chunk) {
			n += len(messages[end].Text)
			end++
		}
		events = append(events, event(b, key, "b", messages[first:end]))
		first = end
	}
	appended, err := log.AppendAll(b.Context(), key.Stream(), events)
	require.NoError(b, err)
	for _, e := range appended.Events {
		size += len(e.Payload)
	}
	return size
}

// BenchmarkWindows reads windows of a session of 30 MB, each in an activity of its own: as ranges, and as before
// there were ranges. It reports how much is read and decoded for each window, and how much is kept in memory.
func BenchmarkWindows(b *testing.B) {
	messages := codingSession()
	log, meter := newLog(b)
	for _, chunk := range []int{1 << 20, 256 << 10, 64 << 10} {
		key := keyOf(fmt.Sprint("chunk ", chunk))
		size := logSession(b, log, key, messages, chunk)
		windows, _ := plan(messages, Frontier{}, false, 32<<10, 1000)
		for name, read := range map[string]func(w schema.Window) []schema.Message{
			"ranges": func(w schema.Window) []schema.Message {
				s, err := Open(b.Context(), log.Store, key)
				require.NoError(b, err)
				shown, err := s.Shown(b.Context(), w, false)
				require.NoError(b, err)
				return shown
			},
			"whole": func(w schema.Window) []schema.Message {
				var all []schema.Message
				for e, err := range log.Stream(b.Context(), key.Stream(), eventlog.StreamOptions{Types: []string{schema.SessionIngested}}) {
					require.NoError(b, err)
					p, err := schema.Decode[schema.SessionIngestedPayload](e)
					require.NoError(b, err)
					all = append(all, p.Messages...)
				}
				return Shown(all, w, false)
			},
		} {
			b.Run(fmt.Sprintf("chunk=%dK/%s", chunk>>10, name), func(b *testing.B) {
				meter.Take()
				n := 0
				var before, after runtime.MemStats
				runtime.GC()
				runtime.ReadMemStats(&before)
				for b.Loop() {
					require.NotEmpty(b, read(windows[n*37%len(windows)]))
					n++
				}
				runtime.ReadMemStats(&after)
				b.ReportMetric(float64(meter.Take())/float64(n)/1e6, "payload-MB/window")
				b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/float64(n)/1e6, "allocated-MB/window")
				b.ReportMetric(float64(size)/1e6, "session-MB")
				b.ReportMetric(float64(len(windows)), "windows")
			})
		}
		b.Run(fmt.Sprintf("chunk=%dK/align", chunk>>10), func(b *testing.B) {
			meter.Take()
			n := 0
			for b.Loop() {
				s, err := Open(b.Context(), log.Store, key)
				require.NoError(b, err)
				for _, w := range windows {
					_, err := s.Whole(b.Context(), w, false)
					require.NoError(b, err)
				}
				n++
			}
			b.ReportMetric(float64(meter.Take())/float64(n)/1e6, "payload-MB/session")
		})
		b.Run(fmt.Sprintf("chunk=%dK/unseen", chunk>>10), func(b *testing.B) {
			for b.Loop() {
				s, err := Open(b.Context(), log.Store, key)
				require.NoError(b, err)
				fresh, err := s.Unseen(b.Context(), messages)
				require.NoError(b, err)
				require.Empty(b, fresh)
			}
			require.Zero(b, meter.Take())
		})
	}
}
