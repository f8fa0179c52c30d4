package evidence

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"axiommind/activities/transcript"
	"axiommind/schema"
)

// recordOf is a session of the texts as its log and table hold it when nothing is wrong: one window,
// and one entry for each list of quotes.
func recordOf(t require.TestingT, texts []string, entries ...[]schema.Quote) *sessionRecord {
	r := &sessionRecord{
		logged:    &transcript.Logged{SessionKey: schema.SessionKey{Scope: schema.Scope{Project: "p", User: "u"}, SessionID: "s"}},
		extracted: map[string][]schema.ExtractedEntry{"x1": make([]schema.ExtractedEntry, len(entries))},
	}
	for i, text := range texts {
		r.logged.Messages = append(r.logged.Messages, schema.Message{Index: i, Text: text})
		r.logged.EventIDs = append(r.logged.EventIDs, fmt.Sprintf("i%d", i/2))
	}
	x := loggedAlignment{eventID: "a1"}
	x.SessionID, x.ExtractedEventID = "s", "x1"
	aligner := NewAligner(r.logged.Messages, func(i int) string { return r.logged.EventIDs[i] })
	for i, quotes := range entries {
		r.extracted["x1"][i].Evidence = quotes
		evidence, aligned := aligner.AlignEntry(quotes)
		x.Entries = append(x.Entries, schema.AlignedEntry{Index: i, EvidenceAligned: aligned, Evidence: evidence})
		e := loggedEntry{eventID: fmt.Sprintf("m%d", i)}
		e.ExtractedEventID, e.AlignedEventID = "x1", "a1"
		e.Entry = schema.Entry{
			ID: fmt.Sprintf("e%d", i), SessionID: "s", Scope: r.logged.Scope, EvidenceAligned: aligned,
			Evidence: append([]schema.Evidence{}, evidence...),
		}
		r.entries = append(r.entries, e)
		r.rows = append(r.rows, Stored{
			EntryID: e.ID, Stream: r.logged.Stream(), Project: "p", EventID: e.eventID, EvidenceAligned: aligned,
			Evidence: encodeEvidence(t, evidence),
		})
	}
	r.aligned = append(r.aligned, x)
	return r
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

func auditedSession(t require.TestingT) *sessionRecord {
	return recordOf(t, []string{"We decided to use ClickHouse for the log.", "Ship it on Friday, after the review."},
		quotesIn(0, "use ClickHouse for the log"), quotesIn(1, "ship it  on Friday", "the review"),
		quotesIn(1, "never said by anybody here"), nil)
}

func TestAuditCounts(t *testing.T) {
	t.Parallel()
	got := auditedSession(t).audit()
	require.Empty(t, got.Findings)
	require.Equal(t, Tally{
		Sessions: 1, Entries: 4, Spans: map[schema.Method]int{schema.MethodExact: 2, schema.MethodNormalized: 1},
		NotFound: map[string]int{schema.ReasonNotFound: 1},
	}, got.Tally)
	r := auditedSession(t)
	r.rows = r.rows[:1]
	got = r.audit()
	require.Empty(t, got.Findings)
	require.Equal(t, 3, got.Tally.Unprojected)
	r = recordOf(t, []string{"We decided to keep the archive for 30 days."}, quotesIn(0, "decided to keep the archive for 3"))
	got = r.audit()
	require.Empty(t, got.Findings)
	require.Equal(t, 1, got.Tally.Doubtful, "found, but the quote ends within a number")
	require.False(t, r.entries[0].EvidenceAligned)
	sum := NewTally()
	sum.Add(got.Tally)
	sum.Add(auditedSession(t).audit().Tally)
	require.Equal(t, Tally{
		Sessions: 2, Entries: 5, Doubtful: 1, Spans: map[schema.Method]int{schema.MethodExact: 3, schema.MethodNormalized: 1},
		NotFound: map[string]int{schema.ReasonNotFound: 1},
	}, sum)
}

// I5: whatever is not true of the log is found, wherever it is stored, and named once.
func TestAuditFinds(t *testing.T) {
	t.Parallel()
	piece := func(r *sessionRecord) *schema.Evidence { return &r.aligned[0].Entries[0].Evidence[0] }
	// everywhere stores the first piece's change as a bug of the aligner would: in event, entry and row.
	everywhere := func(change func(*schema.Evidence)) func(*testing.T, *sessionRecord) {
		return func(t *testing.T, r *sessionRecord) {
			change(piece(r))
			r.entries[0].Evidence[0] = *piece(r)
			r.rows[0].Evidence = encodeEvidence(t, r.entries[0].Evidence)
		}
	}
	row := func(change func(*schema.Evidence)) func(*testing.T, *sessionRecord) {
		return func(t *testing.T, r *sessionRecord) {
			e := r.entries[0].Evidence[0]
			change(&e)
			r.rows[0].Evidence = encodeEvidence(t, []schema.Evidence{e})
		}
	}
	shift := func(e *schema.Evidence) { e.Span.ByteStart++; e.Span.ByteEnd++ }
	for name, tt := range map[string]struct {
		change            func(*testing.T, *sessionRecord)
		entry, in, reason string
		whole             bool
	}{
		"shifted span":     {everywhere(shift), "e0", schema.EvidenceAligned, "are not bytes [15,41)", false},
		"quote hash":       {everywhere(func(e *schema.Evidence) { e.QuoteHash = hashOf("x") }), "e0", schema.EvidenceAligned, "quote hash", false},
		"source hash":      {everywhere(func(e *schema.Evidence) { e.SourceHash = hashOf("x") }), "e0", schema.EvidenceAligned, "source hash", false},
		"text":             {everywhere(func(e *schema.Evidence) { e.Text = "use Postgres for the log" }), "e0", schema.EvidenceAligned, `text "use Postgres`, false},
		"method":           {everywhere(func(e *schema.Evidence) { e.Method = "guessed" }), "e0", schema.EvidenceAligned, `method "guessed" is unknown`, false},
		"no such message":  {everywhere(func(e *schema.Evidence) { e.MessageIndex = 2 }), "e0", schema.EvidenceAligned, "the log holds no message 2", false},
		"negative message": {everywhere(func(e *schema.Evidence) { e.MessageIndex = -1 }), "e0", schema.EvidenceAligned, "the log holds no message -1", false},
		"no such event":    {everywhere(func(e *schema.Evidence) { e.EventID = "i7" }), "e0", schema.EvidenceAligned, `event "i7" does not hold message 0: event "i0" does`, false},
		"flag without proof": {func(_ *testing.T, r *sessionRecord) {
			r.aligned[0].Entries[2].EvidenceAligned, r.entries[2].EvidenceAligned, r.rows[2].EvidenceAligned = true, true, true
		}, "e2", schema.EvidenceAligned, "evidence_aligned is true, but 0 of 1 pieces prove", true},
		"flag without evidence": {func(_ *testing.T, r *sessionRecord) {
			r.aligned[0].Entries[3].EvidenceAligned, r.entries[3].EvidenceAligned, r.rows[3].EvidenceAligned = true, true, true
		}, "e3", schema.EvidenceAligned, "evidence_aligned is true, but 0 of 0 pieces prove", true},
		"flag withheld": {func(_ *testing.T, r *sessionRecord) {
			r.aligned[0].Entries[1].EvidenceAligned, r.entries[1].EvidenceAligned, r.rows[1].EvidenceAligned = false, false, false
		}, "e1", schema.EvidenceAligned, "evidence_aligned is false, but 2 of 2 pieces prove", true},
		"another quote": {func(_ *testing.T, r *sessionRecord) { r.extracted["x1"][0].Evidence = quotesIn(0, "ClickHouse") }, "e0", schema.EvidenceAligned, `not those of entry 0 of event "x1"`, true},
		"no extraction": {func(_ *testing.T, r *sessionRecord) { clear(r.extracted) }, "", schema.EvidenceAligned, `no memory_extracted event "x1"`, true},
		"other session": {func(_ *testing.T, r *sessionRecord) { r.aligned[0].SessionID = "z" }, "", schema.EvidenceAligned, `names session "z"`, true},
		"no alignment":  {func(_ *testing.T, r *sessionRecord) { r.entries[0].AlignedEventID = "a7" }, "e0", schema.EntryMaterialized, `no evidence_aligned event "a7"`, true},
		"entry's span": {func(t *testing.T, r *sessionRecord) {
			shift(&r.entries[0].Evidence[0])
			r.rows[0].Evidence = encodeEvidence(t, r.entries[0].Evidence)
		}, "e0", schema.EntryMaterialized, "not what the log has: another span; runes", false},
		"entry's flag": {func(_ *testing.T, r *sessionRecord) {
			r.entries[2].EvidenceAligned, r.rows[2].EvidenceAligned = true, true
		}, "e2", schema.EntryMaterialized, "evidence_aligned is true, in the log false", true},
		"row's span":    {row(shift), "e0", StoredInTable, "another span; runes", false},
		"row's place":   {row(func(e *schema.Evidence) { e.RepairedFrom = new(int) }), "e0", StoredInTable, "another repaired_from", false},
		"row's flag":    {func(_ *testing.T, r *sessionRecord) { r.rows[0].EvidenceAligned = false }, "e0", StoredInTable, "evidence_aligned is false, in the log true", true},
		"row's number":  {func(_ *testing.T, r *sessionRecord) { r.rows[0].Evidence = "[]" }, "e0", StoredInTable, "0 pieces of evidence, in the log 1", true},
		"row's JSON":    {func(_ *testing.T, r *sessionRecord) { r.rows[0].Evidence = "[{" }, "e0", StoredInTable, "cannot be read", true},
		"row's event":   {func(_ *testing.T, r *sessionRecord) { r.rows[0].EventID = "m7" }, "e0", StoredInTable, `its event is "m0" in the log`, true},
		"row's project": {func(_ *testing.T, r *sessionRecord) { r.rows[0].Project = "q" }, "e0", StoredInTable, `in project "q", in the log in "p"`, true},
		"unknown entry": {func(_ *testing.T, r *sessionRecord) { r.entries = r.entries[1:] }, "e0", StoredInTable, "the log holds no such entry", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := auditedSession(t)
			tt.change(t, r)
			got := r.audit()
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

// I5: what the aligner finds is true, and a span moved by any number of bytes is not, unless the
// quote stands there too.
func TestAuditOfAnySession(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var texts []string
		var entries [][]schema.Quote
		for i := range rapid.IntRange(1, 4).Draw(t, "messages") {
			p := drawPassage(t)
			texts = append(texts, p.text)
			entries = append(entries, quotesIn(i, string(p.runes[p.start:p.end])))
		}
		r := recordOf(t, texts, entries...)
		require.Empty(t, r.audit().Findings)
		which := rapid.IntRange(0, len(entries)-1).Draw(t, "entry")
		e := &r.aligned[0].Entries[which].Evidence[0]
		if !e.Aligned {
			return
		}
		by := rapid.IntRange(-8, 8).Filter(func(n int) bool { return n != 0 }).Draw(t, "by")
		e.Span.ByteStart += by
		e.Span.ByteEnd += by
		require.NotEmpty(t, r.audit().Findings)
	})
}

// Sessions of the log and of the table are joined by id, and those of the table alone are not lost.
func TestJoinSessions(t *testing.T) {
	t.Parallel()
	errLog, errTable := errors.New("log"), errors.New("table")
	logged := func(ids string, err error) iter.Seq2[heldSession, error] {
		return func(yield func(heldSession, error) bool) {
			for _, id := range ids {
				if !yield(heldSession{stream: string(id)}, nil) {
					return
				}
			}
			if err != nil {
				yield(heldSession{}, err)
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
