package tier

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/eventlog"
	"axiommind/activities/fact"
	"axiommind/activities/ledger/ledgertest"
	"axiommind/activities/llm"
	"axiommind/activities/projection"
	"axiommind/schema"
)

// TestConformanceOfSessions: the room of sessions' facts and flushes passes the ledger's suite (I1, I2, I3, I4), with a
// state that is folded from the log and with one that is read from the tables.
func TestConformanceOfSessions(t *testing.T) {
	t.Parallel()
	for name, opts := range map[string]fact.Options{"folded": {}, "loaded": {Eviction: schema.EvictHybrid}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bench := func(conn driver.Conn) *flushBench {
				return (&flushBench{t: t, conn: conn, model: llm.NewRules(), logged: map[string]int{}, factOptions: opts}).over(conn)
			}
			ledgertest.Run(t, ledgertest.Room[FlushRequest, SessionResult]{
				Requests: func(_ testing.TB, conn driver.Conn) (good []FlushRequest, _ []ledgertest.Refused[FlushRequest]) {
					b := bench(conn)
					for i := range 3 {
						good = append(good, b.state(b.session(fmt.Sprint("s/", i), deploy, deployed), evening, fmt.Sprint("Likes ", i)))
					}
					other := good[0]
					other.User = "bob"
					foreign := b.stateOf(other.Scope, b.session("foreign", deploy), evening, "Likes Perl")
					return good, []ledgertest.Refused[FlushRequest]{
						{Request: other, As: schema.ErrorScopeMismatch}, {Request: foreign, As: schema.ErrorScopeMismatch},
					}
				},
				Varying: func(r *SessionResult) { r.FilesDue = time.Time{} },
				Projectors: func(conn driver.Conn) []projection.Projector {
					return []projection.Projector{fact.NewProjector(conn), NewProjector(conn)}
				},
				Open: func(_ testing.TB, conn driver.Conn) ledgertest.Do[FlushRequest, SessionResult] {
					return bench(conn).updateMemory
				},
			})
		})
	}
}

// TestConformanceOfRestores: the room of restored versions passes the ledger's suite (I1, I2, I3, I4).
func TestConformanceOfRestores(t *testing.T) {
	t.Parallel()
	m := benchMemory{"José/я", "代理 \"🤖\""}
	command := func(id string, version int) RestoreCommand {
		return RestoreCommand{User: m.user, Agent: m.agent, RequestID: id, Actor: "ann", At: dusk, Version: version}
	}
	ledgertest.Run(t, ledgertest.Room[RestoreCommand, RestoreResult]{
		Projectors: func(conn driver.Conn) []projection.Projector { return []projection.Projector{NewProjector(conn)} },
		Requests: func(t testing.TB, conn driver.Conn) ([]RestoreCommand, []ledgertest.Refused[RestoreCommand]) {
			(&tierBench{conn: conn, log: projection.New(conn, eventlog.Options{})}).add(t, m, benchVersion(1, "one"), benchVersion(2, "two"), benchVersion(3, "three"))
			return []RestoreCommand{command("r1", 1), command("r2", 2)}, []ledgertest.Refused[RestoreCommand]{
				{Request: command("r3", 7), As: schema.ErrorVersionNotFound}, {Request: command("r4", 0), As: schema.ErrorInvalidInput},
			}
		},
		Open: func(_ testing.TB, conn driver.Conn) ledgertest.Do[RestoreCommand, RestoreResult] {
			a := &Activities{log: projection.New(conn, eventlog.Options{}), conn: conn, tables: NewTables(conn), projector: NewProjector(conn)}
			return ledgertest.Commands(func(ctx context.Context, c RestoreCommand) (RestoreResult, error) { return a.restore(ctx, c) })
		},
	})
}
