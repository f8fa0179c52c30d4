package fact

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"

	"axiommind/schema"
)

var (
	contents = []string{"Likes Go", " likes GO ", "Likes Rust", "Straße", "STRASSE", "ﬁle", "FILE", "café", "cafe\u0301",
		"用 Go", "ᾳ", "ΑΙ", "\u200bLikes Go", "Owns a cat", "Owns two cats", "Lives in Bonn", " "}
	confidences = []float64{0, 0.3, 0.49, 0.5, 0.5, 0.7, 0.9, 0.9, 1, 1.01, -0.1, math.NaN(), math.Inf(1)}
	categories  = []string{"", "goal", " Preference ", "hobby", schema.CategoryCorrection}
)

func (m *memory) drawEntry(t *rapid.T) schema.Entry {
	e := m.entry(rapid.SampledFrom(contents).Draw(t, "content"), 0)
	e.Confidence = nil
	if rapid.IntRange(0, 5).Draw(t, "given") > 0 {
		e.Confidence = ptr(rapid.SampledFrom(confidences).Draw(t, "confidence"))
	}
	e.Category = rapid.SampledFrom(categories).Draw(t, "category")
	e.EvidenceAligned = rapid.IntRange(0, 5).Draw(t, "aligned") > 0
	e.OccurredAt = day.Add(time.Duration(rapid.IntRange(-2, 2).Draw(t, "hour")) * time.Hour)
	return e
}

func (m *memory) drawCommand(t *rapid.T) Command {
	c := Command{
		Op:        rapid.SampledFrom([]Op{OpCreate, OpUpdate, OpDelete}).Draw(t, "op"),
		RequestID: fmt.Sprint(rapid.IntRange(0, 9).Draw(t, "request")),
		At:        day.Add(time.Duration(rapid.IntRange(-2, 2).Draw(t, "at")) * time.Hour),
	}
	if c.Op != OpCreate {
		c.FactID = "fact_00000000"
		if len(m.facts) > 0 {
			c.FactID = rapid.SampledFrom(m.facts).Draw(t, "fact").ID
		}
	}
	if c.Op != OpDelete {
		c.Content = ptr(rapid.SampledFrom(contents).Draw(t, "content"))
		c.Confidence = ptr(rapid.SampledFrom(confidences).Draw(t, "confidence"))
	}
	return c
}

// tables keeps the highest version of each sort key, as ReplacingMergeTree does.
type tables map[string]string

// project applies the events in pages, some of which repeat earlier events, as after a crash.
func (m *memory) project(t *rapid.T) (tables, []Fact) {
	facts, versions, out := map[string]Fact{}, map[string]uint64{}, tables{}
	for at := 0; at < len(m.log); {
		from := max(0, at-rapid.SampledFrom([]int{0, 0, 1, 7}).Draw(t, "back"))
		at = min(len(m.log), at+rapid.IntRange(1, 6).Draw(t, "page"))
		g, err := foldPage(m.log[from:at], func(user, agent string, ids []string) ([]Fact, error) {
			require.Equal(t, [2]string{m.user, m.agent}, [2]string{user, agent})
			var known []Fact
			for _, id := range ids {
				if f, ok := facts[id]; ok {
					known = append(known, f)
				}
			}
			return known, nil
		})
		require.NoError(t, err)
		for _, row := range g.factRows() {
			id, version := row[0].(string), row[len(row)-1].(uint64)
			if version >= versions[id] {
				versions[id], facts[id] = version, g.after[id]
				if gone := row[17].(*time.Time); gone != nil {
					row[17] = *gone
				}
				out[id] = fmt.Sprint(row...)
			}
		}
		for _, row := range g.skippedRows() {
			if c := row[12].(*float64); c != nil {
				row[12] = *c
			}
			out[fmt.Sprint("skipped ", row[2])] = fmt.Sprint(row...)
		}
	}
	return out, inOrder(facts)
}

// TestI1I3I4 draws sessions and commands. After each the rules of a memory hold; in the end the
// fold is the projection in pages of any size (I4), which is that of a rebuild (I3), and the same
// sessions and commands again change nothing (I1).
func TestI1I3I4(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := newMemory(t)
		m.opts = Options{MaxFacts: rapid.IntRange(1, 4).Draw(t, "max"), Reserve: rapid.IntRange(0, 2).Draw(t, "reserve")}
		var sessions [][]schema.Entry
		sent := map[string]Command{}
		for range rapid.IntRange(1, 8).Draw(t, "acts") {
			if rapid.Bool().Draw(t, "person") {
				c := m.drawCommand(t)
				if _, again := sent[c.RequestID]; !again && m.do(c) == nil {
					sent[c.RequestID] = c
				}
			} else {
				var entries []schema.Entry
				for range rapid.IntRange(1, 6).Draw(t, "entries") {
					entries = append(entries, m.drawEntry(t))
				}
				before := len(m.log)
				m.say(entries...)
				m.requireAdmitted(before)
				sessions = append(sessions, entries)
			}
			m.requireRules()
		}
		length := len(m.log)
		for _, entries := range sessions {
			require.Zero(t, m.say(entries...), "the same session again adds no event")
		}
		for _, c := range sent {
			require.NoError(t, m.do(c), "the same command again succeeds")
		}
		require.Len(t, m.log, length)
		rows, facts := m.project(t)
		require.Equal(t, m.facts, facts)
		again, _ := m.project(t)
		require.Equal(t, rows, again)
	})
}

// requireRules checks every state that the log went through.
func (m *memory) requireRules() {
	opts, err := m.opts.withDefaults()
	require.NoError(m.t, err)
	facts := map[string]Fact{}
	for _, e := range m.log {
		o, err := readEvent(e)
		require.NoError(m.t, err)
		id := o.payload.Fact()
		if id == "" {
			continue
		}
		before := facts[id]
		facts[id], err = Fold(before, e)
		require.NoError(m.t, err)
		require.NotEqual(m.t, before.Version, facts[id].Version, "every event changes its fact")
		if before.Exists() {
			require.Equal(m.t, before.CreatedAt, facts[id].CreatedAt)
		}
		active := Remembered(slices.Collect(maps.Values(facts)))
		require.LessOrEqual(m.t, len(active), opts.MaxFacts)
		keys := map[string]string{}
		for _, f := range active {
			require.Regexp(m.t, `^fact_[0-9a-f]{8}$`, f.ID)
			require.True(m.t, validConfidence(f.Confidence))
			require.Contains(m.t, schema.FactCategories(), f.Category)
			require.NotEmpty(m.t, strings.TrimSpace(f.Content))
			require.NotContains(m.t, keys, Key(f.Content))
			keys[Key(f.Content)] = f.ID
		}
	}
}

// requireAdmitted checks that the last fact that one session added is there, and that each eviction took the weakest of
// all active facts, corrections aside.
func (m *memory) requireAdmitted(before int) {
	opts, err := m.opts.withDefaults()
	require.NoError(m.t, err)
	facts, last := map[string]Fact{}, ""
	for i, e := range m.log {
		o, err := readEvent(e)
		require.NoError(m.t, err)
		switch p := o.payload.(type) {
		case schema.FactCreatedPayload:
			last = p.FactID
			if i >= before {
				require.GreaterOrEqual(m.t, p.Confidence, DefaultThreshold)
			}
		case schema.FactEvictedPayload:
			gone := facts[p.FactID]
			corrections := 0
			for _, f := range facts {
				if f.Status == Active && f.Category == schema.CategoryCorrection {
					corrections++
				}
			}
			for _, f := range facts {
				kept := f.Category == schema.CategoryCorrection && corrections <= opts.Reserve
				if f.Status == Active && f.ID != gone.ID && !kept && gone.Category != schema.CategoryCorrection {
					require.False(m.t, (evicter{}).before(f, gone), "%v left and %v stayed", gone, f)
				}
			}
		}
		if id := o.payload.Fact(); id != "" {
			facts[id] = facts[id].after(o)
		}
		if i == len(m.log)-1 && i >= before && o.event.Type == schema.FactCreated {
			require.Equal(m.t, Active, facts[last].Status, "the last fact is admitted")
		}
	}
}

func TestKeyProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "text")
		if rapid.Bool().Draw(t, "known") {
			s = rapid.SampledFrom(contents).Draw(t, "content") + s
		}
		key := Key(s)
		require.Equal(t, key, Key(key), "idempotent")
		require.Equal(t, key, Key(norm.NFD.String(s)))
		require.Equal(t, key, Key(norm.NFC.String(s)))
		require.Equal(t, key, Key(" \t"+s+"\u3000\n"))
	})
}

func TestFoldIsPure(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := newMemory(t)
		m.opts.MaxFacts = 2
		for range rapid.IntRange(1, 10).Draw(t, "acts") {
			if m.say(m.drawEntry(t)); rapid.Bool().Draw(t, "person") {
				_ = m.do(m.drawCommand(t))
			}
		}
		for _, want := range m.facts {
			var f Fact
			for i, e := range m.log {
				o, err := readEvent(e)
				require.NoError(t, err)
				if o.payload.Fact() != want.ID {
					continue
				}
				f, err = Fold(f, e)
				require.NoError(t, err)
				for _, past := range m.log[:i+1] {
					same, err := Fold(f, past)
					require.NoError(t, err)
					if o, _ := readEvent(past); o.payload.Fact() == want.ID {
						require.Equal(t, f, same, "an event folded before changes nothing")
					}
				}
			}
			require.Equal(t, want, f)
		}
	})
}

func TestMemoryStreamIsInjective(t *testing.T) {
	t.Parallel()
	name := rapid.StringOfN(rapid.RuneFrom([]rune("a/%25F")), 0, 6, -1)
	rapid.Check(t, func(t *rapid.T) {
		user, agent := name.Draw(t, "user"), name.Draw(t, "agent")
		stream := schema.MemoryStream(user, agent)
		require.True(t, strings.HasPrefix(stream, schema.MemoryPrefix))
		gotUser, gotAgent, err := schema.ParseMemoryStream(stream)
		require.NoError(t, err)
		require.Equal(t, [2]string{user, agent}, [2]string{gotUser, gotAgent})
	})
	for _, stream := range []string{"memory/a", "memory/a/b/c", "memory/a%2f/b", "memory/%/b", "project/a/b", ""} {
		_, _, err := schema.ParseMemoryStream(stream)
		require.Error(t, err, stream)
	}
}
