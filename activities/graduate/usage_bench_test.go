package graduate

import (
	"fmt"
	"testing"

	"axiommind/activities/eventlog"
	"axiommind/activities/projection"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
)

// BenchmarkRecordRetrieved measures the recording after a search, as in a new process.
func BenchmarkRecordRetrieved(b *testing.B) {
	conn := stacktest.Migrated(b)
	n := 0
	for b.Loop() {
		n++
		err := RecordRetrieved(b.Context(), projection.New(conn, eventlog.Options{}), conn, "w", Retrieved{
			Scope: schema.Scope{Project: "p", User: "u"}, RequestID: fmt.Sprint(n), By: schema.RetrievedBySearch, At: noon, Actor: "ann",
			EntryIDs: []string{"1", "2", "3", "4", "5"},
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}
