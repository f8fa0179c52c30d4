package evidence_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/activities/evidence"
	"axiommind/deploy/local/sharedtest"
	"axiommind/schema"
)

// BenchmarkPeer compares the CPU time of a pass over each alignment file with that of the peer in
// testdata/peer.mjs, in one run. It needs node, and AXIOMMIND_PEER to name where the peer is installed.
func BenchmarkPeer(b *testing.B) {
	peer := os.Getenv("AXIOMMIND_PEER")
	if peer == "" {
		b.Skip("AXIOMMIND_PEER does not name a directory with the peer: see testdata/peer.mjs")
	}
	for name, cases := range alignmentCases(b) {
		b.Run(name, func(b *testing.B) {
			path := sharedtest.Cases.Path(b, name)
			const passes = 10
			for b.Loop() {
				out, err := exec.CommandContext(b.Context(), "node", "testdata/peer.mjs", peer, path).Output()
				require.NoError(b, err)
				var classes map[string]struct{ Items, Aligned, Boundaries, Microseconds int }
				require.NoError(b, json.Unmarshal(out, &classes))
				theirs := 0
				for class, c := range classes {
					theirs += c.Microseconds
					b.Logf("peer, %-12s %4d items: aligned %d, exact boundaries %d, %d us", class, c.Items, c.Aligned, c.Boundaries, c.Microseconds)
				}
				before := cpuMicroseconds(b)
				for range passes {
					for _, item := range cases {
						evidence.NewAligner(message(item.Message), nil).Align(schema.Quote{Quote: item.Quote})
					}
				}
				ours := float64(cpuMicroseconds(b)-before) / passes
				b.ReportMetric(ours, "our-us")
				b.ReportMetric(float64(theirs), "peer-us")
				b.ReportMetric(float64(theirs)/ours, "times")
			}
		})
	}
}

// cpuMicroseconds is the CPU time that this process has used.
func cpuMicroseconds(b *testing.B) int64 {
	b.Helper()
	var u syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return (u.Utime.Nano() + u.Stime.Nano()) / 1000
}
