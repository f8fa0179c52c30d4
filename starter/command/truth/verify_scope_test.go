package truth_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/stretchr/testify/require"

	"axiommind/activities/entry"
	"axiommind/activities/eventlog"
	"axiommind/activities/evidence/audit"
	"axiommind/activities/projection"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
	"axiommind/starter/command/truth"
)

// noted records the arguments of the queries that read payloads.
type noted struct {
	driver.Conn
	asked []string
}

func (n *noted) Query(ctx context.Context, query string, args ...any) (driver.Rows, error) {
	if strings.Contains(query, "payload_json") {
		n.asked = append(n.asked, fmt.Sprintln(args...))
	}
	return n.Conn.Query(ctx, query, args...)
}

// Verifying one session reads no other session, with or without the names of its scope.
func TestVerifyOfASessionReadsNoOther(t *testing.T) {
	t.Parallel()
	conn, log := emptyLog(t, stacktest.MigratedDatabase(t))
	ids := []string{"a", "a2", "b/세션"}
	for _, id := range ids {
		remember(t, conn, id, 0, 2)
	}
	_, err := log.ProjectAll(t.Context(), entry.NewProjector(conn))
	require.NoError(t, err)
	for _, id := range ids {
		for _, scope := range []schema.Scope{{}, {Project: "bench"}, {User: "u"}, {Project: "bench", User: "u"}} {
			key := schema.SessionKey{Scope: scope, SessionID: id}
			n := &noted{Conn: conn}
			tally := audit.NewTally()
			rows := truth.StoredEvidence(entry.NewReader(conn).AllEvidence(t.Context(), key))
			for session, err := range audit.Walk(t.Context(), projection.New(n, eventlog.Options{}).Store, rows, key) {
				require.NoError(t, err)
				require.Equal(t, id, session.SessionID)
				require.Empty(t, session.Findings)
				tally.Add(session.Tally)
			}
			require.Equal(t, 1, tally.Sessions, "%+v", key)
			require.Equal(t, 2, tally.Entries, "%+v", key)
			require.Zero(t, tally.Unprojected)
			require.NotEmpty(t, n.asked)
			stream := schema.SessionKey{Scope: schema.Scope{Project: "bench", User: "u"}, SessionID: id}.Stream()
			for _, asked := range n.asked {
				if strings.Contains(asked, schema.EntryConfirmed) {
					require.Contains(t, asked, schema.GraduatePrefix, "%+v", key)
					continue // Confirmations are in the stream of the project.
				}
				rest := strings.ReplaceAll(asked, stream+" ", "")
				require.NotEqual(t, asked, rest, "%+v reads %s", key, asked)
				require.NotContains(t, rest, "session/", "%+v", key)
			}
		}
	}
}
