package fact

import (
	"cmp"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"axiommind/schema"
)

func (m *memory) section(name, summary string, hours int) schema.Entry {
	e := m.entry(summary, 0.9)
	e.Section, e.OccurredAt = name, day.Add(time.Duration(hours)*time.Hour)
	return e
}

func (m *memory) profile() map[string]string {
	out := map[string]string{}
	for name, s := range m.state().Sections {
		out[name] = s.Summary
	}
	return out
}

func TestProfile(t *testing.T) {
	t.Parallel()
	m := newMemory(t)
	work, unproven := m.section(schema.SectionWork, " Builds 메모리 ", 1), m.section(schema.SectionRecent, "Moved house", 1)
	unproven.EvidenceAligned = false
	unsure := m.section(schema.SectionRecent, "Moved house", 1)
	unsure.Confidence = ptr(0.4)
	unknown := m.section("hobbies", "Chess", 1)
	m.say(work, unproven, unsure, unknown)
	require.Equal(t, map[string]string{schema.SectionWork: "Builds 메모리"}, m.profile())
	require.Equal(t, []string{schema.SkippedUnaligned, schema.SkippedLowConfidence, schema.SkippedCategory}, m.skips())
	require.Empty(t, m.facts, "a summary of the profile is no fact")

	m.say(m.section(schema.SectionWork, "Said earlier, read later", 0))
	require.Equal(t, "Builds 메모리", m.profile()[schema.SectionWork])
	m.say(m.section(schema.SectionWork, "builds 메모리", 2))
	require.Equal(t, "builds 메모리", m.profile()[schema.SectionWork], "another session speaks for it")
	m.say(m.section(schema.SectionWork, "Builds graphs", 3))
	require.Equal(t, "Builds graphs", m.profile()[schema.SectionWork])

	require.NoError(t, m.do(Command{Op: OpSection, Section: schema.SectionWork, Content: ptr("Rests"), At: day.Add(4 * time.Hour)}))
	require.ErrorIs(t, m.do(Command{Op: OpSection, Section: schema.SectionWork, Content: ptr("rests")}), ErrDuplicate)
	require.NoError(t, m.do(Command{Op: OpSection, Section: schema.SectionWork, Content: ptr(""), At: day.Add(5 * time.Hour)}))
	require.Empty(t, m.profile()[schema.SectionWork])
	require.ErrorIs(t, m.do(Command{Op: OpSection, Section: schema.SectionWork, Content: ptr(" ")}), ErrInvalid)
	require.ErrorIs(t, m.do(Command{Op: OpSection, Section: "hobbies", Content: ptr("Chess")}), ErrInvalid)
}

func TestCurrent(t *testing.T) {
	t.Parallel()
	ended := &EntryStatus{EndedBy: "ann"}
	require.Equal(t, []Section{{Name: schema.SectionWork, Summary: "before"}, {Name: schema.SectionRecent, Summary: "said"}}, CurrentProfile([]Section{
		{Name: schema.SectionRecent, Summary: "said"},
		{Name: schema.SectionWork, Summary: "retired", Entry: ended}, {Name: schema.SectionWork, Summary: "before"},
		{Name: schema.SectionEarlier}, {Name: schema.SectionEarlier, Summary: "removed since"},
	}))
}

func TestUntold(t *testing.T) {
	t.Parallel()
	facts := []Fact{{ID: "1", Content: "Builds Compilers "}, {ID: "2", Content: "Builds compilers in Go"}}
	require.Equal(t, facts[1:], NotInProfile(facts, []Section{{Name: schema.SectionWork, Summary: "builds compilers"}}))
	require.Equal(t, facts, NotInProfile(facts, nil))
}

// Statements read before everything was forgotten are not remembered again, whichever build asks for them later.
// Statements said or read after it are.
func TestClear(t *testing.T) {
	t.Parallel()
	m := newMemory(t)
	m.say(m.entry("Likes Go", 0.9), m.entry("Lives in Bonn", 0.9), m.section(schema.SectionWork, "Builds", 0))
	running, old, late := m.entry("Owns a cat", 0.9), m.entry("Owned a dog", 0.9), m.entry("Owns a bird", 0.9)
	cleared := day.Add(time.Hour)
	late.OccurredAt = cleared.Add(time.Minute)
	fast := m.entry("Owns a fish", 0.9) // The clock of its message is ahead.
	fast.OccurredAt = cleared.Add(time.Minute)
	m.read = map[string]time.Time{running.ID: day.Add(time.Minute), old.ID: cleared.Add(time.Minute), fast.ID: day.Add(time.Minute)}

	require.NoError(t, m.do(Command{Op: OpClear, At: cleared, Reason: "mine"}))
	require.Empty(t, m.contents())
	require.Equal(t, map[string]string{schema.SectionWork: ""}, m.profile())
	last := m.log[len(m.log)-1]
	p, err := schema.Decode[schema.FactsClearedPayload](last)
	require.NoError(t, err)
	require.Equal(t, [2]int{2, 1}, [2]int{p.Facts, p.Sections})

	m.say(running, old, late, fast, m.section(schema.SectionWork, "Builds", 0))
	require.Equal(t, []string{"Owned a dog", "Owns a bird"}, m.contents())
	require.Equal(t, []string{schema.SkippedCleared, schema.SkippedCleared, schema.SkippedCleared}, m.skips())
	require.NoError(t, m.do(Command{Op: OpCreate, Content: ptr("Likes Go"), At: cleared.Add(time.Hour)}), "a person may say it again")
}

func TestImport(t *testing.T) {
	t.Parallel()
	m := newMemory(t)
	m.opts.MaxFacts = 3
	m.say(m.entry("Likes Go", 0.9))
	since := time.Date(2024, 1, 2, 3, 4, 5, 0, time.UTC)
	c := Command{Op: OpImport, RequestID: "import/1", At: day, Items: []Item{
		{Content: " Prefers tabs ", Category: "preference", Confidence: ptr(0.8), Since: since},
		{Content: "likes go"}, {Content: " "}, {Content: "x", Confidence: ptr(95.0)}, {Content: "y", Category: "hobby"},
		{Section: schema.SectionWork, Content: "Builds", Confidence: ptr(1.0)},
		{Content: "Use rebase", Category: "correction", SourceError: "merged", Since: day.Add(time.Hour)},
	}}
	require.NoError(t, m.do(c))
	require.Equal(t, []string{"Likes Go", "Prefers tabs", "Use rebase"}, m.contents())
	require.Equal(t, []string{schema.SkippedDuplicate, schema.SkippedEmpty, schema.SkippedConfidence, schema.SkippedCategory}, m.skips())
	require.Equal(t, since, m.facts[1].CreatedAt)
	require.Equal(t, day, m.facts[2].CreatedAt, "nothing is known since the future")
	require.Equal(t, "merged", m.facts[2].SourceError)
	require.Equal(t, "Builds", m.profile()[schema.SectionWork])

	// Items that an earlier attempt imported are left out of the next one.
	state := m.state()
	for n := range c.Items[:4] {
		state.Done[schema.EventID(importKey(Command{User: m.user, Agent: m.agent, RequestID: c.RequestID}, n))] = true
	}
	c.User, c.Agent, c.Actor = m.user, m.agent, "ann"
	events, err := PlanCommand(state, c, m.opts)
	require.NoError(t, err)
	require.Len(t, events, 3)
}

func TestImportIsBounded(t *testing.T) {
	t.Parallel()
	c := Command{User: "ann", RequestID: "r", Actor: "ann", At: day, Op: OpImport}
	require.ErrorIs(t, c.Validate(), ErrInvalid)
	c.Items = make([]Item, MaxImportItems+1)
	require.ErrorIs(t, c.Validate(), ErrInvalid)
	c.Items = []Item{{Content: strings.Repeat("x", MaxImportBytes)}}
	require.ErrorIs(t, c.Validate(), ErrInvalid)
	c.Items = c.Items[:1]
	c.Items[0].Content = "x"
	require.NoError(t, c.Validate())
}

func TestExpectVersion(t *testing.T) {
	t.Parallel()
	m := newMemory(t)
	m.say(m.entry("Likes Go", 0.9), m.entry("Lives in Bonn", 0.8), m.section(schema.SectionWork, "Builds", 0))
	f := m.facts[0]
	for _, c := range []Command{
		{Op: OpUpdate, FactID: f.ID, Content: ptr("x"), ExpectVersion: 9}, {Op: OpDelete, FactID: f.ID, ExpectVersion: 2},
		{Op: OpCreate, Content: ptr("x"), ExpectVersion: 2}, {Op: OpClear, ExpectVersion: 1},
		{Op: OpImport, Items: []Item{{Content: "x"}}, ExpectVersion: 1},
		{Op: OpSection, Section: schema.SectionWork, Content: ptr("x"), ExpectVersion: 2},
	} {
		length := len(m.log)
		require.ErrorIs(t, m.do(c), ErrStale, c.Op)
		require.Len(t, m.log, length, c.Op)
	}
	require.ErrorIs(t, m.do(Command{Op: OpDelete, FactID: "fact_x", ExpectVersion: 9}), ErrFactNotFound)
	require.NoError(t, m.do(Command{Op: OpCreate, Content: ptr("x"), ExpectVersion: 3}), "the profile is a part of the memory")
	require.NoError(t, m.do(Command{Op: OpSection, Section: schema.SectionWork, Content: ptr("x"), ExpectVersion: 3}))
	require.NoError(t, m.do(Command{Op: OpUpdate, FactID: f.ID, Content: ptr("y"), ExpectVersion: f.Version}))
	require.ErrorIs(t, m.do(Command{Op: OpUpdate, FactID: f.ID, Content: ptr("z"), ExpectVersion: f.Version}), ErrStale)
	require.NoError(t, m.do(Command{Op: OpClear, ExpectVersion: m.state().Version}))
}

func TestReserve(t *testing.T) {
	t.Parallel()
	m := newMemory(t)
	m.opts = Options{MaxFacts: 4, Reserve: 2, Threshold: -1}
	correction := func(title string, confidence float64) schema.Entry {
		e := m.entry(title, confidence)
		e.Category = schema.CategoryCorrection
		return e
	}
	m.say(correction("c1", 0.1), correction("c2", 0.2), m.entry("p1", 0.9), m.entry("p2", 0.8))
	m.say(m.entry("p3", 0.7))
	require.Equal(t, []string{"c1", "c2", "p1", "p3"}, m.contents(), "two corrections are kept, however unsure")
	m.say(correction("c3", 0.3))
	require.Equal(t, []string{"c1", "c2", "p1", "c3"}, m.contents())
	m.say(m.entry("p4", 0.5))
	require.Equal(t, []string{"c2", "p1", "c3", "p4"}, m.contents(), "the third is none of the two best")
	// If there are only corrections, one of them is evicted nevertheless.
	m.opts = Options{MaxFacts: 1, Reserve: 9, Threshold: -1}
	m.say(correction("c4", 0.05))
	require.Equal(t, []string{"c4"}, m.contents())
}

// Vectors in two dimensions, the angle given by the text's last word.
type angles map[string][]float32

func TestMerge(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		older, newer string
		category     string
		vectors      angles
		merged       bool
	}{
		"nearly the same":   {"The user prefers tabs over spaces", "User prefers tabs over spaces", "", angles{"a": {1, 0}, "b": {1, 0.1}}, true},
		"Chinese":           {"用户喜欢使用 Go 语言", "用户喜欢使用 Go 语言。", "", angles{"a": {1, 0}, "b": {1, 0}}, true},
		"another vector":    {"The user prefers tabs over spaces", "User prefers tabs over spaces", "", angles{"a": {1, 0}, "b": {0, 1}}, false},
		"other words":       {"The user prefers tabs", "User likes indentation with one sign", "", angles{"a": {1, 0}, "b": {1, 0}}, false},
		"another number":    {"The build of the service takes 8 minutes", "The build of the service takes 9 minutes", "", angles{"a": {1, 0}, "b": {1, 0}}, false},
		"contradiction":     {"The user always deploys the service on Friday", "The user never deploys the service on Friday", "", angles{"a": {1, 0}, "b": {1, 0}}, false},
		"another category":  {"The user prefers tabs over spaces", "User prefers tabs over spaces", "goal", angles{"a": {1, 0}, "b": {1, 0}}, false},
		"no vector of them": {"The user prefers tabs over spaces", "User prefers tabs over spaces", "", angles{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMemory(t)
			m.opts = Options{MergeOverlap: 0.6, MergeSimilarity: 0.9}
			m.say(m.entry(tt.older, 0.6))
			state := m.state()
			state.near = &similarityIndex{vectors: map[string][]float32{tt.older: tt.vectors["a"], tt.newer: tt.vectors["b"]}}
			newer := m.entry(tt.newer, 0.8)
			newer.Category = cmp.Or(tt.category, newer.Category)
			events, err := Plan(state, m.batch(newer), m.opts)
			require.NoError(t, err)
			m.append(events)
			if !tt.merged {
				require.Equal(t, []string{tt.older, tt.newer}, m.contents())
				return
			}
			require.Equal(t, []string{tt.older}, m.contents(), "the older one stays")
			require.InDelta(t, 0.8, m.facts[0].Confidence, 0, "with the higher confidence")
			p, err := schema.Decode[schema.FactMergedPayload](m.log[len(m.log)-1])
			require.NoError(t, err)
			require.Equal(t, tt.newer, p.Content)
			require.GreaterOrEqual(t, p.Overlap, p.MinOverlap)
			require.GreaterOrEqual(t, p.Similarity, p.MinSimilarity)
			require.Zero(t, m.say(newer), "again")
			g, err := foldPage(m.log, func(string, string, []string) ([]Fact, error) { return nil, nil })
			require.NoError(t, err)
			require.Len(t, g.skippedRows(), 1)
			require.Equal(t, "[ann coder 2", strings.Join(strings.Fields(fmt.Sprint(g.skippedRows()[0]))[:3], " "))
		})
	}
}
