package format

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// claudeSession makes a Claude Code session of at least the size, of which tool output is 70 %.
func claudeSession(size int) []byte {
	var b bytes.Buffer
	output := strings.Repeat("drwxr-xr-x 2 user user 4096 Jan  2 03:04 some/directory\\n", 40)
	for i := 0; b.Len() < size; i++ {
		at := fmt.Sprintf("2026-01-02T03:%02d:%02dZ", i/60%60, i%60)
		fmt.Fprintf(&b, `{"parentUuid":"p%[1]d","isSidechain":false,"userType":"external","cwd":"/w","sessionId":"bench","version":"2.0.1","type":"user","message":{"role":"user","content":"please look at step %[1]d and tell what is wrong"},"uuid":"u%[1]d","timestamp":%[2]q}`+"\n", i, at)
		fmt.Fprintf(&b, `{"parentUuid":"u%[1]d","isSidechain":false,"userType":"external","cwd":"/w","sessionId":"bench","version":"2.0.1","message":{"id":"m%[1]d","type":"message","role":"assistant","model":"x","content":[{"type":"text","text":"I will list the directory first, then decide.\nStep %[1]d."},{"type":"tool_use","id":"t%[1]d","name":"Bash","input":{"command":"ls -l %[1]d"}}],"usage":{"input_tokens":4,"output_tokens":120}},"type":"assistant","uuid":"a%[1]d","timestamp":%[2]q}`+"\n", i, at)
		fmt.Fprintf(&b, `{"parentUuid":"a%[1]d","isSidechain":false,"userType":"external","cwd":"/w","sessionId":"bench","version":"2.0.1","type":"user","message":{"role":"user","content":[{"tool_use_id":"t%[1]d","type":"tool_result","content":"%[3]s"}]},"uuid":"r%[1]d","timestamp":%[2]q}`+"\n", i, at, output)
	}
	return b.Bytes()
}

func BenchmarkParseClaude10MB(b *testing.B) {
	data := claudeSession(10 << 20)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		s, err := parseOne(bytes.NewReader(data), Options{})
		require.NoError(b, err)
		require.NotEmpty(b, s.Messages)
	}
}

func BenchmarkDetect(b *testing.B) {
	data := claudeSession(headSize)
	b.SetBytes(headSize)
	b.ReportAllocs()
	for b.Loop() {
		_, err := detect("", data)
		require.NoError(b, err)
	}
}
