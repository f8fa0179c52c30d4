package truth_test

import (
	"bytes"
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"axiommind/activities/entry"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
	"axiommind/starter/command"
	"axiommind/starter/command/program"
	"axiommind/starter/command/progress"
)

func TestProgressReached(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	p := progress.New((&command.App{ErrOut: &out, Drawn: &out, Interactive: true}), 40, "entries verified")
	p.Reached(20, false)
	p.Reached(41, true)
	p.Finish()
	require.Contains(t, out.String(), "20/40")
	p = progress.New((&command.App{ErrOut: &out}), 9231, "entries verified")
	p.Reached(120, true)
	require.Contains(t, p.Line(t.Context()), "s: 120 of 9231 entries verified")
	p.Finish()
}

// verify reports its progress over sessions in a real database, with lines or a bar, and never in the JSON output.
func TestVerifyTells(t *testing.T) {
	t.Parallel()
	dsn := stacktest.MigratedDatabase(t)
	conn, log := emptyLog(t, dsn)
	for i := range 3 {
		bulk(t, conn, log, fmt.Sprintf("세션 %d/\"'", i), 4)
	}
	_, err := log.ProjectAll(t.Context(), entry.NewProjector(conn))
	require.NoError(t, err)
	for _, interactive := range []bool{false, true} {
		var out, errOut bytes.Buffer
		a := &command.App{Out: &out, ErrOut: &errOut, Exact: &out, Drawn: &errOut, Getenv: func(string) string { return "" }, Interactive: interactive, Quiet: time.Microsecond}
		require.Zero(t, program.Main(context.Background(), a, []string{"verify", "--clickhouse-dsn", dsn, "-o", "json"}), errOut.String())
		require.Contains(t, errOut.String(), "entries verified")
		require.NotContains(t, out.String(), "entries verified")
		require.Contains(t, out.String(), `"entries": 12`)
	}
	scope := schema.SessionKey{SessionID: "세션 1/\"'"}
	n, err := entry.NewReader(conn).CountAllEvidence(t.Context(), scope)
	require.NoError(t, err)
	require.EqualValues(t, 4, n)
}

// The rows of a table come from one query, in order and each once, even for a slow reader.
func TestStoredEvidenceIsOneQuery(t *testing.T) {
	t.Parallel()
	conn, log := emptyLog(t, stacktest.MigratedDatabase(t))
	const sessions, entries = 6, 700
	for i := range sessions {
		bulk(t, conn, log, fmt.Sprint("s", i), entries)
	}
	_, err := log.ProjectAll(t.Context(), entry.NewProjector(conn))
	require.NoError(t, err)
	given, last := 0, entry.Stored{}
	for row, err := range entry.NewReader(conn).AllEvidence(t.Context(), schema.SessionKey{}) {
		require.NoError(t, err)
		require.True(t, last.Stream < row.Stream || last.Stream == row.Stream && last.EntryID < row.EntryID)
		last = row
		if given++; given == 1 {
			// Rows written from here on belong to another audit.
			bulk(t, conn, log, "later", 3)
			_, err = log.ProjectAll(t.Context(), entry.NewProjector(conn))
			require.NoError(t, err)
		}
	}
	require.Equal(t, sessions*entries, given)
	for _, err := range entry.NewReader(conn).AllEvidence(t.Context(), schema.SessionKey{}) {
		require.NoError(t, err)
		break // a reader that stops early leaves no connection behind
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, err := range entry.NewReader(conn).AllEvidence(ctx, schema.SessionKey{}) {
		require.Error(t, err)
	}
}
