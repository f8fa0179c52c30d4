package fact_test

import (
	"context"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/stretchr/testify/require"

	"axiommind/activities/boundary"
	"axiommind/activities/eventlog"
	"axiommind/activities/fact"
	"axiommind/activities/ledger"
	"axiommind/activities/ledger/ledgertest"
	"axiommind/activities/projection"
	"axiommind/schema"
)

// stated is a session with facts.
type stated struct{ fact.Batch }

func (s stated) Writer() schema.WriterInput {
	return schema.MemoryWriterInput{User: "ann", Agent: "coder"}
}
func (stated) Validate() error { return nil }

// TestConformanceOfSessions: the room of sessions' facts keeps what the ledger promises (I1, I2, I3, I4).
func TestConformanceOfSessions(t *testing.T) {
	t.Parallel()
	foreign := batchOf("ann", "coder", "foreign", "Likes Perl", "Likes Ada")
	foreign.Entries[1].User = "bob"
	ancient := batchOf("ann", "coder", "ancient", "Likes runes", "Likes Latin")
	ancient.Entries[1].OccurredAt = time.Date(1066, 10, 14, 0, 0, 0, 0, time.UTC)
	for name, opts := range map[string]fact.Options{"folded": {MaxFacts: 4}, "loaded": {MaxFacts: 4, Eviction: schema.EvictHybrid}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ledgertest.Run(t, ledgertest.Room[stated, fact.Result]{
				Projectors: projectors,
				Open: func(t testing.TB, conn driver.Conn) ledgertest.Do[stated, fact.Result] {
					log := projection.New(conn, eventlog.Options{})
					w, err := fact.NewWriter(log, conn, opts)
					require.NoError(t, err)
					return func(ctx context.Context, in boundary.Batch[stated]) (boundary.Outcomes[fact.Result], error) {
						return ledger.Batch(ctx, log, w.Sessions(), in, func(_ context.Context, s stated) (fact.Batch, error) { return s.Batch, nil })
					}
				},
				Requests: func(testing.TB, driver.Conn) (good, refused []stated) {
					return []stated{
						{batchOf("ann", "coder", "s1", "Likes Go", "?Owns a cat")}, {sections(batchOf("ann", "coder", "s2", "Runs"), "work")},
						{batchOf("ann", "coder", "s3", "Likes go", "Swims")},
					}, []stated{{foreign}, {ancient}}
				},
			})
		})
	}
}

func projectors(conn driver.Conn) []projection.Projector {
	return []projection.Projector{fact.NewProjector(conn)}
}

// TestConformanceOfCommands: the room of people's commands keeps what the ledger promises (I1, I2, I3, I4).
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
		Requests: func(testing.TB, driver.Conn) (good, refused []fact.Command) {
			good = []fact.Command{command("r1", fact.OpCreate, "Likes Go"), command("r2", fact.OpCreate, "Runs"), imported, section}
			return good, []fact.Command{command("r5", fact.OpDelete, ""), command("", fact.OpCreate, "Swims")}
		},
	})
}
