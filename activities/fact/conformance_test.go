package fact_test

import (
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/stretchr/testify/require"

	"axiommind/activities/eventlog"
	"axiommind/activities/fact"
	"axiommind/activities/ledger/ledgertest"
	"axiommind/activities/projection"
	"axiommind/schema"
)

// TestConformanceOfSessions: the room of sessions' facts passes the ledger's suite (I1, I2, I3, I4).
func TestConformanceOfSessions(t *testing.T) {
	t.Parallel()
	foreign := batchOf("ann", "coder", "foreign", "Likes Perl", "Likes Ada")
	foreign.Entries[1].User = "bob"
	ancient := batchOf("ann", "coder", "ancient", "Likes runes", "Likes Latin")
	ancient.Entries[1].OccurredAt = time.Date(1066, 10, 14, 0, 0, 0, 0, time.UTC)
	for name, opts := range map[string]fact.Options{"folded": {}, "loaded": {Eviction: schema.EvictHybrid}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ledgertest.Run(t, ledgertest.Room[fact.Stated, fact.Result]{
				Projectors: projectors,
				Open: func(t testing.TB, conn driver.Conn) ledgertest.Do[fact.Stated, fact.Result] {
					w, err := fact.NewWriter(projection.New(conn, eventlog.Options{}), conn, opts)
					require.NoError(t, err)
					return w.Batch
				},
				Requests: func(testing.TB, driver.Conn) ([]fact.Stated, []ledgertest.Refused[fact.Stated]) {
					return []fact.Stated{
							{batchOf("ann", "coder", "s1", "Likes Go", "?Owns a cat")}, {sections(batchOf("ann", "coder", "s2", "Runs"), "work")},
							{batchOf("ann", "coder", "s3", "Likes go", "Swims")},
						}, []ledgertest.Refused[fact.Stated]{
							{Request: fact.Stated{foreign}, As: schema.ErrorScopeMismatch}, {Request: fact.Stated{ancient}, As: schema.ErrorStoreRejected},
							{Request: fact.Stated{batchOf("bob", "coder", "other", "Likes C")}, As: schema.ErrorScopeMismatch},
						}
				},
			})
		})
	}
}

func projectors(conn driver.Conn) []projection.Projector {
	return []projection.Projector{fact.NewProjector(conn)}
}

// TestConformanceOfCommands: the room of people's commands passes the ledger's suite (I1, I2, I3, I4).
func TestConformanceOfCommands(t *testing.T) {
	t.Parallel()
	command := func(id string, op fact.Op, content string) fact.Command {
		c := fact.Command{User: "ann/o'neil", Agent: "세 \\ \x01", RequestID: id, Actor: "ann", At: noon, Op: op}
		if content != "" {
			c.Content = p(content)
		}
		return c
	}
	imported := command("r3", fact.OpImport, "")
	imported.Items = []fact.Item{{Content: "Owns a boat"}, {Content: "Owns a cat"}}
	section := command("r4", fact.OpSection, "Works on compilers.")
	section.Section = "work"
	ledgertest.Run(t, ledgertest.Room[fact.Command, fact.Result]{
		Projectors: projectors,
		Open: func(t testing.TB, conn driver.Conn) ledgertest.Do[fact.Command, fact.Result] {
			w, err := fact.NewWriter(projection.New(conn, eventlog.Options{}), conn, fact.Options{})
			require.NoError(t, err)
			return ledgertest.Commands(w.Do)
		},
		Requests: func(testing.TB, driver.Conn) ([]fact.Command, []ledgertest.Refused[fact.Command]) {
			good := []fact.Command{command("r1", fact.OpCreate, "Likes Go"), command("r2", fact.OpCreate, "Runs"), imported, section}
			return good, []ledgertest.Refused[fact.Command]{
				{Request: command("r5", fact.OpDelete, ""), As: schema.ErrorInvalidInput}, {Request: command("", fact.OpCreate, "Swims"), As: schema.ErrorInvalidInput},
			}
		},
	})
}
