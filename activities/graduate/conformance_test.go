package graduate

import (
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/ledger/ledgertest"
	"axiommind/activities/projection"
	"axiommind/schema"
)

func projectorsOver(conn driver.Conn) []projection.Projector {
	return (&passBench{conn: conn}).projectors()
}

// TestConformanceOfCommands: the room of people's commands passes the ledger's suite (I1, I2, I3, I4).
func TestConformanceOfCommands(t *testing.T) {
	t.Parallel()
	const project = "p/ü '\\\""
	command := func(id string, c Command) Command {
		c.Project, c.RequestID, c.Actor, c.User, c.Agent, c.At = project, id, "ann", "u", "a", spring.AddDate(0, 1, 0)
		return c
	}
	ledgertest.Run(t, ledgertest.Room[Command, CommandResult]{
		Projectors: projectorsOver,
		Open: func(t testing.TB, conn driver.Conn) ledgertest.Do[Command, CommandResult] {
			return ledgertest.Commands(process(t, conn).activities.run)
		},
		Requests: func(t testing.TB, conn driver.Conn) ([]Command, []ledgertest.Refused[Command]) {
			b := process(t, conn)
			ids := b.say(inSession(project, "u", "one"), 0,
				spoken{text: "The archive is kept for seven years."}, spoken{text: "Lunch is at noon."}, spoken{text: "The release is on Friday."},
			)
			b.pass(project)
			proposal := Command{Op: OpPropose, EntryIDs: ids[2:], Change: schema.ChangeCorrect, Text: "The release is on Monday.", Because: "it slipped"}
			return []Command{
					command("r1", Command{Op: OpConfirm, EntryIDs: ids[:1]}), command("r2", Command{Op: OpRetire, EntryIDs: ids[1:2], Because: "no longer"}),
					command("r3", proposal),
				}, []ledgertest.Refused[Command]{
					{Request: command("r4", Command{Op: OpConfirm, EntryIDs: []string{"no such entry"}}), As: schema.ErrorEntryNotFound},
					{Request: command("", Command{Op: OpConfirm, EntryIDs: ids}), As: schema.ErrorInvalidInput},
				}
		},
	})
}

// TestConformanceOfPasses: the room of graduation's passes passes the ledger's suite (I1, I2, I3, I4).
func TestConformanceOfPasses(t *testing.T) {
	t.Parallel()
	ledgertest.Run(t, ledgertest.Room[PassInput, PassResult]{
		Projectors: projectorsOver,
		Open: func(t testing.TB, conn driver.Conn) ledgertest.Do[PassInput, PassResult] {
			return ledgertest.Commands(process(t, conn).activities.graduate)
		},
		Varying: func(r *PassResult) { r.Head = schema.StreamHead{} },
		Requests: func(t testing.TB, conn driver.Conn) ([]PassInput, []ledgertest.Refused[PassInput]) {
			b := process(t, conn)
			for i, session := range []string{"one", "two"} {
				b.say(inSession("p", "u", session), i, spoken{text: "The port is 8080."}, spoken{text: "We deploy on Friday."})
			}
			b.say(inSession("p", "u", "three"), 2, spoken{text: "The port is 9090."})
			return []PassInput{{Project: "p", At: spring.Add(20 * 24 * time.Hour)}}, []ledgertest.Refused[PassInput]{{As: schema.ErrorInvalidInput}}
		},
	})
}
