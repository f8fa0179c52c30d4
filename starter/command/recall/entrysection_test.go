package recall_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/activities/entry"
	"axiommind/schema"
	"axiommind/starter/command/commandtest"
	"axiommind/worker/service"
)

// A profile summary shows its section, and a correction shows its mistake, from the transcript to the text output.
func TestEntryShowsSectionAndMistake(t *testing.T) {
	t.Parallel()
	c := commandtest.NewCLI(t)
	const work, port = "저는 네이버에서 일하고 있어요.", "아니요, 포트는 8080이 아니라 8081입니다."
	entryOf := func(message int, quote string, more map[string]any) map[string]any {
		e := map[string]any{"entryId": "e", "type": "fact", "title": quote, "confidence": 0.9, "evidence": []map[string]any{{"messageIndex": message, "quote": quote}}}
		maps.Copy(e, more)
		return e
	}
	c.Work(t, "--model-provider", "openai", "--model", "m", "--model-url", commandtest.AnsweringWith(t, []map[string]any{
		entryOf(0, work, map[string]any{"category": "context"}), entryOf(0, work, map[string]any{"section": "work"}),
		entryOf(2, port, map[string]any{"category": "correction", "sourceError": "8080"}),
	}))
	path := commandtest.Write(t, "session.jsonl", commandtest.Said(1, "user", work)+commandtest.Said(2, "assistant", "네.")+commandtest.Said(3, "user", port))
	processed := commandtest.JobsOf(t, c.Process(path, "-o", "json"))
	require.Equal(t, schema.BuildSuccess, processed[0].Result.Status, processed[0].Error)

	conn, err := service.ConnectClickHouse(t.Context(), c.Config(t), commandtest.Quiet)
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close()) }()
	rows, err := entry.NewReader(conn).Read(t.Context(), entry.InProject(c.Project), entry.Whole)
	require.NoError(t, err)
	var shown []string
	for _, r := range rows {
		require.True(t, r.EvidenceProven, r.Title)
		out := c.Run("entry", "show", r.ID, "--project", c.Project)
		require.Zero(t, out.Code, out.Err)
		shown = append(shown, out.Out)
	}
	require.Len(t, rows, 3, "the fact, its summary and the correction")
	all := strings.Join(shown, "\n")
	require.Contains(t, all, "type      fact (context)\n")
	require.Contains(t, all, "type      fact, section work of the profile\n")
	require.Contains(t, all, "type      fact (correction)\n")
	require.Contains(t, all, "mistake   8080\n")
}
