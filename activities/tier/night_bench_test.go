package tier

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"axiommind/activities/eventlog"
	"axiommind/activities/projection"
	"axiommind/deploy/local/stacktest"
)

// BenchmarkFindMemories finds the memories of a night among 20,000 with 500,000 events, each with ten dreams: all of
// them, page by page, when all are unread, and none when none is.
func BenchmarkFindMemories(b *testing.B) {
	const memories, dreams = 20_000, 10
	conn := stacktest.Migrated(b)
	now := time.Date(2026, 6, 20, 3, 30, 0, 0, time.UTC)
	n := &night{conn: conn, log: projection.New(conn, eventlog.Options{}), Activities: &Activities{conn: conn, opts: Options{Zone: time.UTC}}}
	for _, sql := range []string{
		// Five events of each memory, ten of its sessions in five projects, some of entries, and the dreams' inputs.
		`INSERT INTO events_raw (event_id, stream, seq, event_type, recorded_at, precedence)
			SELECT concat('m', toString(number)), concat('memory/u', toString(intDiv(number, 5)), '/'), number %% 5, 'context_flushed',
				toDateTime64('2026-06-09 10:00:00', 6, 'UTC') AS at, bitNot(toUInt64(toUnixTimestamp64Micro(at))) FROM numbers(%[1]d * 5)`,
		`INSERT INTO events_raw (event_id, stream, seq, event_type, recorded_at, precedence)
			SELECT concat('s', toString(number)), concat('session/p', toString(number %% 5), '/u', toString(intDiv(number, 10)), '//s'), number,
				if(intDiv(number, 5) %% 3 = 0, 'entry_materialized', 'message_ingested'), toDateTime64('2026-06-09 10:00:00', 6, 'UTC') AS at,
				bitNot(toUInt64(toUnixTimestamp64Micro(at))) FROM numbers(%[1]d * 10)`,
		`INSERT INTO events_raw (event_id, stream, seq, event_type, recorded_at, precedence)
			SELECT concat('g', toString(number)), concat('dream/', hex(SHA256(toString(number)))), 1, 'dream_gathered',
				toDateTime64('2026-06-10 03:30:00', 6, 'UTC') + toIntervalDay(number %% %[2]d) AS at,
				bitNot(toUInt64(toUnixTimestamp64Micro(at))) FROM numbers(%[1]d * %[2]d)`,
		`INSERT INTO dreams_raw (user, agent, ordinal, date, status, gathered, days)
			SELECT concat('u', toString(intDiv(number, %[2]d))), '', number %% %[2]d + 1, toString(toDate('2026-06-10') + number %% %[2]d), 'unchanged',
				concat('g', toString(number)), [toString(toDate('2026-06-10') + number %% %[2]d)] FROM numbers(%[1]d * %[2]d)`,
		`INSERT INTO records_raw (user, agent, kind, date, seq, text, text_bytes)
			SELECT concat('u', toString(intDiv(number, 5))), '', 'daily', toString(toDate('2026-06-10') + number %% 5), number %% 5, 'text', 4 FROM numbers(%[1]d * 5)`,
	} {
		require.NoError(b, conn.Exec(b.Context(), fmt.Sprintf(sql, memories, dreams)))
	}
	for name, in := range map[string]FindInput{"none": {}, "all": {Force: true}} {
		b.Run(name, func(b *testing.B) {
			pages := 0
			for b.Loop() {
				in := in
				in.At, in.Now, in.After = now, now, ""
				found := 0
				for pages = 1; ; pages++ {
					page, err := n.findMemories(b.Context(), in)
					require.NoError(b, err)
					found += len(page.Memories)
					if in.After = page.Next; in.After == "" {
						break
					}
				}
				require.Equal(b, map[bool]int{true: memories}[in.Force], found)
			}
			b.ReportMetric(float64(pages), "pages")
		})
	}
}
