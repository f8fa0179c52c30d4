package fact

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"axiommind/schema"
)

// inBatches draws batches of several sessions. Some sessions come again, as they were or grown.
func (m *memory) inBatches(t *rapid.T) []Batch {
	var out []Batch
	for i := range rapid.IntRange(1, 6).Draw(t, "batches") {
		batch := m.batch()
		batch.SessionID, batch.BuildID = fmt.Sprint("s", i), fmt.Sprint("b", i)
		if len(out) > 0 && rapid.IntRange(0, 3).Draw(t, "again") == 0 {
			batch = rapid.SampledFrom(out).Draw(t, "session")
			batch.BuildID, batch.Entries = fmt.Sprint("b", i), slices.Clone(batch.Entries)
		}
		for range rapid.IntRange(0, 5).Draw(t, "entries") {
			batch.Entries = append(batch.Entries, m.drawEntry(t))
		}
		out = append(out, batch)
	}
	return out
}

// needsOf returns the needs of the writer.
func needsOf(batches []Batch) Needs {
	n := Needs{User: batches[0].User, Agent: batches[0].Agent}
	for _, b := range batches {
		for _, e := range b.Entries {
			x := (&planner{}).proposalOf(e)
			n.Contents, n.Entries = append(n.Contents, x.content), append(n.Entries, e.ID)
			n.IDs = append(n.IDs, factIDs(x.key)...)
		}
	}
	n.Evictions = len(n.Entries)
	return n
}

// load returns the facts of the memory that Tables.Load would read.
func (m *memory) load(n Needs) Memory {
	out, keys := m.state(), map[string]bool{}
	if n.All {
		return out
	}
	out.Facts, out.Done = nil, map[string]bool{}
	for _, content := range n.Contents {
		keys[Key(content)] = true
	}
	done := m.state().Done
	for _, id := range n.Entries {
		if done[id] {
			out.Done[id] = true
		}
	}
	var others []Fact
	for _, f := range m.facts {
		switch {
		case keys[Key(f.Content)] || slices.Contains(n.IDs, f.ID):
			out.Facts = append(out.Facts, f)
		case f.Status == Active:
			others = append(others, f)
		}
	}
	slices.SortFunc(others, func(a, b Fact) int {
		if (evicter{}).before(a, b) {
			return -1
		}
		return 1
	})
	out.Facts = append(out.Facts, others[:min(len(others), max(1, n.Evictions))]...)
	return out
}

// A plan for several batches, from a partial read of the memory, equals one plan after the other from all of it.
func TestBatchesAtOnce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := newMemory(t)
		opts, err := Options{
			MaxFacts: rapid.IntRange(1, 6).Draw(t, "max"), Reserve: rapid.IntRange(0, 2).Draw(t, "reserve"),
			Eviction: rapid.SampledFrom(schema.EvictionPolicies()).Draw(t, "policy"),
		}.withDefaults()
		require.NoError(t, err)
		m.opts = opts
		for range rapid.IntRange(0, 8).Draw(t, "before") {
			if m.say(m.drawEntry(t), m.drawEntry(t)); rapid.Bool().Draw(t, "person") {
				_ = m.do(m.drawCommand(t))
			}
		}
		batches := m.inBatches(t)
		for i := range batches {
			batches[i].Entries, err = batches[i].facts()
			require.NoError(t, err)
		}
		needs := needsOf(batches)
		needs.All = opts.all()
		atOnce, err := planAll(m.load(needs), batches, opts)
		require.NoError(t, err)
		for i, batch := range batches {
			one, err := Plan(m.state(), batch, opts)
			require.NoError(t, err)
			require.Len(t, atOnce[i], len(one))
			for j := range one {
				require.Equal(t, one[j], atOnce[i][j])
			}
			m.append(one)
			for _, e := range m.log[len(m.log)-len(one):] {
				require.Equal(t, batch.BuildID, e.BuildID)
			}
		}
	})
}

// A fact's row does not depend on the table if its creation is in the page.
func TestPageOfNewFactsLoadsNone(t *testing.T) {
	t.Parallel()
	m := newMemory(t)
	m.opts.MaxFacts = 1
	m.say(m.entry("Likes Go", 0.6))
	m.say(m.entry("Likes Rust", 0.7))
	var loaded [][]string
	load := func(_, _ string, ids []string) ([]Fact, error) {
		loaded = append(loaded, ids)
		return nil, nil
	}
	_, err := foldPage(m.log, load)
	require.NoError(t, err)
	_, err = foldPage(m.log[1:], load)
	require.NoError(t, err)
	require.Len(t, loaded, 2)
	require.Empty(t, loaded[0])
	require.Equal(t, []string{m.facts[0].ID}, loaded[1], "the evicted fact began before the page")
	require.Equal(t, schema.FactCreated, m.log[0].Type)
}
