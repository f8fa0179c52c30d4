package entry

import (
	"context"
	"fmt"
	"iter"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/table"
)

// storedPage is how many rows [StoredEvidence] holds at once.
const storedPage = 4000

// Stored is the evidence of an entry as the table holds it.
type Stored struct {
	EntryID, SessionID, Project, EventID string
	EvidenceAligned                      bool
	// Evidence is JSON, as it was written.
	Evidence string
}

// StoredEvidence gives the evidence of every entry in the table, or of those of a project or session
// where they are not empty, in the order of session and entry ids. It reads in pages. An error is the
// last thing given.
func StoredEvidence(ctx context.Context, conn driver.Conn, project, sessionID string) iter.Seq2[Stored, error] {
	return func(yield func(Stored, error) bool) {
		var last Stored
		for {
			page, err := storedAfter(ctx, conn, project, sessionID, last)
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

func storedAfter(ctx context.Context, conn driver.Conn, project, sessionID string, last Stored) (page []Stored, err error) {
	where := []string{"(session_id, entry_id, project) > (?, ?, ?)"}
	args := []any{last.SessionID, last.EntryID, last.Project}
	if project != "" {
		where, args = append(where, "project = ?"), append(args, project)
	}
	if sessionID != "" {
		where, args = append(where, "session_id = ?"), append(args, sessionID)
	}
	err = table.Query(ctx, conn, func(rows driver.Rows) error {
		var s Stored
		err := rows.Scan(&s.EntryID, &s.SessionID, &s.Project, &s.EventID, &s.EvidenceAligned, &s.Evidence)
		page = append(page, s)
		return err
	}, `SELECT entry_id, session_id, project, event_id, evidence_aligned, evidence_json FROM entries
		WHERE `+strings.Join(where, " AND ")+
		fmt.Sprintf(` ORDER BY session_id, entry_id, project LIMIT %d`, storedPage), args...)
	return page, err
}
