package audit

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"axiommind/activities/evidence"
	"axiommind/schema"
)

// recordOf returns a session of the texts as it is in the log and the table if nothing is wrong: one
// window, and one entry for each list of quotes, judged by the current rule.
func recordOf(t require.TestingT, texts []string, entries ...[]schema.Quote) *record {
	r := &record{
		session:   schema.SessionKey{Scope: schema.Scope{Project: "p", User: "u"}, SessionID: "s"},
		extracted: map[string][]schema.ExtractedEntry{"x1": make([]schema.ExtractedEntry, len(entries))},
	}
	for i, text := range texts {
		r.messages = append(r.messages, message{schema.Message{Index: i, Role: schema.RoleUser, Kind: schema.KindText, Text: text}, fmt.Sprintf("i%d", i/2)})
	}
	for i, quotes := range entries {
		r.extracted["x1"][i].Evidence = quotes
	}
	x := r.align("a1")
	for i, aligned := range x.Entries {
		e := loggedEntry{eventID: fmt.Sprintf("m%d", i)}
		e.ExtractedEventID, e.Index, e.AlignedEventID = "x1", i, "a1"
		e.Entry = schema.Entry{
			ID: fmt.Sprintf("e%d", i), SessionID: "s", Scope: r.session.Scope,
			EvidenceAligned: aligned.EvidenceAligned, EvidenceProven: aligned.EvidenceProven, EvidenceRule: evidence.Rule,
			Evidence: append([]schema.Evidence{}, aligned.Evidence...),
		}
		r.entries = append(r.entries, e)
		r.entries[i].project(t, r)
	}
	return r
}

// project writes the row of an entry.
func (e *loggedEntry) project(t require.TestingT, r *record) {
	r.rows = append(r.rows, Stored{
		EntryID: e.ID, Stream: r.session.Stream(), Project: "p", EventID: e.eventID, Rule: e.EvidenceRule,
		EvidenceAligned: e.EvidenceAligned, EvidenceProven: e.EvidenceProven, Evidence: encodeEvidence(t, e.Evidence),
	})
}

// project writes the row of a later judgement.
func (s *loggedSet) project(t require.TestingT, r *record) {
	r.rows = append(r.rows, Stored{
		EntryID: s.EntryID, Stream: r.session.Stream(), Project: "p", EventID: s.eventID, Rule: s.Rule,
		EvidenceAligned: s.EvidenceAligned, EvidenceProven: s.EvidenceProven, Evidence: encodeEvidence(t, s.Evidence),
		ExtractedEventID: s.ExtractedEventID, Index: s.Index,
	})
}

// align aligns the extraction x1 once more, by today's rule.
func (r *record) align(eventID string) *loggedAlignment {
	x := loggedAlignment{eventID: eventID}
	x.SessionID, x.ExtractedEventID, x.Rule = "s", "x1", evidence.Rule
	messages := make([]schema.Message, len(r.messages))
	for i, m := range r.messages {
		messages[i] = m.Message
	}
	aligner := evidence.NewAligner(messages, func(i int) string { return r.messages[i].eventID })
	for i := range r.extracted["x1"] {
		pieces, aligned := aligner.AlignEntry(r.extracted["x1"][i].Evidence)
		x.Entries = append(x.Entries, schema.AlignedEntry{
			Index: i, EvidenceAligned: aligned, EvidenceProven: evidence.Proven(pieces), Evidence: pieces,
		})
	}
	r.aligned = append(r.aligned, x)
	return &r.aligned[len(r.aligned)-1]
}

// unprove gives an alignment the form from before rules: it proves nothing.
func (x *loggedAlignment) unprove() {
	x.Rule = 0
	for i := range x.Entries {
		e := &x.Entries[i]
		e.EvidenceProven = false
		e.Evidence = append([]schema.Evidence{}, e.Evidence...)
		for n := range e.Evidence {
			e.Evidence[n].Proven, e.Evidence[n].Within, e.Evidence[n].Trust = false, nil, ""
		}
	}
}

// older returns the record as a program without a rule of proof left it.
func (r *record) older(t require.TestingT) *record {
	r.aligned[0].unprove()
	r.rows = nil
	for i := range r.entries {
		e := &r.entries[i]
		e.EvidenceProven, e.EvidenceRule, e.Evidence = false, 0, r.aligned[0].Entries[i].Evidence
		e.project(t, r)
	}
	return r
}

// set returns the event that records an alignment's judgement for an entry.
func (x *loggedAlignment) set(eventID, entryID string, index int) loggedSet {
	e := x.Entries[index]
	s := loggedSet{eventID: eventID}
	s.Own = true
	s.EntryID, s.ExtractedEventID, s.Index, s.AlignedEventID, s.Rule = entryID, x.ExtractedEventID, index, x.eventID, x.Rule
	s.EvidenceAligned, s.EvidenceProven, s.Evidence = e.EvidenceAligned, e.EvidenceProven, append([]schema.Evidence{}, e.Evidence...)
	return s
}

func encodeEvidence(t require.TestingT, evidence []schema.Evidence) string {
	text, err := json.Marshal(evidence)
	require.NoError(t, err)
	return string(text)
}

func quotesIn(index int, texts ...string) []schema.Quote {
	out := make([]schema.Quote, len(texts))
	for i, text := range texts {
		out[i] = schema.Quote{MessageIndex: index, Quote: text}
	}
	return out
}

func auditedSession(t require.TestingT) *record {
	return recordOf(t, []string{
		"Settled. We decided to use ClickHouse for the log. Good.", "Ship it on Friday, after the review. The review is on Thursday.",
	},
		quotesIn(0, "We decided to use ClickHouse for the log."),
		quotesIn(1, "ship it  on Friday, after the review.", "The review is on Thursday."),
		quotesIn(1, "never said by anybody here"), nil)
}

func TestCounts(t *testing.T) {
	t.Parallel()
	got := auditedSession(t).check()
	require.Empty(t, got.Findings)
	want := Tally{
		Sessions: 1, Entries: 4, Aligned: 3, Proven: 3, Spans: map[schema.Method]int{schema.MethodExact: 2, schema.MethodNormalized: 1},
		NotFound: map[string]int{schema.ReasonNotFound: 1}, Older: map[int]int{}, Unknown: map[int]int{},
	}
	require.Equal(t, want, got.Tally)
	r := auditedSession(t)
	r.rows = r.rows[:1]
	got = r.check()
	require.Empty(t, got.Findings)
	require.Equal(t, 3, got.Tally.Unprojected)
	r = recordOf(t, []string{"We decided to keep the archive for 30 days. Nobody wanted to keep it for longer than that."},
		quotesIn(0, "decided to keep the archive for 3"), quotesIn(0, "Nobody wanted to kep it for longer than that."))
	got = r.check()
	require.Empty(t, got.Findings)
	require.Equal(t, map[schema.Method]int{schema.MethodExact: 1, schema.MethodApproximate: 1}, got.Tally.Spans)
	require.Equal(t, 1, got.Tally.Aligned, "the other one is found only approximately")
	require.Zero(t, got.Tally.Proven, "a part of a sentence")
	require.True(t, r.entries[0].EvidenceAligned)
	require.False(t, r.entries[1].EvidenceAligned)
	sum := NewTally()
	sum.Add(got.Tally)
	sum.Add(auditedSession(t).check().Tally)
	want.Sessions, want.Entries, want.Aligned = 2, 6, 4
	want.Spans = map[schema.Method]int{schema.MethodExact: 3, schema.MethodNormalized: 1, schema.MethodApproximate: 1}
	require.Equal(t, want, sum)
}

// A session is outdated until the current rule has judged it, and until its entries have the results.
func TestOutdated(t *testing.T) {
	t.Parallel()
	count := func(r *record) [2]int {
		older, behind := r.outdated()
		return [2]int{older, behind}
	}
	r := auditedSession(t)
	require.Equal(t, [2]int{}, count(r))
	r.older(t)
	require.Equal(t, [2]int{4, 0}, count(r))
	x := r.align("a2")
	require.Equal(t, [2]int{0, 2}, count(r), "of e2, which is not found, nothing changes")
	r.sets = append(r.sets, x.set("v0", "e0", 0))
	require.Equal(t, [2]int{0, 1}, count(r))
	r.sets = append(r.sets, x.set("v1", "e1", 1))
	require.Equal(t, [2]int{}, count(r))
	r.align("a7").Rule = 7
	require.Equal(t, [2]int{}, count(r), "a newer program's work is not done again")
}

// Each piece is checked by the rule that its event names, and a quote counts as it was judged last.
func TestRules(t *testing.T) {
	t.Parallel()
	r := auditedSession(t).older(t)
	got := r.check()
	require.Empty(t, got.Findings, "true of the rule it was judged by")
	require.Equal(t, map[int]int{0: 4}, got.Tally.Older)
	require.Zero(t, got.Tally.Proven)
	require.Equal(t, 3, got.Tally.Aligned)

	x := r.align("a2")
	r.sets = append(r.sets, x.set("v0", "e0", 0), x.set("v1", "e1", 1))
	r.sets[0].project(t, r)
	got = r.check()
	require.Empty(t, got.Findings)
	require.Equal(t, 1, got.Tally.Unprojected, "what was judged of e1 later")
	require.Empty(t, got.Tally.Older, "judged anew since")
	require.Equal(t, 3, got.Tally.Proven)
	require.Equal(t, map[schema.Method]int{schema.MethodExact: 2, schema.MethodNormalized: 1}, got.Tally.Spans, "each quote once")

	again := x.set("v2", "e0", 0)
	r.sets = append(r.sets, again)
	r.sets[1].project(t, r)
	got = r.check()
	require.Empty(t, got.Findings, "a row that was right when it was written")
	require.Equal(t, 1, got.Tally.Unprojected)

	r = auditedSession(t)
	newer := r.align("a7")
	newer.Rule = 7
	newer.Entries[0].Evidence[0].Proven, newer.Entries[0].Evidence[0].Method = false, "as that rule finds it"
	got = r.check()
	require.Empty(t, got.Findings, "what this program does not know is not false")
	require.Equal(t, map[int]int{7: 4}, got.Tally.Unknown)
	require.Empty(t, got.Tally.Spans)
	require.Empty(t, got.Tally.NotFound)
}

// I5: everything that contradicts the log is found, wherever it is stored, and named once.
func TestFinds(t *testing.T) {
	t.Parallel()
	piece := func(r *record) *schema.Evidence { return &r.aligned[0].Entries[0].Evidence[0] }
	// everywhere stores the first piece's change as a bug of the aligner would: in event, entry and row.
	everywhere := func(change func(*schema.Evidence)) func(*testing.T, *record) {
		return func(t *testing.T, r *record) {
			change(piece(r))
			r.entries[0].Evidence[0] = *piece(r)
			r.rows[0].Evidence = encodeEvidence(t, r.entries[0].Evidence)
		}
	}
	row := func(change func(*schema.Evidence)) func(*testing.T, *record) {
		return func(t *testing.T, r *record) {
			e := r.entries[0].Evidence[0]
			change(&e)
			r.rows[0].Evidence = encodeEvidence(t, []schema.Evidence{e})
		}
	}
	shift := func(e *schema.Evidence) { e.Span.ByteStart++; e.Span.ByteEnd++ }
	// later records the judgement of the current rule for the first entry, after one that judged nothing.
	later := func(change func(*loggedSet)) func(*testing.T, *record) {
		return func(t *testing.T, r *record) {
			r.older(t)
			s := r.align("a2").set("v0", "e0", 0)
			change(&s)
			r.sets = append(r.sets, s)
			s.project(t, r)
		}
	}
	laterRow := func(change func(*testing.T, *Stored)) func(*testing.T, *record) {
		return func(t *testing.T, r *record) {
			later(func(*loggedSet) {})(t, r)
			change(t, &r.rows[len(r.rows)-1])
		}
	}
	const aligned = schema.EvidenceAligned
	for name, tt := range map[string]struct {
		change            func(*testing.T, *record)
		entry, in, reason string
		whole             bool
	}{
		"shifted span":     {everywhere(shift), "e0", aligned, "are not bytes [10,51)", false},
		"quote hash":       {everywhere(func(e *schema.Evidence) { e.QuoteHash = schema.HashText("x") }), "e0", aligned, "quote hash", false},
		"source hash":      {everywhere(func(e *schema.Evidence) { e.SourceHash = schema.HashText("x") }), "e0", aligned, "source hash", false},
		"text":             {everywhere(func(e *schema.Evidence) { e.Text = "use Postgres for the log" }), "e0", aligned, `text "use Postgres`, false},
		"method":           {everywhere(func(e *schema.Evidence) { e.Method = "guessed" }), "e0", aligned, `method "guessed" is unknown`, false},
		"no such message":  {everywhere(func(e *schema.Evidence) { e.MessageIndex = 2 }), "e0", aligned, "the log holds no message 2", false},
		"negative message": {everywhere(func(e *schema.Evidence) { e.MessageIndex = -1 }), "e0", aligned, "the log holds no message -1", false},
		"no such event":    {everywhere(func(e *schema.Evidence) { e.EventID = "i7" }), "e0", aligned, `event "i7" does not hold message 0: event "i0" does`, false},
		"claim of a lost quote": {func(t *testing.T, r *record) {
			e := &r.aligned[0].Entries[2].Evidence[0]
			e.Aligned, r.aligned[0].Entries[2].EvidenceAligned = true, true
			r.entries[2].Evidence[0], r.entries[2].EvidenceAligned = *e, true
			r.rows[2].Evidence, r.rows[2].EvidenceAligned = encodeEvidence(t, r.entries[2].Evidence), true
		}, "e2", aligned, "aligned is true and proven is false of a quote that is not found", false},
		"flag without evidence": {func(_ *testing.T, r *record) {
			r.aligned[0].Entries[3].EvidenceAligned, r.entries[3].EvidenceAligned, r.rows[3].EvidenceAligned = true, true, true
		}, "e3", aligned, "evidence_aligned is true, but 0 of 0 pieces are aligned", true},
		"flag without alignment": {func(_ *testing.T, r *record) {
			r.aligned[0].Entries[2].EvidenceAligned, r.entries[2].EvidenceAligned, r.rows[2].EvidenceAligned = true, true, true
		}, "e2", aligned, "evidence_aligned is true, but 0 of 1 pieces are aligned", true},
		"flag withheld": {func(_ *testing.T, r *record) {
			r.aligned[0].Entries[1].EvidenceAligned, r.entries[1].EvidenceAligned, r.rows[1].EvidenceAligned = false, false, false
		}, "e1", aligned, "evidence_aligned is false, but 2 of 2 pieces are aligned", true},
		"proof without proof": {func(_ *testing.T, r *record) {
			r.aligned[0].Entries[2].EvidenceProven, r.entries[2].EvidenceProven, r.rows[2].EvidenceProven = true, true, true
		}, "e2", aligned, "evidence_proven is true, but 0 of 1 pieces are proven", true},
		"proof withheld": {func(_ *testing.T, r *record) {
			r.aligned[0].Entries[1].EvidenceProven, r.entries[1].EvidenceProven, r.rows[1].EvidenceProven = false, false, false
		}, "e1", aligned, "evidence_proven is false, but 2 of 2 pieces are proven", true},
		"no rule": {func(_ *testing.T, r *record) {
			r.aligned[0].Rule = -1
			for i := range r.entries {
				r.entries[i].EvidenceRule, r.rows[i].Rule = -1, -1
			}
		}, "", aligned, "rule -1 is none", true},
		"another quote": {func(_ *testing.T, r *record) { r.extracted["x1"][0].Evidence = quotesIn(0, "ClickHouse") }, "e0", aligned, `not those of entry 0 of event "x1"`, true},
		"no extraction": {func(_ *testing.T, r *record) { clear(r.extracted) }, "", aligned, `no memory_extracted event "x1"`, true},
		"other session": {func(_ *testing.T, r *record) { r.aligned[0].SessionID = "z" }, "", aligned, `names session "z"`, true},
		"no alignment":  {func(_ *testing.T, r *record) { r.entries[0].AlignedEventID = "a7" }, "e0", schema.EntryMaterialized, `no evidence_aligned event "a7"`, true},
		"entry's span": {func(t *testing.T, r *record) {
			shift(&r.entries[0].Evidence[0])
			r.rows[0].Evidence = encodeEvidence(t, r.entries[0].Evidence)
		}, "e0", schema.EntryMaterialized, "differs from the log: another span; runes", false},
		"entry's flag": {func(_ *testing.T, r *record) {
			r.entries[2].EvidenceAligned, r.rows[2].EvidenceAligned = true, true
		}, "e2", schema.EntryMaterialized, "evidence_aligned is true, in the log false", true},
		"entry's proof":   {func(_ *testing.T, r *record) { r.entries[2].EvidenceProven, r.rows[2].EvidenceProven = true, true }, "e2", schema.EntryMaterialized, "evidence_proven is true, in the log false", true},
		"later span":      {later(func(s *loggedSet) { shift(&s.Evidence[0]) }), "e0", schema.EntryEvidenceSet, "differs from the log: another span; runes", false},
		"later flag":      {later(func(s *loggedSet) { s.EvidenceAligned = false }), "e0", schema.EntryEvidenceSet, "evidence_aligned is false, in the log true", true},
		"later proof":     {later(func(s *loggedSet) { s.EvidenceProven = false }), "e0", schema.EntryEvidenceSet, "evidence_proven is false, in the log true", true},
		"later rule":      {later(func(s *loggedSet) { s.Rule = 0 }), "e0", schema.EntryEvidenceSet, "its rule is 0, in the log 2", true},
		"later number":    {later(func(s *loggedSet) { s.Evidence = nil }), "e0", schema.EntryEvidenceSet, "0 pieces of evidence, in the log 1", true},
		"later index":     {later(func(s *loggedSet) { s.Index, s.Own = 9, false }), "e0", schema.EntryEvidenceSet, `event "a2" aligns no entry 9`, true},
		"later ownership": {later(func(s *loggedSet) { s.Own = false }), "e0", schema.EntryEvidenceSet, "own is false, but of the entry's own origin it is true", true},
		"entry's index":   {func(_ *testing.T, r *record) { r.entries[0].Index = 9 }, "e0", schema.EntryMaterialized, `event "a1" aligns no entry 9`, true},
		"later origin":    {later(func(s *loggedSet) { s.ExtractedEventID, s.Own = "x7", false }), "e0", schema.EntryEvidenceSet, `made from event "x7", but event "a2" aligns "x1"`, true},
		"nothing later":   {later(func(s *loggedSet) { s.AlignedEventID = "a7" }), "e0", schema.EntryEvidenceSet, `no evidence_aligned event "a7"`, true},
		"later row's span": {laterRow(func(t *testing.T, row *Stored) {
			row.Evidence = strings.Replace(row.Evidence, `"byte_start":9`, `"byte_start":10`, 1)
		}), "e0", StoredInTable, "another span; runes", false},
		"later row's proof":   {laterRow(func(_ *testing.T, row *Stored) { row.EvidenceProven = false }), "e0", StoredInTable, "evidence_proven is false, in the log true", true},
		"later row's rule":    {laterRow(func(_ *testing.T, row *Stored) { row.Rule = 0 }), "e0", StoredInTable, "its rule is 0, in the log 2", true},
		"later row's event":   {laterRow(func(_ *testing.T, row *Stored) { row.EventID = "v7" }), "e0", StoredInTable, `its event is "v0" in the log`, true},
		"later row's origin":  {laterRow(func(_ *testing.T, row *Stored) { row.Index = 3 }), "e0", StoredInTable, "or nothing of this origin for it", true},
		"later row's project": {laterRow(func(_ *testing.T, row *Stored) { row.Project = "q" }), "e0", StoredInTable, `in project "q", in the log in "p"`, true},
		"row's rule":          {func(_ *testing.T, r *record) { r.rows[0].Rule = 0 }, "e0", StoredInTable, "its rule is 0, in the log 2", true},
		"row's proof":         {func(_ *testing.T, r *record) { r.rows[0].EvidenceProven = false }, "e0", StoredInTable, "evidence_proven is false, in the log true", true},
		"entry's rule":        {func(_ *testing.T, r *record) { r.entries[0].EvidenceRule, r.rows[0].Rule = 0, 0 }, "e0", schema.EntryMaterialized, "its rule is 0, in the log 2", true},
		"row's span":          {row(shift), "e0", StoredInTable, "another span; runes", false},
		"row's place":         {row(func(e *schema.Evidence) { e.RepairedFrom = new(int) }), "e0", StoredInTable, "another repaired_from", false},
		"row's flag":          {func(_ *testing.T, r *record) { r.rows[0].EvidenceAligned = false }, "e0", StoredInTable, "evidence_aligned is false, in the log true", true},
		"row's number":        {func(_ *testing.T, r *record) { r.rows[0].Evidence = "[]" }, "e0", StoredInTable, "0 pieces of evidence, in the log 1", true},
		"row's JSON":          {func(_ *testing.T, r *record) { r.rows[0].Evidence = "[{" }, "e0", StoredInTable, "cannot be read", true},
		"row's event":         {func(_ *testing.T, r *record) { r.rows[0].EventID = "m7" }, "e0", StoredInTable, `its event is "m0" in the log`, true},
		"row's project":       {func(_ *testing.T, r *record) { r.rows[0].Project = "q" }, "e0", StoredInTable, `in project "q", in the log in "p"`, true},
		"unknown entry":       {func(_ *testing.T, r *record) { r.entries = r.entries[1:] }, "e0", StoredInTable, "the log holds no such entry", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := auditedSession(t)
			tt.change(t, r)
			got := r.check()
			require.Len(t, got.Findings, 1)
			require.Equal(t, 1, got.Tally.False)
			f := got.Findings[0]
			require.Equal(t, "s", f.SessionID)
			require.Equal(t, tt.entry, f.EntryID)
			require.Equal(t, tt.in, f.StoredIn)
			require.NotEmpty(t, f.EventID)
			require.Contains(t, f.Problem, tt.reason)
			require.Equal(t, tt.whole, f.Evidence == nil)
		})
	}
}

// sentences are in several languages. Messages are made of them.
var sentences = []string{
	"We decided to use ClickHouse for the event log.", "The limit is 0.15 MB, not 1.5 MB!", "Shall we ship it on Friday?",
	"앞으로는 금요일에만 배포하기로 결정했습니다.", "我们决定使用 ClickHouse 作为事件日志。", "今後は金曜日にだけリリースします。",
	"Wir haben uns für Go entschieden (Version 1.26).", "`go test ./...` must pass.", "👩‍👩‍👧 Everybody agreed.",
}

// I5: evidence that the aligner found is true, by the current rule and, without its proofs, by none, before
// and after it is judged again. A span moved by any number of bytes is false.
func TestOfAnySession(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var texts []string
		var entries [][]schema.Quote
		for i := range rapid.IntRange(1, 4).Draw(t, "messages") {
			said := rapid.SliceOfN(rapid.SampledFrom(sentences), 1, 5).Draw(t, "said")
			text := strings.Join(said, rapid.SampledFrom([]string{" ", "\n", "\n- "}).Draw(t, "between"))
			quote := rapid.SampledFrom(said).Draw(t, "quote")
			if rapid.Bool().Draw(t, "cut") {
				runes := []rune(text)
				from := rapid.IntRange(0, max(0, len(runes)-12)).Draw(t, "from")
				quote = string(runes[from:rapid.IntRange(from+1, len(runes)).Draw(t, "to")])
			}
			texts = append(texts, text)
			entries = append(entries, quotesIn(i, quote))
		}
		r := recordOf(t, texts, entries...)
		if rapid.Bool().Draw(t, "older") {
			r.older(t)
			require.Empty(t, r.check().Findings)
			x := r.align("a2")
			for i := range x.Entries {
				if x.Entries[i].EvidenceProven {
					r.sets = append(r.sets, x.set(fmt.Sprintf("v%d", i), r.entries[i].ID, i))
				}
			}
		}
		require.Empty(t, r.check().Findings)
		e := &r.aligned[len(r.aligned)-1].Entries[rapid.IntRange(0, len(entries)-1).Draw(t, "entry")].Evidence[0]
		if !e.Found {
			return
		}
		by := rapid.IntRange(-8, 8).Filter(func(n int) bool { return n != 0 }).Draw(t, "by")
		e.Span.ByteStart += by
		e.Span.ByteEnd += by
		require.NotEmpty(t, r.check().Findings)
	})
}

// Sessions of the log and of the table are joined by id, and those of the table alone are not lost.
func TestJoinSessions(t *testing.T) {
	t.Parallel()
	errLog, errTable := errors.New("log"), errors.New("table")
	logged := func(ids string, err error) iter.Seq2[loadedSession, error] {
		return func(yield func(loadedSession, error) bool) {
			for _, id := range ids {
				if !yield(loadedSession{stream: string(id)}, nil) {
					return
				}
			}
			if err != nil {
				yield(loadedSession{}, err)
			}
		}
	}
	rows := func(ids string, err error) iter.Seq2[Stored, error] {
		return func(yield func(Stored, error) bool) {
			for _, id := range ids {
				if !yield(Stored{Stream: string(id)}, nil) {
					return
				}
			}
			if err != nil {
				yield(Stored{}, err)
			}
		}
	}
	for _, tt := range []struct {
		log, table, want string
		logErr, tableErr error
	}{
		{"", "", "", nil, nil},
		{"abc", "", "a0 b0 c0 ", nil, nil},
		{"", "aab", "a2 b1 ", nil, nil},
		{"ace", "abbcdd", "a1 b2 c1 d2 e0 ", nil, nil},
		{"bd", "aabddf", "a2 b1 d2 f1 ", nil, nil},
		{"ab", "a", "a1 b0 ", errLog, nil},
		{"ab", "", "", nil, errTable},
		{"a", "abc", "a1 b1 ", nil, errTable},
	} {
		got := ""
		var last error
		for s, err := range joinSessions(logged(tt.log, tt.logErr), rows(tt.table, tt.tableErr)) {
			require.NoError(t, last, "an error is the last thing given")
			if last = err; err == nil {
				got += fmt.Sprintf("%s%d ", s.stream, len(s.rows))
			}
		}
		require.Equal(t, tt.want, got, "%q and %q", tt.log, tt.table)
		require.Equal(t, tt.logErr != nil || tt.tableErr != nil, last != nil, "%v", last)
		next, stop := iter.Pull2(joinSessions(logged(tt.log, tt.logErr), rows(tt.table, tt.tableErr)))
		_, _, _ = next()
		stop() // must not be called back after the end
	}
}
