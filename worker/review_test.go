package main_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/schema"
)

// sessionEndsFact replays the build that ended the fact, and so many others.
func sessionEndsFact(t *testing.T, others int) {
	t.Helper()
	m := newModel(t)
	m.get(true)
	b := m.use(newBench(t))
	b.start(t)
	dir := t.TempDir()
	remembered := func() []string { return column(t, b.ClickHouse, "SELECT content FROM facts ORDER BY content") }
	first := b.process(t, b.input("first", write(t, filepath.Join(dir, "1.jsonl"),
		said(1, "user", "I prefer tabs in '한국어'."), said(2, "user", "I prefer tea."))))
	require.Equal(t, 2, first.Counts.Facts)
	require.Empty(t, m.reviewed(), "there was nothing to ask about")

	path := filepath.Join(dir, "2.jsonl")
	second := b.input("second", write(t, path, said(3, "user", "I no longer prefer tabs in '한국어'."), said(4, "assistant", "I no longer prefer tea.")))
	result := b.process(t, second)
	require.Equal(t, schema.BuildSuccess, result.Status)
	require.Equal(t, []string{"I prefer tea."}, remembered())
	require.Len(t, m.reviewed(), 1)
	require.Equal(t, 3, result.Usage.Calls, "the extraction, the summary and the review are counted")
	problems := b.show(t, result.BuildID).Problems
	require.Len(t, problems, 1)
	require.True(t, strings.HasPrefix(problems[0].Reason, "removal not said by user"), problems[0].Reason)

	// The session grows: only the new messages are asked about, and removed memories are not restored from the earlier
	// messages.
	grown, err := os.ReadFile(path)
	require.NoError(t, err)
	write(t, path, strings.TrimSpace(string(grown)), said(5, "user", "We decided to use Go."))
	third := b.process(t, second)
	require.Len(t, m.reviewed(), 2)
	require.NotContains(t, m.reviewed()[1], "tabs")

	b.awaitGraduated(t.Context(), t)
	before, requests := b.rows(t), m.requests()
	require.Equal(t, schema.BuildUnchanged, b.process(t, second).Status, "I1")
	if inCampaign(t) {
		b.requireSame(t, some(t, []string{first.BuildID, result.BuildID, third.BuildID}, others, result.BuildID)...)
	}
	b.rebuild(t)
	require.Equal(t, before, b.rows(t), "I3")
	require.Equal(t, []string{"I prefer tea."}, remembered())
	require.Equal(t, requests, m.requests(), "no model is asked")
	t.Log("survived: replay of a session that ends a fact")
}
