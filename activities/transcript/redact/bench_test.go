package redact

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// BenchmarkText redacts whole files, as one text each.
func BenchmarkText(b *testing.B) {
	files, _ := filepath.Glob("../../../../shared/data/transcripts/*/*")
	more, _ := filepath.Glob("../../../../shared/data/transcripts/*")
	for _, f := range append(files, more...) {
		text, err := os.ReadFile(f)
		if err != nil || len(text) < 100_000 || len(text) > 5_000_000 {
			continue
		}
		b.Run(filepath.Base(f), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				_, c := Text(string(text))
				b.ReportMetric(float64(c.Total()), "found")
			}
		})
	}
}

// BenchmarkNamesWithinNames redacts texts whose values reach to their end. The time for each byte must not grow with
// the size.
func BenchmarkNamesWithinNames(b *testing.B) {
	for _, size := range []int{100_000, 400_000} {
		for name, text := range hostile(size) {
			b.Run(fmt.Sprintf("%s/%dKB", name, size/1000), func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					Text(text)
				}
			})
		}
	}
}

// BenchmarkLong is of long texts: a tool's result of JSON inside JSON, and secrets by turns with placeholders. It reports the most
// memory in use.
func BenchmarkLong(b *testing.B) {
	line := `{"line": 7, "text": "func main() {\n\tfmt.Println(\"hello\")\n}\n", "url": "https://x.test/a%20b?q=%41"}` + "\n"
	for range 2 {
		quoted, err := json.Marshal(map[string]string{"out": strings.Repeat(line, 4)})
		require.NoError(b, err)
		line = string(quoted) + "\n"
	}
	for name, part := range map[string]string{"json": line, "secrets": "[redacted: a] pw=Abc12345 "} {
		for _, size := range []int{1 << 20, 5 << 20, 20 << 20} {
			text := strings.Repeat(part, size/len(part))
			b.Run(fmt.Sprintf("%s/%dMiB", name, size>>20), func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				var most atomic.Uint64
				done, ended := make(chan struct{}), make(chan struct{})
				go func() {
					defer close(ended)
					for {
						select {
						case <-done:
							return
						case <-time.After(10 * time.Millisecond):
							var m runtime.MemStats
							runtime.ReadMemStats(&m)
							most.Store(max(most.Load(), m.HeapInuse))
						}
					}
				}()
				for b.Loop() {
					Text(text)
				}
				close(done)
				<-ended
				b.ReportMetric(float64(most.Load()>>20), "MiB-in-use")
			})
		}
	}
}
