package evidence_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/schema"
)

// TestAlignmentAllocatesInProportion bounds the bytes that finding, or not finding, a quote may take:
// growth with the square of the message fails. It does not run in parallel with other tests, whose
// allocations would count.
func TestAlignmentAllocatesInProportion(t *testing.T) {
	text := strings.Repeat("The gardeners plant tulips under old oaks, when 12 frosts have left. ", 4000)
	for method, quote := range map[schema.Method]string{
		"":                       "nothing of this kind was ever written in that message at all, said the clerk",
		schema.MethodNormalized:  "the  GARDENERS plant tulips under old oaks",
		schema.MethodApproximate: "the gardeners plxnt tulips under oold oaks, when",
	} {
		t.Run(string(method), func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			e := align(text, quote)
			runtime.ReadMemStats(&after)
			require.Equal(t, method, e.Method)
			require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(40*len(text)))
		})
	}
}
