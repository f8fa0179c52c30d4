package entry

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/clickhouse"
	"axiommind/schema"
)

// Stored is the stored evidence of an entry from one origin: the original evidence, or a later judgement.
type Stored struct {
	EntryID, Stream, Project, EventID string
	EvidenceAligned, EvidenceProven   bool
	// Rule is the version of the rule of proof that judged it.
	Rule int
	// Origin is zero for the original evidence.
	Origin Origin
	// Evidence is JSON, as it was written.
	Evidence string
}

// storedSettings let the server sort more than fits in its memory, and wait for a reader that checks each row before it
// reads on.
var storedSettings = clickhouse.Settings{
	"max_bytes_before_external_sort": 256 << 20, "http_send_timeout": 3600, "send_timeout": 3600, "max_block_size": 1024,
}

// storedRows are the rows of both tables. Evidence that an entry gained in another session is in the stream of that
// session. A person's finding counts as part of the stream of the session that contains it.
const storedRows = `(
	SELECT entry_id, stream, project, user, agent, session_id, event_id, evidence_aligned, evidence_proven, evidence_rule,
	       '' AS origin, toUInt32(0) AS index, evidence_json FROM entries_raw FINAL
	UNION ALL
	SELECT entry_id, if(startsWith(c.stream, 'graduate/'),
	                    concat('session/', arrayStringConcat(arrayMap(n -> replaceAll(replaceAll(n, '%', '%25'), '/', '%2F'),
	                        [toString(project), toString(user), toString(agent), session_id]), '/')), c.stream) AS stream,
	       project, user, agent, session_id, event_id, evidence_aligned, evidence_proven, evidence_rule,
	       ref AS origin, extracted_index AS index, evidence_json FROM entry_changes_raw AS c FINAL
	WHERE kind = 'evidence'
)`

// AllEvidence yields the stored evidence of every project, or only of the project, user, agent and session that are not
// empty in narrow. It is in the order of streams, entry ids and origins. It is for checks of the tables: other readers
// see entries. One query streams the rows, so that rows written meanwhile are not seen. An error is the last value.
func (r *Reader) AllEvidence(ctx context.Context, narrow schema.SessionKey) iter.Seq2[Stored, error] {
	return func(yield func(Stored, error) bool) {
		where := storedWhere(narrow)
		rows, err := r.conn.Query(clickhouse.With(ctx, storedSettings),
			`SELECT entry_id, stream, project, event_id, evidence_aligned, evidence_proven, evidence_rule, origin, index,
				evidence_json FROM `+storedRows+where.sql()+` ORDER BY stream, entry_id, project, origin, index`, where.args...)
		if err != nil {
			yield(Stored{}, fmt.Errorf("read evidence of entries: %w", err))
			return
		}
		defer func() { _ = rows.Close() }()
		for rows.Next() {
			var s Stored
			var rule, index uint32
			if err = rows.Scan(&s.EntryID, &s.Stream, &s.Project, &s.EventID, &s.EvidenceAligned, &s.EvidenceProven, &rule,
				&s.Origin.ExtractedEventID, &index, &s.Evidence); err != nil {
				break
			}
			s.Rule, s.Origin.Index = int(rule), int(index)
			if !yield(s, nil) {
				return
			}
		}
		if err = errors.Join(err, rows.Err()); err != nil {
			yield(Stored{}, fmt.Errorf("read evidence of entries: %w", err))
		}
	}
}

// CountAllEvidence returns how many rows [Reader.AllEvidence] gives.
func (r *Reader) CountAllEvidence(ctx context.Context, narrow schema.SessionKey) (uint64, error) {
	where := storedWhere(narrow)
	var n uint64
	err := clickhouse.Query(ctx, r.conn, func(rows driver.Rows) error { return rows.Scan(&n) },
		`SELECT count() FROM `+storedRows+where.sql(), where.args...)
	if err != nil {
		return 0, fmt.Errorf("count evidence of entries: %w", err)
	}
	return n, nil
}

func storedWhere(narrow schema.SessionKey) (w where) {
	for _, c := range []struct{ column, value string }{
		{"project", narrow.Project}, {"user", narrow.User}, {"agent", narrow.Agent}, {"session_id", narrow.SessionID},
	} {
		if c.value != "" {
			w.add(c.column+" = ?", []any{c.value})
		}
	}
	return w
}
