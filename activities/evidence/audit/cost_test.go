package audit

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"axiommind/schema"
)

// manyOf is a session of so many entries; each message holds the quotes of perMessage of them.
func manyOf(t testing.TB, entries, perMessage int) *record {
	var texts []string
	var quotes [][]schema.Quote
	for i := 0; i < entries; i += perMessage {
		var text strings.Builder
		for n := range perMessage {
			quote := fmt.Sprintf("We decided that run %d of the importer keeps the first copy.", i+n)
			text.WriteString(quote + " ")
			quotes = append(quotes, quotesIn(len(texts), quote))
		}
		texts = append(texts, text.String())
	}
	return recordOf(t, texts, quotes...)
}

// The audit of a session grows as its entries do: eight times as many take about eight times as long,
// where comparing all with all took 64 times.
func TestIsLinear(t *testing.T) {
	took := func(entries int) time.Duration {
		best := time.Hour
		for range 3 {
			r := manyOf(t, entries, 2)
			started := time.Now()
			require.Empty(t, r.check().Findings)
			best = min(best, time.Since(started))
		}
		return best
	}
	small, large := took(400), took(3200)
	require.Less(t, large, 28*small, "400 entries took %v, 3200 took %v", small, large)
}

// A message is prepared once, however many pieces of evidence lie in it.
func TestPreparesMessagesOnce(t *testing.T) {
	t.Parallel()
	r := manyOf(t, 60, 20)
	require.Empty(t, r.check().Findings)
	require.Len(t, r.sources, 3)
	first := r.source(0)
	require.Same(t, first, r.source(0))
	require.Empty(t, r.check().Findings)
	require.Same(t, first, r.source(0))
}
