package command

import (
	"strings"
	"testing"

	"github.com/rivo/uniseg"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
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

// A long text is cut around the words of a statement, wherever they are.
func TestExcerpt(t *testing.T) {
	t.Parallel()
	const statement = "We decided to use ClickHouse for the event log."
	long := strings.Repeat("The deployment of the week was calm. ", 20)
	lines := strings.Repeat("- a line of a list\n", 30)
	for name, tt := range map[string]struct{ text, statement, kept string }{
		"at the end":       {long + statement, statement, statement},
		"in the middle":    {long + statement + " " + long, statement, statement},
		"at the beginning": {statement + long, statement, statement},
		"in a list":        {lines + "- " + statement + "\n" + lines, statement, statement},
		"other words":      {long + "For events: use CLICKHOUSE, **decided**. " + long, statement, "For events: use CLICKHOUSE, **decided**."},
		"Chinese":          {strings.Repeat("天气很好。", 50) + "我们决定使用数据库。" + strings.Repeat("天气很好。", 50), "决定使用数据库", "我们决定使用数据库"},
		"no such words":    {long, "zebra", long[:20]},
		"no statement":     {long + statement, "", long[:20]},
		"short":            {statement, statement, statement},
		"begins a part":    {strings.Repeat(long, 50) + "alpha beta " + strings.Repeat("o ", maxExcerpted/4-6) + " zebra", "zebra alpha beta", "alpha beta"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cut := Excerpt(tt.text, tt.statement, 120)
			require.Contains(t, cut, tt.kept)
			require.LessOrEqual(t, uniseg.GraphemeClusterCount(cut), 120)
			whole := OneLine(tt.text, len(tt.text))
			kept := strings.TrimSuffix(strings.TrimPrefix(cut, "…"), "…")
			require.Contains(t, whole, kept)
			require.Equal(t, !strings.HasPrefix(whole, kept), strings.HasPrefix(cut, "…"))
			require.Equal(t, !strings.HasSuffix(whole, kept), strings.HasSuffix(cut, "…"))
		})
	}
}

func TestExcerptOfAnyText(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s, n := rapid.String().Draw(t, "text"), rapid.IntRange(1, 40).Draw(t, "length")
		cut := Excerpt(s, rapid.SampledFrom([]string{"", s, "a b", s[len(s)/2:]}).Draw(t, "statement"), n)
		require.LessOrEqual(t, uniseg.GraphemeClusterCount(cut), n)
	})
}
