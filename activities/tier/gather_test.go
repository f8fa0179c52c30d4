package tier

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"axiommind/activities/boundary"
	"axiommind/activities/clickhouse"
	"axiommind/activities/entry"
	"axiommind/activities/fact"
	"axiommind/activities/llm"
	"axiommind/schema"
)

// silent is a model that must not be asked.
func silent(llm.Request) (string, llm.FinishReason, error) {
	return "", "", &llm.Error{Provider: "scripted", Kind: llm.KindAuth, Message: "nobody asks in this test"}
}

// remember is a memory that tests write to directly.
type remember struct {
	*stage
	user, agent string
	n           int
}

func (m *remember) add(t testing.TB, key string, payload any) string {
	t.Helper()
	event, err := schema.NewEvent(payload, schema.Event{TS: m.clock, Actor: "test", DedupeKey: key})
	require.NoError(t, err)
	appended, err := m.log.Append(t.Context(), schema.MemoryStream(m.user, m.agent), []schema.Event{event})
	require.NoError(t, err)
	return appended.Events[0].ID
}

func (m *remember) flush(t testing.TB, date, text string) string {
	t.Helper()
	m.n++
	session := schema.SessionKey{Scope: schema.Scope{Project: "p", User: m.user, Agent: m.agent}, SessionID: fmt.Sprint("s", m.n)}
	return m.add(t, schema.ContextFlushedKey(session, 0, 1), schema.ContextFlushedPayload{
		SessionKey: session, Reason: schema.FlushTrim, Date: date, Clock: "14:30", Last: 1, Summarizer: "openai/m", Text: text,
	})
}

func (m *remember) edit(t testing.TB, date, text string) string {
	t.Helper()
	m.n++
	return m.add(t, schema.RecordEditedKey(m.user, m.agent, schema.RecordDaily, date, m.n),
		schema.RecordEditedPayload{Kind: schema.RecordDaily, Date: date, Text: text})
}

// read records that a dream has read the days.
func (m *remember) read(t testing.TB, ordinal int, status schema.DreamStatus, days ...schema.GatheredDay) {
	t.Helper()
	p := schema.DreamFinishedPayload{Ordinal: ordinal, Date: "2026-06-07", Status: status, Gathered: "g", Model: "m"}
	for _, d := range days {
		p.Days = append(p.Days, d.Day)
	}
	m.add(t, schema.DreamFinishedKey(m.user, m.agent, ordinal), p)
}

func (m *remember) gather(t testing.TB, in GatherInput) (Gathered, schema.DreamGatheredPayload) {
	t.Helper()
	in.User, in.Agent, in.At = m.user, m.agent, m.clock
	gathered, err := m.gatherDream(t.Context(), in)
	require.NoError(t, err)
	if gathered.EventID == "" {
		return gathered, schema.DreamGatheredPayload{}
	}
	p, err := readGathered(t.Context(), m.log.Store, gathered.EventID)
	require.NoError(t, err)
	return gathered, p
}

func daysOf(p schema.DreamGatheredPayload) (dates []string) {
	for _, d := range p.Days {
		dates = append(dates, d.Date)
	}
	return dates
}

// entry stores an entry as the session's projection would.
func (m *remember) entry(t testing.TB, scope schema.Scope, e schema.Entry) string {
	t.Helper()
	m.n++
	session := schema.SessionKey{Scope: scope, SessionID: fmt.Sprint("s", m.n)}
	e.Scope, e.SessionID, e.CanonicalKey = scope, session.SessionID, string(e.Type)+":"+e.Title
	e.ID = schema.DerivedID("entry", session.Stream(), e.Title)
	e.Stage, e.EvidenceAligned = schema.StageWorking, true
	if e.Status == "" {
		e.Status = schema.StatusActive
	}
	event, err := schema.NewEvent(schema.EntryMaterializedPayload{Entry: e, ExtractedEventID: "x", AlignedEventID: "a"},
		schema.Event{TS: m.clock, Actor: "test", Project: scope.Project, SessionID: session.SessionID, DedupeKey: schema.EntryMaterializedKey(e.ID)})
	require.NoError(t, err)
	_, err = m.log.Append(t.Context(), session.Stream(), []schema.Event{event})
	require.NoError(t, err)
	_, err = m.log.Project(t.Context(), entry.NewProjector(m.conn), session.Stream())
	require.NoError(t, err)
	return e.ID
}

func (m *remember) fact(t testing.TB, at time.Time, category, content string) string {
	t.Helper()
	w, err := fact.NewWriter(m.log, m.conn, fact.Options{})
	require.NoError(t, err)
	m.n++
	confidence := 0.9
	done, err := w.Do(t.Context(), fact.Command{
		User: m.user, Agent: m.agent, RequestID: fmt.Sprint("r", m.n), Actor: "ann", At: at, Op: fact.OpCreate,
		Content: &content, Confidence: &confidence, Category: &category,
	})
	require.NoError(t, err)
	return done.FactID
}

// A day consists of its record and the entries and facts of the day, in the worker's zone, of this user and agent alone
// (I10).
func TestGather(t *testing.T) {
	t.Parallel()
	seoul, err := time.LoadLocation("Asia/Seoul")
	require.NoError(t, err)
	s := newStage(t, silent)
	s.opts.Zone = seoul
	s.clock = time.Date(2026, 6, 7, 14, 55, 0, 0, time.UTC) // 23:55 in Seoul.
	m := &remember{stage: s, user: `사/용'"자`, agent: "a%"}
	late, next := time.Date(2026, 6, 6, 15, 0, 0, 0, time.UTC), time.Date(2026, 6, 7, 15, 0, 0, 0, time.UTC)
	scope := func(project string) schema.Scope { return schema.Scope{Project: project, User: m.user, Agent: m.agent} }

	first := m.flush(t, "2026-06-07", "- 배포는 금요일에 한다.")
	m.flush(t, "2026-06-07", "")
	second := m.flush(t, "2026-06-07", "- Shipped v1.")
	edited := m.edit(t, "2026-06-05", "# Daily Memory: 2026-06-05\n\nA person wrote this.\n")
	decided := m.entry(t, scope("red"), schema.Entry{Type: schema.EntryDecision, Title: "We use Go.", OccurredAt: late, EvidenceProven: true})
	sure, told := 0.75, 0.9
	insight := m.entry(t, scope("blue"), schema.Entry{Type: schema.EntryInsight, Title: "Go is quick.", Confidence: &sure, OccurredAt: late.Add(time.Second), EvidenceProven: true})
	reference := m.entry(t, scope("blue"), schema.Entry{Type: schema.EntryReference, Title: "https://go.dev", OccurredAt: late.Add(-time.Second), EvidenceProven: true})
	stated := m.entry(t, scope("blue"), schema.Entry{Type: schema.EntryFact, Category: schema.CategoryGoal, Title: "Wants to ship.", OccurredAt: late, EvidenceProven: true})
	likes := m.fact(t, late, schema.CategoryPreference, "Likes tea.")
	m.fact(t, next, schema.CategoryPreference, "Likes what comes tomorrow.")
	for _, e := range []schema.Entry{
		{Type: schema.EntryDecision, Title: "Nobody proved this.", OccurredAt: late},
		{Type: schema.EntryTaskNote, Title: "TODO.", OccurredAt: late, EvidenceProven: true},
		{Type: schema.EntryDecision, Title: "Out of date.", OccurredAt: late, EvidenceProven: true, Status: schema.StatusSuperseded},
		{Type: schema.EntryDecision, Title: "Tomorrow.", OccurredAt: next, EvidenceProven: true},
	} {
		m.entry(t, scope("red"), e)
	}
	for _, other := range []schema.Scope{{Project: "red", User: m.user}, {Project: "red", User: "other", Agent: m.agent}} {
		m.entry(t, other, schema.Entry{Type: schema.EntryDecision, Title: "Of another.", OccurredAt: late, EvidenceProven: true})
		o := &remember{stage: s, user: other.User, agent: other.Agent, n: m.n + 100}
		o.flush(t, "2026-06-07", "- Of another.")
		o.fact(t, late, schema.CategoryGoal, "Of another.")
	}

	gathered, p := m.gather(t, GatherInput{})
	require.Equal(t, Gathered{Date: "2026-06-07", EventID: gathered.EventID, Ordinal: 1, Model: "openai/scripted"}, gathered)
	require.Equal(t, []string{"2026-06-07", "2026-06-06", "2026-06-05"}, daysOf(p))
	require.Equal(t, "## Trimmed Context (14:30)\n\n- 배포는 금요일에 한다.\n\n## Trimmed Context (14:30)\n\n- Shipped v1.", p.Days[0].Record)
	require.Equal(t, []schema.SourceText{
		{ID: first, Kind: schema.SourceRecord, Text: "- 배포는 금요일에 한다."}, {ID: second, Kind: schema.SourceRecord, Text: "- Shipped v1."},
		{ID: min(decided, stated), Kind: schema.SourceEntry, Heading: headingIf(decided < stated, "Decisions", "Goals"), Text: headingIf(decided < stated, "We use Go.", "Wants to ship.")},
		{ID: max(decided, stated), Kind: schema.SourceEntry, Heading: headingIf(decided > stated, "Decisions", "Goals"), Text: headingIf(decided > stated, "We use Go.", "Wants to ship.")},
		{ID: insight, Kind: schema.SourceEntry, Heading: "Insights", Text: "Go is quick.", Worth: &sure},
		{ID: likes, Kind: schema.SourceFact, Heading: "Preferences", Text: "Likes tea.", Worth: &told},
	}, p.Days[0].Sources)
	require.Equal(t, []schema.SourceText{{ID: reference, Kind: schema.SourceEntry, Heading: "References", Text: "https://go.dev"}}, p.Days[1].Sources)
	require.Empty(t, p.Days[1].Record)
	require.Equal(t, []schema.SourceText{{ID: edited, Kind: schema.SourceEdited, Text: "A person wrote this."}}, p.Days[2].Sources)
	require.Equal(t, "A person wrote this.", p.Days[2].Record)

	// A repetition gives the same event, also by a worker that has not seen the first time.
	again, _ := m.gather(t, GatherInput{})
	require.Equal(t, gathered, again)

	// Every kind of addition makes it another day. The hash alone shows whether its content has changed.
	m.read(t, 1, schema.DreamUnchanged, p.Days...)
	gathered, _ = m.gather(t, GatherInput{})
	require.Equal(t, "nothing new since dream 1 of 2026-06-07", gathered.Skipped)
	for i, change := range []func(){
		func() { m.flush(t, "2026-06-07", "- Shipped v2.") },
		func() { m.edit(t, "2026-06-07", "Shipped v3.") },
		func() {
			m.entry(t, scope("green"), schema.Entry{Type: schema.EntryDecision, Title: "We use SQL.", OccurredAt: late, EvidenceProven: true})
		},
		func() { m.fact(t, late, schema.CategoryGoal, "Wants to rest.") },
	} {
		change()
		gathered, p = m.gather(t, GatherInput{})
		require.Equal(t, []string{"2026-06-07"}, daysOf(p), i)
		require.Equal(t, i+2, gathered.Ordinal)
		m.read(t, i+2, schema.DreamCommitted, p.Days...)
	}
	require.Equal(t, "Shipped v3.", p.Days[0].Record, "what a person wrote takes the place of all before")
}

func headingIf(yes bool, then, otherwise string) string {
	if yes {
		return then
	}
	return otherwise
}

// The input follows from the given days, and from the days that earlier dreams have read.
func TestGatherDays(t *testing.T) {
	t.Parallel()
	m := &remember{stage: newStage(t, silent), user: "u"}
	gathered, _ := m.gather(t, GatherInput{})
	require.Equal(t, "no daily content up to 2026-06-07", gathered.Skipped)
	require.Equal(t, "2026-06-07", gathered.Date)

	m.edit(t, "2026-06-06", "# Daily Memory: 2026-06-06\n\n \n")
	m.flush(t, "2026-06-08", "- Tomorrow.")
	for lookback, want := range []string{"no daily content up to 2026-06-07", "no daily content on 2026-06-07", "no daily content from 2026-06-06 to 2026-06-07"} {
		for _, force := range []bool{false, true} {
			gathered, _ = m.gather(t, GatherInput{DeepDreamInput: schema.DeepDreamInput{LookbackDays: lookback, Force: force}})
			require.Equal(t, want, gathered.Skipped)
		}
	}

	m.flush(t, "2026-05-01", "- First of May.")
	m.flush(t, "2026-06-05", "- Friday.")
	m.flush(t, "2026-06-07", "- Sunday.")
	ask := func(change func(in *GatherInput)) []string {
		in := GatherInput{}
		change(&in)
		_, p := m.gather(t, in)
		return daysOf(p)
	}
	require.Equal(t, []string{"2026-06-07", "2026-06-05", "2026-05-01"}, ask(func(*GatherInput) {}))
	require.Equal(t, []string{"2026-06-07"}, ask(func(in *GatherInput) { in.LookbackDays = 2 }))
	require.Equal(t, []string{"2026-06-07", "2026-06-05"}, ask(func(in *GatherInput) { in.LookbackDays = 3 }))
	require.Equal(t, []string{"2026-06-05", "2026-05-01"}, ask(func(in *GatherInput) { in.Date = "2026-06-06" }))
	require.Equal(t, []string{"2026-06-08", "2026-06-07", "2026-06-05", "2026-05-01"}, ask(func(in *GatherInput) { in.Date = "2026-07-01" }))
	require.Equal(t, []string{"2026-06-07", "2026-06-05"}, ask(func(in *GatherInput) { in.From = "2026-06-01" }))
	_, p := m.gather(t, GatherInput{DeepDreamInput: schema.DeepDreamInput{LookbackDays: 3}})
	require.Equal(t, "2026-06-05", p.First)

	// A refused dream has read nothing. Days that were read are read again only by number, or by force.
	m.read(t, 1, schema.DreamIsRefused, p.Days...)
	require.Len(t, ask(func(*GatherInput) {}), 3)
	m.read(t, 2, schema.DreamUnchanged, p.Days...)
	require.Equal(t, []string{"2026-05-01"}, ask(func(*GatherInput) {}))
	require.Empty(t, ask(func(in *GatherInput) { in.LookbackDays = 3 }))
	require.Len(t, ask(func(in *GatherInput) { in.LookbackDays, in.Force = 3, true }), 2)
	m.flush(t, "2026-06-05", "- More.")
	require.Len(t, ask(func(in *GatherInput) { in.LookbackDays = 3 }), 2, "the seed reads all of the days if one of them is new")
	_, p = m.gather(t, GatherInput{})
	require.Equal(t, []string{"2026-06-05", "2026-05-01"}, daysOf(p))
	m.read(t, 3, schema.DreamCommitted, p.Days...)
	require.Empty(t, ask(func(*GatherInput) {}))
	require.Equal(t, []string{"2026-06-05", "2026-05-01"}, ask(func(in *GatherInput) { in.Force = true }), "those of the last dream")
}

// The content of a day is known from the hashes of the table alone, of the last edit and of later additions.
func TestHeldDaysReadNoText(t *testing.T) {
	t.Parallel()
	m := &remember{stage: newStage(t, silent), user: "u"}
	row := func(seq uint64, edited bool, hash string, bytes uint64) []any {
		return []any{m.user, m.agent, string(schema.RecordDaily), "2026-06-07", seq, edited, "trim", "14:30", "not read", hash, bytes}
	}
	rows := [][]any{
		row(1, false, "before", 1), row(3, false, "after", 30), row(2, true, "edit", 200), row(4, false, "nothing", 0), row(5, false, "last", 4000),
	}
	for range 2 { // Rows that were written twice are the same rows.
		require.NoError(t, clickhouse.Insert(t.Context(), m.conn,
			"records_raw (user, agent, kind, date, seq, edited, reason, clock, text, text_sha256, text_bytes)", rows))
	}
	held, err := m.heldDays(t.Context(), m.user, m.agent, span{last: "2026-06-07"})
	require.NoError(t, err)
	require.Equal(t, map[string]*dayContent{"2026-06-07": {date: "2026-06-07", bytes: 4230, records: []string{
		recordPart(true, "trim", "14:30", "edit"), recordPart(false, "trim", "14:30", "after"), recordPart(false, "trim", "14:30", "last"),
	}}}, held)
}

// Content that is too much for one dream is left for the next one, the oldest days first.
func TestGatherInParts(t *testing.T) {
	t.Parallel()
	m := &remember{stage: newStage(t, silent), user: "u"}
	for i, size := range []int{40, 40, 300, 40, 70} {
		m.flush(t, fmt.Sprintf("2026-06-0%d", i+1), strings.Repeat("x", size))
	}
	m.gatherBytes = 100
	for _, lookback := range []int{0, 7} {
		var parts [][]string
		var dates, firsts []string
		in := GatherInput{DeepDreamInput: schema.DeepDreamInput{LookbackDays: lookback}}
		for {
			gathered, p := m.gather(t, in)
			parts, dates, firsts = append(parts, daysOf(p)), append(dates, p.Date), append(firsts, p.First)
			require.Equal(t, gathered.Date, p.Date)
			if gathered.Next == "" {
				break
			}
			in.From = gathered.Next
		}
		require.Equal(t, [][]string{{"2026-06-02", "2026-06-01"}, {"2026-06-03"}, {"2026-06-04"}, {"2026-06-05"}}, parts)
		require.Equal(t, []string{"2026-06-02", "2026-06-03", "2026-06-04", "2026-06-07"}, dates, "each has a diary of its own")
		if lookback > 0 {
			require.Equal(t, []string{"2026-06-01", "2026-06-03", "2026-06-04", "2026-06-05"}, firsts)
		}
	}
}

// An input that is wrong is refused for good.
func TestGatherRefuses(t *testing.T) {
	t.Parallel()
	s := newStage(t, silent)
	for want, in := range map[string]GatherInput{
		"user is empty": {}, "at is not given": {DeepDreamInput: schema.DeepDreamInput{User: "u"}},
		"want a day such as": {DeepDreamInput: schema.DeepDreamInput{User: "u", Date: "x", At: s.clock}},
	} {
		_, err := s.gatherDream(t.Context(), in)
		require.ErrorContains(t, err, want)
		var failure boundary.Failure
		require.ErrorAs(t, err, &failure)
		require.False(t, failure.Retryable())
	}
	_, err := readGathered(t.Context(), s.log.Store, "nothing")
	var failure boundary.Failure
	require.ErrorAs(t, err, &failure)
	require.Equal(t, schema.ErrorInvalidInput, failure.FailureType())
}

// The lines that the offline model makes of a conversation are marked: they state nothing by themselves.
func TestTurns(t *testing.T) {
	t.Parallel()
	require.True(t, sourceOfRecord(Record{Summarizer: "rules/rules-v4"}).Turns)
	require.False(t, sourceOfRecord(Record{Summarizer: "openai/m"}).Turns)
	require.False(t, sourceOfRecord(Record{Summarizer: "rules/rules-v4", Edited: true}).Turns)
}

// Each category and type has one of the headings that a dream may use.
func TestHeadings(t *testing.T) {
	t.Parallel()
	for _, category := range schema.FactCategories() {
		require.True(t, slices.Contains(schema.CoreHeadings(), headingOfCategory(category)), category)
	}
	for _, kind := range []schema.EntryType{schema.EntryDecision, schema.EntryInsight, schema.EntryReference} {
		require.True(t, slices.Contains(schema.CoreHeadings(), headingOfEntry(schema.Entry{Type: kind})), kind)
	}
}
