package tier

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/activities/clickhouse"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
)

// No core memory, dream or record of another user or agent is ever read.
func TestI10NoReadCrossesMemories(t *testing.T) {
	t.Parallel()
	noReadCrosses(t, 4)
}

// noReadCrosses reads the memories of users and agents with n of the names that are easily taken for the first one.
func noReadCrosses(t *testing.T, n int) {
	t.Helper()
	b := newTierBench(t)
	names, random := stacktest.Names(t)
	names = stacktest.Some(names, random, n)
	var all []benchMemory
	marks, of, ids := map[benchMemory]string{}, map[string]benchMemory{}, []string{}
	for i, o := range stacktest.Owners(names) {
		if o.Project != names[0] {
			continue
		}
		m := benchMemory{o.User, o.Agent}
		mark := fmt.Sprintf("mark%dend", i)
		all, marks[m] = append(all, m), mark
		var payloads []any
		for n, project := range []string{o.Project, names[i%len(names)]} {
			payloads = append(payloads, schema.ContextFlushedPayload{
				SessionKey: schema.SessionKey{Scope: schema.Scope{Project: project, User: o.User, Agent: o.Agent}, SessionID: "s"},
				Reason:     schema.FlushTrim, Date: "2026-06-07", Clock: "14:30", Last: n + 1, Text: "- " + mark,
			})
		}
		payloads = append(payloads, schema.RecordEditedPayload{Kind: schema.RecordDiary, Date: "2026-06-07", Text: mark},
			benchVersion(1, mark), benchVersion(2, mark, "and "+mark),
			schema.DreamFinishedPayload{
				Ordinal: 1, Date: "2026-06-08", Status: schema.DreamCommitted, Version: 2, Diary: mark, Days: []schema.Day{{Date: "2026-06-07", Hash: mark}},
			})
		for _, e := range b.add(t, m, payloads...) {
			of[e.ID], ids = m, append(ids, e.ID)
		}
	}
	ctx := t.Context()
	for _, m := range all {
		mark := marks[m]
		current, err := b.tables.Current(ctx, m.user, m.agent)
		require.NoError(t, err)
		version, err := b.tables.Version(ctx, m.user, m.agent, 1)
		require.NoError(t, err)
		versions, err := b.tables.Versions(ctx, m.user, m.agent, 1000, 0)
		require.NoError(t, err)
		between, err := b.tables.Between(ctx, m.user, m.agent, 0, 1000)
		require.NoError(t, err)
		require.Len(t, versions, 2)
		require.Len(t, between, 2)
		for _, c := range append(append(versions, between...), current, version) {
			require.Equal(t, mark, c.Items[0].Text)
		}
		lines, err := b.tables.History(ctx, m.user, m.agent, 1000, 0)
		require.NoError(t, err)
		require.Len(t, lines, 2)
		require.Equal(t, []int{1, 0}, []int{lines[0].Added, lines[0].Removed})
		dreams, err := b.tables.Dreams(ctx, m.user, m.agent, 1000, 0)
		require.NoError(t, err)
		require.Len(t, dreams, 1)
		dream, err := b.tables.Dream(ctx, m.user, m.agent, 1)
		require.NoError(t, err)
		require.Equal(t, []string{mark, mark}, []string{dreams[0].Diary, dream.Diary})
		days, err := b.tables.ReadDays(ctx, m.user, m.agent)
		require.NoError(t, err)
		require.Equal(t, map[string]string{"2026-06-07": mark}, days)
		for kind, n := range map[schema.RecordKind]int{schema.RecordDaily: 2, schema.RecordDiary: 2} {
			records, err := b.tables.Records(ctx, m.user, m.agent, kind)
			require.NoError(t, err)
			require.Len(t, records, n)
			for _, r := range records {
				require.Contains(t, r.Text, mark)
			}
		}
		origins, err := b.tables.Origins(ctx, m.user, m.agent, ids)
		require.NoError(t, err)
		require.NotEmpty(t, origins)
		for id := range origins {
			require.Equal(t, m, of[id])
		}
	}
}

// A read of a memory that does not say whose is refused.
func TestI10EmptyMemoryIsRefused(t *testing.T) {
	t.Parallel()
	b := newTierBench(t)
	b.add(t, benchMemory{"ann", ""}, benchVersion(1, "Likes Go"))
	ctx, tables := t.Context(), b.tables
	for name, read := range map[string]func() error{
		"current":  func() error { _, err := tables.Current(ctx, "", ""); return err },
		"version":  func() error { _, err := tables.Version(ctx, "", "", 1); return err },
		"versions": func() error { _, err := tables.Versions(ctx, "", "", 9, 0); return err },
		"between":  func() error { _, err := tables.Between(ctx, "", "", 0, 9); return err },
		"history":  func() error { _, err := tables.History(ctx, "", "", 9, 0); return err },
		"dreams":   func() error { _, err := tables.Dreams(ctx, "", "", 9, 0); return err },
		"dream":    func() error { _, err := tables.Dream(ctx, "", "", 1); return err },
		"days":     func() error { _, err := tables.ReadDays(ctx, "", ""); return err },
		"records":  func() error { _, err := tables.Records(ctx, "", "", schema.RecordDaily); return err },
		"origins":  func() error { _, err := tables.Origins(ctx, "", "", []string{"x"}); return err },
		"flushes":  func() error { _, err := tables.lastFlushes(ctx, []schema.SessionKey{{SessionID: "s"}}); return err },
	} {
		require.ErrorIs(t, read(), clickhouse.ErrNoScope, name)
	}
}
