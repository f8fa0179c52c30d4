package tier

import (
	"context"
	"fmt"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/eventlog"
	"axiommind/activities/fact"
	"axiommind/activities/ledger/ledgertest"
	"axiommind/activities/llm"
	"axiommind/activities/projection"
)

// TestConformanceOfSessions: the room of sessions' facts and flushes keeps what the ledger promises (I1, I2, I3, I4).
func TestConformanceOfSessions(t *testing.T) {
	t.Parallel()
	bench := func(conn driver.Conn) *flushBench {
		return (&flushBench{t: t, conn: conn, model: llm.NewRules(), logged: map[string]int{}}).over(conn)
	}
	ledgertest.Run(t, ledgertest.Room[FlushRequest, SessionResult]{
		Requests: func(_ testing.TB, conn driver.Conn) (good, refused []FlushRequest) {
			b := bench(conn)
			for i := range 3 {
				good = append(good, b.state(b.session(fmt.Sprint("s/", i), deploy, deployed), evening, fmt.Sprint("Likes ", i)))
			}
			foreign := good[0]
			foreign.User = "bob"
			return good, []FlushRequest{foreign}
		},
		Projectors: func(conn driver.Conn) []projection.Projector {
			return []projection.Projector{fact.NewProjector(conn), NewProjector(conn)}
		},
		Open: func(_ testing.TB, conn driver.Conn) ledgertest.Do[FlushRequest, SessionResult] {
			return bench(conn).updateMemory
		},
	})
}

// TestConformanceOfRestores: the room of restored versions keeps what the ledger promises (I1, I2, I3, I4).
func TestConformanceOfRestores(t *testing.T) {
	t.Parallel()
	m := benchMemory{"José/я", "代理 \"🤖\""}
	command := func(id string, version int) RestoreCommand {
		return RestoreCommand{User: m.user, Agent: m.agent, RequestID: id, Actor: "ann", At: dusk, Version: version}
	}
	ledgertest.Run(t, ledgertest.Room[RestoreCommand, RestoreResult]{
		Projectors: func(conn driver.Conn) []projection.Projector { return []projection.Projector{NewProjector(conn)} },
		Requests: func(t testing.TB, conn driver.Conn) (good, refused []RestoreCommand) {
			(&tierBench{conn: conn, log: projection.New(conn, eventlog.Options{})}).add(t, m, benchVersion(1, "one"), benchVersion(2, "two"), benchVersion(3, "three"))
			return []RestoreCommand{command("r1", 1), command("r2", 2)}, []RestoreCommand{command("r3", 7), command("r4", 0)}
		},
		Open: func(_ testing.TB, conn driver.Conn) ledgertest.Do[RestoreCommand, RestoreResult] {
			a := &Activities{log: projection.New(conn, eventlog.Options{}), conn: conn, tables: NewTables(conn), projector: NewProjector(conn)}
			return ledgertest.Commands(func(ctx context.Context, c RestoreCommand) (RestoreResult, error) { return a.restore(ctx, c) })
		},
	})
}
