package show_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"axiommind/schema"
	"axiommind/starter/command/show"
)

// The segments are the text, and each byte is in the spans that contain it.
func TestSegments(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		var spans [][]schema.Span
		for range rapid.IntRange(0, 4).Draw(t, "lists") {
			var list []schema.Span
			for range rapid.IntRange(0, 3).Draw(t, "spans") {
				list = append(list, schema.Span{ByteStart: rapid.IntRange(-1, len(text)+1).Draw(t, "start"), ByteEnd: rapid.IntRange(-1, len(text)+1).Draw(t, "end")})
			}
			spans = append(spans, list)
		}
		var whole strings.Builder
		for _, s := range show.Segments(text, spans) {
			require.NotEmpty(t, s.Text)
			for at := whole.Len(); at < whole.Len()+len(s.Text); at++ {
				var in []int
				for i, list := range spans {
					for _, of := range list {
						if of.ByteStart >= 0 && of.ByteEnd <= len(text) && of.ByteStart <= at && at < of.ByteEnd {
							in = append(in, i)
							break
						}
					}
				}
				require.Equal(t, in, s.In, "byte %d", at)
			}
			whole.WriteString(s.Text)
		}
		require.Equal(t, text, whole.String())
	})
}
