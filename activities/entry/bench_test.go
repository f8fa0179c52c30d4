package entry

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// BenchmarkView reads 100,000 entries as lists and searches do: from the table alone, as if nothing was ever judged
// again, and from the view with no judgements, with 1,000 and with 100,000. One run measures all of them, for their
// ratio.
func BenchmarkView(b *testing.B) {
	n := newBench(b)
	run := func(sql string) { require.NoError(b, n.conn.Exec(b.Context(), sql)) }
	run(`INSERT INTO entries_raw SELECT * FROM (SELECT
		lower(hex(sipHash128(number))) AS entry_id, toDateTime64('2026-03-01 00:00:00', 6, 'UTC') + number AS created_ts,
		'decision' AS entry_type, concat('title ', toString(number)) AS title, '{}' AS content_json, 'working' AS stage,
		'active' AS status, 'b' AS build_id, repeat('{"quote":"whatever was said"}', 20) AS evidence_json,
		true AS evidence_aligned, number % 10 > 0 AS evidence_proven, 1 AS evidence_rule,
		concat('decision:title ', toString(number)) AS canonical_key, 'p' AS project, 'u' AS user,
		'a' AS agent, toString(intDiv(number, 50)) AS session_id, concat('session/p/u/a/', session_id) AS stream,
		entry_id AS event_id, created_ts AS created_at, 1 AS version FROM numbers(100000))`)
	run(`CREATE VIEW plain AS SELECT * EXCEPT (version), '' AS superseded_by, session_id AS evidence_session_id, event_id AS evidence_event_id FROM entries_raw FINAL`)
	ids := ""
	for i := range 100 {
		ids += fmt.Sprintf(", lower(hex(sipHash128(toUInt64(%d))))", i*997)
	}
	ids = ids[2:]
	const columns = `entry_id, title, content_json, stage, evidence_json, evidence_aligned, evidence_proven, evidence_session_id`
	queries := []struct{ name, sql string }{
		{"one", `SELECT ` + columns + ` FROM %s WHERE project = 'p' AND entry_id = lower(hex(sipHash128(toUInt64(4711))))`},
		{"prefix", `SELECT ` + columns + ` FROM %s WHERE project = 'p' AND startsWith(entry_id, 'abcd') ORDER BY entry_id LIMIT 3`},
		{"hundred", `SELECT ` + columns + ` FROM %s WHERE project = 'p' AND entry_id IN (` + ids + `)`},
		{"page", `SELECT entry_id, title FROM %s WHERE (project, entry_id) > ('p', '8') ORDER BY project, entry_id LIMIT 100`},
		{"session", `SELECT ` + columns + ` FROM %s WHERE project = 'p' AND entry_id IN (SELECT entry_id FROM entries_raw
			WHERE project = 'p' AND stream = 'session/p/u/a/77') ORDER BY created_ts, entry_id`},
		{"titles", `SELECT ` + columns + ` FROM %s WHERE project = 'p' AND user = 'u' AND entry_id IN (SELECT entry_id FROM entries_raw
			WHERE project = 'p' AND user = 'u' AND title_key IN ('title 4', 'title 50'))`},
		{"unproven", `SELECT entry_id, entry_type, title, content_json FROM %s WHERE project = 'p' AND NOT evidence_proven
			AND entry_id IN (SELECT entry_id FROM entries_raw WHERE project = 'p' AND user = 'u' AND agent = 'a'
			AND stream != 's' AND title_key IN ('title 40', 'title 50')) ORDER BY entry_id`},
	}
	for _, judged := range []int{0, 1000, 100_000} {
		run(fmt.Sprintf(`INSERT INTO entry_changes_raw (project, entry_id, kind, ref, own, evidence_json, evidence_aligned,
			evidence_proven, evidence_rule, stage, user, agent, session_id, stream, event_id, created_at, version)
			SELECT project, entry_id, arrayJoin(['evidence', 'stage']) AS kind, if(kind = 'stage', '', 'y'), false,
			if(kind = 'stage', '', evidence_json), kind = 'evidence', kind = 'evidence', 1, if(kind = 'stage', 'verified', ''),
			user, agent, session_id, stream, event_id, created_at, 1 FROM (SELECT * FROM entries_raw ORDER BY entry_id LIMIT %d)`, judged))
		for _, q := range queries {
			for _, from := range []string{"plain", "entries"} {
				b.Run(fmt.Sprintf("%s/judged=%d/%s", q.name, judged, from), func(b *testing.B) {
					least := time.Hour
					for b.Loop() {
						started := time.Now()
						rows, err := n.conn.Query(b.Context(), fmt.Sprintf(q.sql, from))
						require.NoError(b, err)
						for rows.Next() {
						}
						require.NoError(b, rows.Err())
						_ = rows.Close()
						least = min(least, time.Since(started))
					}
					b.ReportMetric(least.Seconds()*1000, "least-ms")
				})
			}
		}
	}
}
