package command

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestHanging(t *testing.T) {
	t.Parallel()
	text := Hanging(strings.Repeat("promoted since it is proven ", 12), 20)
	lines := strings.Split(text, "\n")
	require.Greater(t, len(lines), 2)
	for i, line := range lines {
		require.LessOrEqual(t, len(line), LineWidth, line)
		require.Equal(t, i > 0, strings.HasPrefix(line, strings.Repeat(" ", 20)), line)
	}
	require.Equal(t, "said", Hanging("said", 20))
	require.Equal(t, "said also by 04a5ad1b, by ann", ShortIDs(`said also by "04a5ad1b-0000-5000-8000-000000000001", by ann`))
}
