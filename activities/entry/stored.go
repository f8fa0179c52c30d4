package entry

import (
	"context"
	"fmt"
	"iter"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/table"
	"axiommind/schema"
)

// storedPage is how many rows [StoredEvidence] holds at once.
const storedPage = 4000

// Stored is the evidence of an entry as the table holds it.
type Stored struct {
	EntryID, Stream, Project, EventID string
	EvidenceAligned                   bool
	// Evidence is JSON, as it was written.
	Evidence string
}

// StoredEvidence gives the evidence of every entry in the table, or of those of a project, user,
// agent or session where they are not empty, in the order of streams and entry ids. It reads in pages. An error is the
// last thing given.
func StoredEvidence(ctx context.Context, conn driver.Conn, scope schema.SessionKey) iter.Seq2[Stored, error] {
	return func(yield func(Stored, error) bool) {
		var last Stored
		for {
			page, err := storedAfter(ctx, conn, scope, last)
			if err != nil {
				yield(Stored{}, fmt.Errorf("read evidence of entries: %w", err))
				return
			}
			for _, row := range page {
				if !yield(row, nil) {
					return
				}
			}
			if len(page) < storedPage {
				return
			}
			last = page[len(page)-1]
		}
	}
}

func storedAfter(ctx context.Context, conn driver.Conn, scope schema.SessionKey, last Stored) (page []Stored, err error) {
	where := []string{"(stream, entry_id, project) > (?, ?, ?)"}
	args := []any{last.Stream, last.EntryID, last.Project}
	for _, c := range []struct{ column, value string }{
		{"project", scope.Project}, {"user", scope.User}, {"agent", scope.Agent}, {"session_id", scope.SessionID},
	} {
		if c.value != "" {
			where, args = append(where, c.column+" = ?"), append(args, c.value)
		}
	}
	err = table.Query(ctx, conn, func(rows driver.Rows) error {
		var s Stored
		err := rows.Scan(&s.EntryID, &s.Stream, &s.Project, &s.EventID, &s.EvidenceAligned, &s.Evidence)
		page = append(page, s)
		return err
	}, `SELECT entry_id, stream, project, event_id, evidence_aligned, evidence_json FROM entries
		WHERE `+strings.Join(where, " AND ")+
		fmt.Sprintf(` ORDER BY stream, entry_id, project LIMIT %d`, storedPage), args...)
	return page, err
}
