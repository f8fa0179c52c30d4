package main_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enums "go.temporal.io/api/enums/v1"
	"google.golang.org/protobuf/encoding/protojson"

	"axiommind/activities/build"
	"axiommind/deploy/local/sharedtest"
	"axiommind/schema"
)

// BenchmarkSession processes sessions of three sizes and reports, of each, the events of its history,
// the largest payload in it and how long each step took:
//
//	go test ./worker -run '^$' -bench Session -benchtime 1x
func BenchmarkSession(b *testing.B) {
	dir := b.TempDir()
	sessions := []struct{ name, uri string }{
		{"small", write(b, filepath.Join(dir, "small.jsonl"), said(1, "user", decision), said(2, "assistant", "Noted."))},
		{"long-chinese", "file://" + sharedtest.Data.Path(b, "transcripts", "long-chinese-session", "hermes_session_2026-05-15.txt")},
		{"1MB-claude-code", write(b, filepath.Join(dir, "large.jsonl"), toolSession(1<<20)...)},
	}
	stack := newBench(b)
	stack.start(b)
	for _, s := range sessions {
		b.Run(s.name, func(b *testing.B) {
			for i := range b.N {
				in := stack.input(fmt.Sprintf("%s-%d-%d", s.name, b.N, i), s.uri)
				run, err := stack.submit(b.Context(), in)
				require.NoError(b, err)
				var result schema.ProcessSessionResult
				require.NoError(b, run.Get(b.Context(), &result))
				if i == b.N-1 {
					stack.report(b, in, result)
				}
			}
		})
	}
}

func (b *bench) report(t *testing.B, in schema.ProcessSessionInput, result schema.ProcessSessionResult) {
	events, largest := 0, 0
	it := b.Temporal.GetWorkflowHistory(t.Context(), in.Key().WorkflowID(), "", false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for it.HasNext() {
		event, err := it.Next()
		require.NoError(t, err)
		events++
		data, err := protojson.Marshal(event)
		require.NoError(t, err)
		largest = max(largest, largestData(t, data))
	}
	t.ReportMetric(float64(events), "events")
	t.ReportMetric(float64(largest), "payload-B")
	t.ReportMetric(float64(result.Counts.Windows), "windows")
	t.ReportMetric(float64(result.Counts.Entries), "entries")
	detail, err := build.Show(t.Context(), b.ClickHouse, result.BuildID)
	require.NoError(t, err)
	for _, m := range detail.Metrics {
		t.ReportMetric(m.LatencyMS, m.Step+"-ms")
	}
	require.Less(t, largest, 64<<10)
}

// largestData returns the size of the largest payload of a history event.
func largestData(t testing.TB, event []byte) int {
	var v any
	require.NoError(t, json.Unmarshal(event, &v))
	largest := 0
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			if data, ok := v["data"].(string); ok {
				largest = max(largest, len(data)*3/4)
			}
			for _, child := range v {
				walk(child)
			}
		case []any:
			for _, child := range v {
				walk(child)
			}
		}
	}
	walk(v)
	return largest
}

// toolSession is a Claude Code session of about size bytes, 70 % of it results of tools.
func toolSession(size int) []string {
	var lines []string
	total := 0
	add := func(line string) {
		lines = append(lines, line)
		total += len(line) + 1
	}
	output := strings.Repeat("drwxr-xr-x 2 dev dev 4096 Mar  1 09:00 module\n", 60)
	talk := strings.Repeat("The module reads its settings once and passes them on by value. ", 11)
	for n := 1; total < size; n++ {
		at := time.Date(2026, 3, 1, 9, 0, n, 0, time.UTC).Format(time.RFC3339)
		add(said(n, "user", fmt.Sprintf("We decided to use module %d for step %d. %s", n, n, talk[:len(talk)/3])))
		add(fmt.Sprintf(`{"type":"assistant","uuid":"call-%d","sessionId":"c","timestamp":%q,"message":{"role":"assistant","content":[`+
			`{"type":"text","text":%q},{"type":"tool_use","id":"t%d","name":"Bash","input":{"command":"ls -l module%d"}}]}}`, n, at, talk, n, n))
		add(fmt.Sprintf(`{"type":"user","uuid":"result-%d","sessionId":"c","timestamp":%q,"message":{"role":"user","content":[`+
			`{"type":"tool_result","tool_use_id":"t%d","content":%q}]}}`, n, at, n, output))
	}
	return lines
}
