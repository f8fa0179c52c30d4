package entry

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/table"
	"axiommind/schema"
)

// candidate is an unproven entry of another session that states the same as one that is proven.
type candidate struct {
	id     string
	phrase phrase
}

// unproven returns the entries of the session's project, user and agent, other sessions' alone, that are not
// proven and state the same as one of those given. It is one query, and none for none.
func unproven(ctx context.Context, conn driver.Conn, session schema.SessionKey, stated []*held) ([]candidate, error) {
	if len(stated) == 0 {
		return nil, nil
	}
	wanted, keys := map[phrase]bool{}, []string{}
	for _, h := range stated {
		if p := phraseOf(&h.entry.Entry); !wanted[p] {
			wanted[p] = true
			keys = append(keys, p.key)
		}
	}
	var out []candidate
	err := table.Query(ctx, conn, func(rows driver.Rows) error {
		var e schema.Entry
		var entryType, contentJSON string
		if err := rows.Scan(&e.ID, &entryType, &e.Title, &contentJSON); err != nil {
			return err
		}
		var c content
		if err := json.Unmarshal([]byte(contentJSON), &c); err != nil {
			return fmt.Errorf("decode entry %q: %w", e.ID, err)
		}
		e.Type, e.Task = schema.EntryType(entryType), c.Task
		if p := phraseOf(&e); wanted[p] {
			out = append(out, candidate{e.ID, p})
		}
		return nil
	}, `SELECT entry_id, entry_type, title, content_json FROM entries
		WHERE project = ? AND NOT evidence_proven AND entry_id IN (SELECT entry_id FROM entries_raw
			WHERE project = ? AND user = ? AND agent = ? AND stream != ? AND `+titleKeyColumn+` IN ?)
		ORDER BY entry_id`,
		session.Project, session.Project, session.User, session.Agent, session.Stream(), table.Set(keys))
	if err != nil {
		return nil, fmt.Errorf("read unproven entries that state the same: %w", err)
	}
	return out, nil
}
