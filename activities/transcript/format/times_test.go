package format

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"
	"pgregory.net/rapid"

	"axiommind/schema"
)

// dated are sources whose only time, %s, is a JSON value. On line 2 where the format has lines.
var dated = map[string]string{
	"claude-code":   `{"type":"summary","leafUuid":"l","summary":""}` + "\n" + `{"type":"user","sessionId":"s","timestamp":%s,"message":{"role":"user","content":"kept"}}`,
	"codex":         `{"type":"session_meta","payload":{"id":"s","cwd":"/w"}}` + "\n" + `{"type":"response_item","timestamp":%s,"payload":{"type":"message","role":"user","content":"kept"}}`,
	"chatgpt":       "[\n" + `{"conversation_id":"s","current_node":"n","mapping":{"n":{"message":{"author":{"role":"user"},"create_time":%s,"content":{"parts":["kept"]}}}}}]`,
	"qwen":          "\n" + `{"type":"user","sessionId":"s","timestamp":%s,"message":{"parts":[{"text":"kept"}]}}`,
	"copilot":       `{"type":"session.start","data":{"sessionId":"s"}}` + "\n" + `{"type":"user.message","timestamp":%s,"data":{"content":"kept"}}`,
	"deepseek":      `{"type":"session/title","seq":1,"data":{"title":"t"}}` + "\n" + `{"type":"user/message","seq":2,"time":%s,"data":{"source":{"kind":"user"},"content":"kept"}}`,
	"kimi":          `{"type":"metadata","protocol_version":1}` + "\n" + `{"type":"context.append_message","time":%s,"message":{"role":"user","content":"kept"}}`,
	"grok":          "\n" + `{"timestamp":%s,"params":{"sessionId":"s","update":{"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"kept"}}}}`,
	"antigravity":   "\n" + `{"source":"USER_EXPLICIT","created_at":%s,"content":"kept"}`,
	"gemini":        `{"sessionId":"s","startTime":"2026-01-01T00:00:00Z"}` + "\n" + `{"type":"user","timestamp":%s,"content":"kept"}`,
	"pi":            `{"type":"session","id":"s","timestamp":"2026-01-01T00:00:00Z"}` + "\n" + `{"type":"message","timestamp":%s,"message":{"role":"user","content":"kept"}}`,
	"cursor":        "\n" + `{"role":"user","timestamp":%s,"message":{"content":"kept"}}`,
	"cline":         "[\n" + `{"role":"user","ts":%s,"content":[{"type":"text","text":"<task>kept</task>"}]}]`,
	"messages":      "\n" + `{"role":"user","timestamp":%s,"content":"kept"}`,
	"codex-history": "\n" + `{"session_id":"s","ts":%s,"text":"kept"}`,
}

// oddTimes are JSON values that are no possible time.
var oddTimes = []string{
	`"9999-12-31T23:59:59Z"`, `"0001-01-01T00:00:00Z"`, `"1850-06-01T00:00:00Z"`, `"1979-12-31T23:59:59.999Z"`,
	`"2200-01-01T00:00:00Z"`, `"2199-12-31T23:59:59-01:00"`, `"2300-01-01"`, `"10000-01-01T00:00:00Z"`,
	`"yesterday"`, `"어제"`, `"NaN"`, `"-Inf"`, `"2026"`, `"2026-13-45T99:99:99Z"`, `"\u0000\u001b[31m"`, `"0x1p62"`,
	`1e30`, `-1e30`, `1e400`, `-1`, `-1753354800`, `42`, `315532799`, `7258118400`, `1e11`, `1e20`, `9223372036854775808`,
	`true`, `{"seconds":1}`, `[1]`,
}

// With any value in place of a time, the message is kept, and the line is listed with the value that was left out. The
// result can be written as JSON.
func TestOddTimes(t *testing.T) {
	t.Parallel()
	for format, source := range dated {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			for _, odd := range oddTimes {
				if format == "codex-history" && gjson.Parse(odd).Type != gjson.Number {
					continue // a line with no number there is none of the format
				}
				s, err := parseOne(strings.NewReader(fmt.Sprintf(source, odd)), Options{Format: format})
				require.NoError(t, err, odd)
				require.Len(t, s.Messages, 1, odd)
				require.Contains(t, s.Messages[0].Text, "kept", odd)
				require.True(t, s.Messages[0].At.IsZero(), "%s: %s", odd, s.Messages[0].At)
				require.Len(t, s.Skipped, 1, odd)
				require.Equal(t, 2, s.Skipped[0].Line, odd)
				require.Regexp(t, `^time ".+" (is not of the years 1980 to 2199|cannot be read): left out$`, s.Skipped[0].Reason)
				require.NotContains(t, s.Skipped[0].Reason, "\x1b")
				_, err = json.Marshal(s)
				require.NoError(t, err, odd)
			}
			for _, unset := range []string{`null`, `0`, `""`, `"0"`} {
				if format == "codex-history" && unset != "0" {
					continue
				}
				s, err := parseOne(strings.NewReader(fmt.Sprintf(source, unset)), Options{Format: format})
				require.NoError(t, err)
				require.True(t, s.Messages[0].At.IsZero())
				require.Empty(t, s.Skipped, "%s says that there is no time", unset)
			}
			s, err := parseOne(strings.NewReader(fmt.Sprintf(source, "1784278800500")), Options{Format: format})
			require.NoError(t, err)
			require.Equal(t, "2026-07-17T09:00:00.5Z", s.Messages[0].At.Format(time.RFC3339Nano))
			require.Empty(t, s.Skipped)
		})
	}
}

// The times of databases, and those of a session's header, follow the same rules.
func TestOddTimesOfSessions(t *testing.T) {
	t.Parallel()
	for name, source := range map[string]string{
		"goose":    "create table messages (id integer, session_id text, role text, content_json text, created_timestamp integer);\ninsert into messages values (1, 's', 'user', '[{\"type\":\"text\",\"text\":\"kept\"}]', %s);",
		"hermes":   "create table messages (id integer, session_id text, role text, content text, timestamp timestamp);\ninsert into messages values (1, 's', 'user', 'kept', %s);",
		"opencode": "create table session (id text, time_created integer);\ncreate table message (id text, session_id text, time_created integer, data text);\ncreate table part (id text, message_id text, data text);\ninsert into session values ('s', null);\ninsert into message values ('m', 's', %s, '{\"role\":\"user\"}');\ninsert into part values ('p', 'm', '{\"type\":\"text\",\"text\":\"kept\"}');",
		"zed":      "create table threads (id text, created_at text, updated_at text, data_type text, data blob);\ninsert into threads values ('s', %s, null, 'json', '{\"messages\":[{\"role\":\"user\",\"segments\":[{\"type\":\"text\",\"text\":\"kept\"}]}]}');",
		"aider":    "# aider chat started at %s\n\n#### kept\n",
		"copilot":  `{"type":"session.start","data":{"sessionId":"s","startTime":%s}}` + "\n" + `{"type":"user.message","data":{"content":"kept"}}`,
		"messages": `{"sessionId":"s","created_at":%s,"messages":[{"role":"user","content":"kept"}]}`,
	} {
		for _, odd := range []string{`"9999-12-31 23:59:59"`, `"0001-01-01T00:00:00Z"`, `"garbage"`, `"1e30"`, `"-62135596800"`} {
			value := odd
			switch name {
			case "goose", "hermes", "opencode", "zed":
				value = "'" + strings.Trim(odd, `"`) + "'"
			case "aider":
				value = strings.Trim(odd, `"`)
			}
			s, err := parseOne(strings.NewReader(fmt.Sprintf(source, value)), Options{Format: name})
			require.NoError(t, err, "%s: %s", name, odd)
			require.Len(t, s.Messages, 1, "%s: %s", name, odd)
			require.True(t, s.Started.IsZero() && s.Ended.IsZero() && s.Messages[0].At.IsZero(), "%s: %s: %v", name, odd, s)
			require.Len(t, s.Skipped, 1, "%s: %s: %v", name, odd, s.Skipped)
			require.Contains(t, s.Skipped[0].Reason, "left out")
			_, err = json.Marshal(s)
			require.NoError(t, err)
		}
	}
}

// A number since the epoch is read in its own unit, though nothing says which that is.
func TestEpochUnits(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := time.Unix(rapid.Int64Range(earliest.Unix(), latest.Unix()-1).Draw(t, "seconds"), 0).UTC()
		for unit, perSecond := range map[string]int64{"s": 1, "ms": 1e3, "us": 1e6, "ns": 1e9} {
			b := newBuilder(t.Context(), Options{}.withDefaults())
			n := want.Unix() * perSecond
			for _, got := range []time.Time{
				b.timeNumber(1, float64(n), ""), b.timeText(1, strconv.FormatInt(n, 10)), b.rowTime(row{"at": n}, "at"),
			} {
				// A float64 holds nanoseconds of our time to a microsecond.
				if d := got.Sub(want).Abs(); d > time.Microsecond || d > 0 && unit != "ns" {
					t.Fatalf("%d %s is %s, want %s", n, unit, got, want)
				}
			}
		}
	})
}

// No number makes a time outside the range, and none is lost without a note.
func TestNoImplausibleTime(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := math.Float64frombits(rapid.Uint64().Draw(t, "bits"))
		b := newBuilder(t.Context(), Options{}.withDefaults())
		got := b.timeNumber(1, n, "n")
		if noted := len(b.pending.listed) == 1; got.IsZero() == (!noted && n != 0) || !got.IsZero() && !Plausible(got) {
			t.Fatalf("%v is %s, noted: %v", n, got, b.pending)
		}
	})
}

// A record of several parts, or of a thousand messages, notes one odd time once.
func TestOddTimeNotedOnce(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("무", 50)
	in := `{"role":"assistant","timestamp":"` + long + `","content":"a","reasoning":"b","tool_calls":[{"id":"c","function":{"name":"f","arguments":"{}"}}]}`
	s, err := parseOne(strings.NewReader(in), Options{})
	require.NoError(t, err)
	require.Len(t, s.Messages, 3)
	require.Equal(t, []schema.Skipped{{Line: 1, Reason: `time "` + strings.Repeat("무", 20) + `…" cannot be read: left out`}}, s.Skipped)
}

var anyTime = regexp.MustCompile(`"20\d\d-\d\d-\d\d[T ][^"\\]{5,30}"|\b1[5-9]\d{8}(?:\d{3})?(?:\.\d+)?\b`)

// Whatever the times of a sample say, the same is said in it.
func TestSamplesWithOddTimes(t *testing.T) {
	t.Parallel()
	for _, s := range samples(t) {
		want, err := Parse(t.Context(), bytes.NewReader(s.data), Options{Name: s.name, Format: s.format})
		require.NoError(t, err)
		of, err := lookup(s.format)
		require.NoError(t, err)
		for text, number := range map[string]string{`"9999-12-31T23:59:59Z"`: "1e30", `"yesterday"`: "-5", `"\u0000어제"`: "42"} {
			odd := anyTime.ReplaceAllFunc(s.data, func(found []byte) []byte {
				if found[0] == '"' {
					return []byte(text)
				}
				return []byte(number)
			})
			got, err := Parse(t.Context(), bytes.NewReader(odd), Options{Name: s.name, Format: s.format})
			require.NoError(t, err, s.path)
			requireSound(t, got)
			require.Len(t, got, len(want), s.path)
			_, err = json.Marshal(got)
			require.NoError(t, err, s.path)
			for i := range want {
				require.Len(t, got[i].Messages, len(want[i].Messages), "%s: %v", s.path, got[i].Skipped)
				for j, m := range got[i].Messages {
					if !of.migrated || m.Kind != schema.KindContext { // The claims about an item repeat its times.
						require.Equal(t, want[i].Messages[j].Text, m.Text, s.path)
					}
					require.True(t, m.At.IsZero() || Plausible(m.At), s.path)
				}
			}
		}
	}
}
