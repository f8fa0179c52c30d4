package fact

import (
	"encoding/hex"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"axiommind/schema"
)

func TestSkips(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*schema.Entry)
		want   string
	}{
		"at the threshold":          {func(e *schema.Entry) { e.Confidence = ptr(0.5) }, ""},
		"no confidence":             {func(e *schema.Entry) { e.Confidence = nil }, schema.SkippedConfidence},
		"no category":               {func(e *schema.Entry) { e.Category = "" }, schema.SkippedCategory},
		"category in capitals":      {func(e *schema.Entry) { e.Category = " GOAL" }, ""},
		"below the threshold":       {func(e *schema.Entry) { e.Confidence = ptr(math.Nextafter(0.5, 0)) }, schema.SkippedLowConfidence},
		"in percent":                {func(e *schema.Entry) { e.Confidence = ptr(95.0) }, schema.SkippedConfidence},
		"negative":                  {func(e *schema.Entry) { e.Confidence = ptr(-0.1) }, schema.SkippedConfidence},
		"not a number":              {func(e *schema.Entry) { e.Confidence = ptr(math.NaN()) }, schema.SkippedConfidence},
		"infinite":                  {func(e *schema.Entry) { e.Confidence = ptr(math.Inf(1)) }, schema.SkippedConfidence},
		"unknown category":          {func(e *schema.Entry) { e.Category = "hobby" }, schema.SkippedCategory},
		"blank":                     {func(e *schema.Entry) { e.Title, e.Content = " \n", "" }, schema.SkippedEmpty},
		"content without title":     {func(e *schema.Entry) { e.Title, e.Content = "", "Likes Go" }, ""},
		"an acknowledgement":        {func(e *schema.Entry) { e.Title = "Ok, thanks!" }, schema.SkippedTrivial},
		"an upload":                 {func(e *schema.Entry) { e.Title = "User uploaded a file named report.pdf." }, schema.SkippedUpload},
		"I12: a quote is not there": {func(e *schema.Entry) { e.EvidenceAligned = false }, schema.SkippedUnaligned},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMemory(t)
			e := m.entry("Likes Go", 0.9)
			test.change(&e)
			require.Equal(t, 1, m.say(e), "one event says what became of it")
			if test.want == "" {
				require.Equal(t, []string{"Likes Go"}, m.contents())
				require.Equal(t, day, m.facts[0].CreatedAt)
				require.Equal(t, "s1", m.facts[0].Source())
			} else {
				require.Empty(t, m.facts)
				require.Equal(t, []string{test.want}, m.skips())
			}
			require.Zero(t, m.say(e))
		})
	}
}

func TestOtherEntriesAreNoFacts(t *testing.T) {
	t.Parallel()
	m := newMemory(t)
	e := m.entry("Use ClickHouse", 0.9)
	e.Type = schema.EntryDecision
	require.Zero(t, m.say(e))

	foreign := m.entry("Likes Go", 0.9)
	foreign.User = "bob"
	_, err := Plan(Memory{}, m.batch(foreign), Options{})
	require.ErrorIs(t, err, ErrScope, "I10")
}

func TestEviction(t *testing.T) {
	t.Parallel()
	at := func(e schema.Entry, hours int) schema.Entry {
		e.OccurredAt = day.Add(time.Duration(hours) * time.Hour)
		return e
	}
	m := newMemory(t)
	m.opts.MaxFacts = 3
	m.say(at(m.entry("younger", 0.7), 2), at(m.entry("older", 0.7), 1), at(m.entry("certain", 0.9), 0))
	m.say(at(m.entry("less sure than all", 0.5), 3))
	require.Equal(t, []string{"younger", "certain", "less sure than all"}, m.contents())
	m.say(at(m.entry("next", 0.6), 4), at(m.entry("last", 0.6), 4))
	require.Equal(t, []string{"younger", "certain", "last"}, m.contents(), "each is admitted, and gives way to the next")
	require.Equal(t, Evicted, m.facts[1].Status)
	require.Equal(t, "gave way to "+m.facts[3].ID, m.facts[1].GoneReason)
	require.Equal(t, Evicted, m.facts[4].Status)

	// An evicted fact may be said again, also in the same batch.
	m.say(at(m.entry("Older", 0.8), 5))
	require.Contains(t, m.contents(), "Older")
	one := newMemory(t)
	one.opts.MaxFacts = 1
	one.say(one.entry("Old", 0.9))
	one.say(one.entry("New", 0.6), one.entry("OLD", 0.8))
	require.Equal(t, []string{"OLD"}, one.contents())
	require.Empty(t, one.skips())

	// A batch that is too large by itself is no other thing than its facts one after the other: the last one is admitted.
	m.say(m.entry("a", 0.6), m.entry("b", 0.8), m.entry("c", 0.8), m.entry("d", 0.6), m.entry("e", 0.9), m.entry("f", 0.7))
	require.Equal(t, []string{"certain", "e", "f"}, m.contents())
	require.Empty(t, m.skips())
	last := m.log[len(m.log)-2]
	evicted, err := schema.Decode[schema.FactEvictedPayload](schema.Event{Type: last.Type, Payload: last.Payload})
	require.NoError(t, err)
	require.Equal(t, schema.FactEvictedPayload{
		Act: evicted.Act, FactID: evicted.FactID, For: m.facts[len(m.facts)-1].ID, MaxFacts: 3, Policy: schema.EvictConfidence, Score: 0.8,
	}, evicted, "what it displaced is recorded with the reason")

	// Where there is less room than there was, facts leave until there is.
	m.opts.MaxFacts = 1
	require.NoError(t, m.do(Command{Op: OpCreate, Content: ptr("only"), Confidence: ptr(0.1)}))
	require.Equal(t, []string{"only"}, m.contents())
}

func TestDefaultMaxFacts(t *testing.T) {
	t.Parallel()
	m := newMemory(t)
	var entries []schema.Entry
	for i := range 501 {
		entries = append(entries, m.entry(fmt.Sprint("fact ", i), 0.9))
	}
	m.say(entries[:500]...)
	require.Len(t, Remembered(m.facts), 500)
	m.say(entries[500])
	require.Len(t, Remembered(m.facts), 500)
	require.NotContains(t, m.contents(), "fact 0")
	require.Contains(t, m.contents(), "fact 500")
}

func TestFoldLeavesGoneFacts(t *testing.T) {
	t.Parallel()
	m := newMemory(t)
	m.say(m.entry("Likes Go", 0.9))
	id := m.facts[0].ID
	update := m.log[0]
	update.Type, update.Payload, update.Seq = schema.FactUpdated, []byte(`{"fact_id":"`+id+`","content":"x"}`), 9
	require.NoError(t, m.do(Command{Op: OpDelete, FactID: id}))
	gone := m.facts[0]
	same, err := Fold(gone, update)
	require.NoError(t, err)
	require.Equal(t, gone, same)
	none, err := Fold(Fact{}, update)
	require.NoError(t, err)
	require.Equal(t, Fact{}, none)
	update.Type = schema.TaskCreated
	_, err = Fold(gone, update)
	require.Error(t, err)
}

func TestKey(t *testing.T) {
	t.Parallel()
	for _, same := range [][2]string{
		{"\u1fb4", "α\u0345\u0301"}, {"ꭰ", "Ꭰ"}, {"ᏸ", "Ᏸ"}, {"caf\u00e9", "CAFE\u0301"}, {"\u00a0x\u3000", "X"}, {"ǰ", "j\u030c"},
	} {
		require.Equal(t, Key(same[0]), Key(same[1]), "%+q", same)
	}
	for _, other := range [][2]string{{"Ａ", "a"}, {"a  b", "a b"}, {"a.", "a"}, {"cafe", "café"}} {
		require.NotEqual(t, Key(other[0]), Key(other[1]), "%+q", other)
	}
}

func TestIDCollision(t *testing.T) {
	t.Parallel()
	m := newMemory(t)
	e := m.entry("Likes Go", 0.9)
	ids := factIDs(schema.FactOfEntryKey("ann", "coder", e.ID))
	taken := func(n int) []Fact {
		var facts []Fact
		for i, id := range ids[:n] {
			facts = append(facts, Fact{ID: id, Content: fmt.Sprint(i), Status: Deleted, CreatedSeq: uint64(i + 1), Version: uint64(i + 1)})
		}
		return facts
	}
	for n, id := range ids {
		unique, err := uuid.Parse(schema.DerivedID("fact", schema.FactOfEntryKey("ann", "coder", e.ID), fmt.Sprint(n)))
		require.NoError(t, err)
		require.EqualValues(t, 5, unique.Version())
		require.Equal(t, "fact_"+hex.EncodeToString(unique[:])[:8], id)
		events, err := Plan(memoryOf(taken(n)), m.batch(e), Options{})
		require.NoError(t, err)
		require.Contains(t, string(events[0].Payload), id)
	}
	_, err := Plan(memoryOf(taken(len(ids))), m.batch(e), Options{})
	require.ErrorIs(t, err, errNoID)
}

func TestCommands(t *testing.T) {
	t.Parallel()
	m := newMemory(t)
	m.say(m.entry("Likes Go", 0.9), m.entry("Lives in Bonn", 0.8))
	id := m.facts[0].ID

	require.NoError(t, m.do(Command{Op: OpUpdate, FactID: id, Confidence: ptr(0.0), At: day.Add(time.Hour)}))
	f := m.facts[0]
	require.Equal(t, Fact{
		ID: id, Content: "Likes Go", Category: "context", Confidence: 0, Status: Active, Project: "red", Actor: ActorExtractor,
		SessionID: "s1", EntryID: f.EntryID, CreatedAt: day, CreatedSeq: 1, UpdatedAt: day.Add(time.Hour), Version: 3,
	}, f)
	require.NoError(t, m.do(Command{Op: OpUpdate, FactID: id, Content: ptr(" LIKES GO "), Category: ptr("Goal")}), "its own words in other letters")
	require.Equal(t, "LIKES GO", m.facts[0].Content)
	require.ErrorIs(t, m.do(Command{Op: OpUpdate, FactID: id, Content: ptr("lives in BONN")}), ErrDuplicate)
	require.ErrorIs(t, m.do(Command{Op: OpCreate, Content: ptr("lives in BONN")}), ErrDuplicate)
	require.Equal(t, []string{schema.SkippedDuplicate, schema.SkippedDuplicate}, m.skips(), "refusals are recorded")

	require.NoError(t, m.do(Command{Op: OpDelete, FactID: id, Reason: "not so", At: day.Add(2 * time.Hour)}))
	require.Equal(t, "not so", m.facts[0].GoneReason)
	for _, c := range []Command{
		{Op: OpDelete, FactID: id}, {Op: OpUpdate, FactID: id, Content: ptr("x")}, {Op: OpDelete, FactID: "fact_00000000"},
	} {
		length := len(m.log)
		require.ErrorIs(t, m.do(c), ErrFactNotFound)
		require.Len(t, m.log, length)
	}
}

func TestInvalidCommands(t *testing.T) {
	t.Parallel()
	valid := Command{User: "ann", RequestID: "r", Actor: "ann", At: day, Op: OpCreate, Content: ptr("x")}
	require.NoError(t, valid.Validate())
	for field, change := range map[string]func(*Command){
		"request_id": func(c *Command) { c.RequestID = "" },
		"actor":      func(c *Command) { c.Actor = "" },
		"at":         func(c *Command) { c.At = time.Time{} },
		"op":         func(c *Command) { c.Op = "forget" },
		"fact_id":    func(c *Command) { c.Op = OpUpdate },
		"content":    func(c *Command) { c.Content = nil },
		"confidence": func(c *Command) { c.Confidence = ptr(math.NaN()) },
		"category":   func(c *Command) { c.Category = ptr("hobby") },
	} {
		c := valid
		change(&c)
		_, err := PlanCommand(Memory{}, c, Options{})
		var invalid *InvalidError
		require.ErrorAs(t, err, &invalid, field)
		require.Equal(t, field, invalid.Field)
		require.ErrorIs(t, err, ErrInvalid)
	}
	for _, c := range []Command{
		{Op: OpUpdate, FactID: "fact_1"}, {Op: OpDelete, FactID: "fact_1", Content: ptr("x")}, {Op: OpCreate, FactID: "fact_1", Content: ptr("x")},
		{Op: OpUpdate, FactID: "fact_1", Content: ptr("  ")},
	} {
		c.RequestID, c.Actor, c.At = "r", "ann", day
		require.ErrorIs(t, c.Validate(), ErrInvalid)
	}
}

// TestNoLostUpdate: a person's change made while a model is asked stays.
func TestNoLostUpdate(t *testing.T) {
	t.Parallel()
	m := newMemory(t)
	m.say(m.entry("Lives in Bonn", 0.9))
	extracted := []schema.Entry{m.entry("lives in bonn", 0.9), m.entry("Likes Go", 0.9)}
	require.NoError(t, m.do(Command{Op: OpDelete, FactID: m.facts[0].ID, At: day.Add(time.Minute)}))
	require.NoError(t, m.do(Command{Op: OpCreate, Content: ptr("Lives in Rome"), At: day.Add(time.Minute)}))
	m.say(extracted...)
	require.Equal(t, []string{"Lives in Rome", "Likes Go"}, m.contents(), "said before it was deleted")
	require.Equal(t, []string{schema.SkippedDeleted}, m.skips())
	later := m.entry("Lives in Bonn", 0.9)
	later.OccurredAt = day.Add(time.Hour)
	m.say(later)
	require.Contains(t, m.contents(), "Lives in Bonn", "said after it was deleted")
}

func TestAsOf(t *testing.T) {
	t.Parallel()
	m := newMemory(t)
	late := m.entry("Said later", 0.9)
	late.OccurredAt = day.Add(2 * time.Hour)
	m.say(late, m.entry("Said first", 0.9))
	require.NoError(t, m.do(Command{Op: OpDelete, FactID: m.facts[1].ID, At: day.Add(time.Hour)}))
	told := func(at time.Time) string {
		var out []string
		for _, f := range Remembered(m.replay(at)) {
			out = append(out, f.Content)
		}
		return strings.Join(out, ", ")
	}
	require.Empty(t, told(day.Add(-time.Second)))
	require.Equal(t, "Said first", told(day))
	require.Empty(t, told(day.Add(time.Hour)))
	require.Equal(t, "Said later", told(day.Add(2*time.Hour)))
	require.Equal(t, "Said later", told(time.Time{}))
}

func TestOptions(t *testing.T) {
	t.Parallel()
	for _, opts := range []Options{{Threshold: 1.1}, {Threshold: math.NaN()}, {MaxFacts: -1}} {
		_, err := NewWriter(nil, nil, opts)
		require.Error(t, err)
	}
	m := newMemory(t)
	m.opts.Threshold = -1
	m.say(m.entry("Likes Go", 0))
	require.Equal(t, []string{"Likes Go"}, m.contents())
}
