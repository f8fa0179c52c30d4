package evidence_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/activities/evidence"
	"axiommind/schema"
)

// A quote proves where it is a whole sentence, however many sentences before have it as a piece.
func TestProvesBehindManyPlaces(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		piece, quote, text string
		method             schema.Method
	}{
		"exact":      {"Now we keep it too. ", "keep it", "keep it", schema.MethodExact},
		"normalized": {"Now we keep  it too. ", "keep it", "Keep it.", schema.MethodNormalized},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			message := strings.Repeat(x.piece, 300) + "\n" + x.text + "\n" + x.text
			said := []schema.Message{{Role: schema.RoleUser, Kind: schema.KindText, Text: message}}
			e, aligned := evidence.NewAligner(said, func(int) string { return "m" }).AlignEntry([]schema.Quote{{Quote: x.quote}})
			require.True(t, aligned)
			require.Equal(t, x.method, e[0].Method)
			require.True(t, e[0].Proven)
			require.Nil(t, e[0].Within)
			require.Equal(t, len(x.piece)*300+1, e[0].Span.ByteStart)
			require.Len(t, e[0].Occurrences, evidence.MaxOccurrences)
			require.NoError(t, evidence.Verify(message, e[0], evidence.Rule))
		})
	}
}
