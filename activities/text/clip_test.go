package text_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/activities/text"
)

func TestClip(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		in         string
		n          int
		head, clip string
	}{
		{"", 0, "", ""},
		{"검색", 6, "검색", "검색"},
		{"검색", 5, "검", "검…"},
		{"검색", 3, "검", "검…"},
		{"검색", 2, "", "…"},
		{"a\xffbc", 3, "a\xffb", "ab…"},
		{"a\xff", 3, "a\xff", "a\xff"},
	} {
		require.Equal(t, test.head, text.Head(test.in, test.n), "%q %d", test.in, test.n)
		require.Equal(t, test.clip, text.Clip(test.in, test.n), "%q %d", test.in, test.n)
	}
}
