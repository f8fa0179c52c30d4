package redact

import (
	"os"
	"path/filepath"
	"testing"
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
