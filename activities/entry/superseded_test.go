package entry

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"axiommind/schema"
)

func extractorNamed(model string) schema.Extractor {
	return schema.Extractor{Provider: "test/%'", Model: model, PromptVersion: "p1"}
}

// said is a claim whose quote is in the sentence that the bytes hold.
func said(title string, from, to int) claim {
	return claim{entryType: schema.EntryDecision, title: title, place: from, end: to, is: "proven"}
}

// builtBy logs, materializes and projects the extractor's claims of the session. A partial answer was cut off.
func (b *bench) builtBy(session schema.SessionKey, build, model string, answer answered, claims ...claim) MaterializeResult {
	b.t.Helper()
	x := extractorNamed(model)
	if answer != nothing {
		b.extractBy(session, build, schema.MemoryExtractedPayload{Extractor: x, Truncated: answer == partly}, claims...)
	}
	return b.rebuilt(session, build, Builder{Extractor: x, At: sessionDate})
}

// answered is the kind of a model's answer.
type answered int

const (
	nothing answered = iota
	partly
	wholly
)

func (b *bench) rebuilt(session schema.SessionKey, build string, by Builder) MaterializeResult {
	b.t.Helper()
	in := MaterializeInput{SessionKey: session, BuildID: build, Builder: by}
	result, err := b.activities.materialize(b.t.Context(), in)
	require.NoError(b.t, err)
	events := len(b.events(session))
	again, err := b.activities.materialize(b.t.Context(), in)
	require.NoError(b.t, err)
	require.Equal(b.t, result, again, "I1")
	require.Len(b.t, b.events(session), events, "I1")
	b.project(session)
	return result
}

// standings returns the status of each of the session's entries by its title, with the title of its successor.
func (b *bench) standings(session schema.SessionKey) map[string]string {
	b.t.Helper()
	rows := b.entries(session)
	titles := map[string]string{"": ""}
	for _, r := range rows {
		titles[r.ID] = r.Title
	}
	out := map[string]string{}
	for _, r := range rows {
		title, known := titles[r.SupersededBy]
		require.True(b.t, known)
		out[r.Title] = string(r.Status)
		if title != "" {
			out[r.Title] += " by " + title
		}
	}
	return out
}

// An entry that a later extractor, having seen the whole session, does not state is superseded by its entry of the same
// sentences. It becomes active again with the extractor that states it. Rebuilt rows are the same.
func TestI3SupersededAndRestored(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	s, other := sessionKey("p/%'", "여자", "a", `s"1`), sessionKey("p/%'", "여자", "a", "2")
	b.builtBy(other, "o1", "old", wholly, said("Use Kafka", 0, 9))
	require.Equal(t, MaterializeResult{Entries: 3, New: 3, Aligned: 3, Proven: 3},
		b.builtBy(s, "b1", "old", wholly, said("Use Kafka", 0, 9), said("Ship on Friday", 10, 24), said("Keep it small", 30, 40)))

	require.Equal(t, MaterializeResult{Entries: 4, New: 1, Aligned: 4, Proven: 4},
		b.builtBy(s, "b2", "new", partly, said("keep it small!", 30, 40), said("Fridays are for shipping", 12, 20)))
	require.Equal(t, map[string]string{
		"Use Kafka": "active", "Ship on Friday": "active", "Keep it small": "active", "Fridays are for shipping": "active",
	}, b.standings(s), "an extractor without a whole answer supersedes nothing")

	result := b.builtBy(s, "b3", "new", wholly)
	require.Equal(t, MaterializeResult{Entries: 2, Aligned: 2, Proven: 2, Superseded: 2}, result)
	require.Equal(t, map[string]string{
		"Use Kafka": "superseded", "Ship on Friday": "superseded by Fridays are for shipping", "Keep it small": "active",
		"Fridays are for shipping": "active",
	}, b.standings(s))
	require.Equal(t, map[string]string{"Use Kafka": "active"}, b.standings(other), "a session supersedes its own entries")
	proven, err := NewReader(b.conn).IDs(t.Context(), OfSession(s).Proven())
	require.NoError(t, err)
	require.Len(t, proven, 2)
	logged, err := ReadLogged(t.Context(), b.log.Store, s, func(schema.Entry) bool { return true })
	require.NoError(t, err)
	require.Len(t, logged, 2, "what is superseded is not for facts and tasks")

	require.Equal(t, MaterializeResult{Entries: 3, Aligned: 3, Proven: 3, Superseded: 1, Restored: 2}, b.builtBy(s, "b4", "old", nothing))
	require.Equal(t, map[string]string{
		"Use Kafka": "active", "Ship on Friday": "active", "Keep it small": "active",
		"Fridays are for shipping": "superseded by Ship on Friday",
	}, b.standings(s))
	b.builtBy(s, "b5", "new", nothing)
	require.Equal(t, "superseded by Fridays are for shipping", b.standings(s)["Ship on Friday"])

	// Without a builder, as when evidence is judged again, statuses stay.
	before := b.rows()
	b.rebuilt(s, "b5", Builder{})
	require.Equal(t, before, b.rows())
	b.rebuild()
	require.Equal(t, before, b.rows(), "I3")
}

// An extractor without tools has not seen the messages that one with tools has.
func TestSupersededToolsStay(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	s := sessionKey("p", "u", "a", "s")
	tools := extractorNamed("m")
	tools.Tools = true
	b.extractBy(s, "b1", schema.MemoryExtractedPayload{Extractor: tools}, said("The tool said so", 0, 9))
	b.rebuilt(s, "b1", Builder{Extractor: tools, At: sessionDate})
	b.builtBy(s, "b2", "m", wholly, said("Use Kafka", 0, 9))
	require.Equal(t, map[string]string{"The tool said so": "active", "Use Kafka": "active"}, b.standings(s))
	b.rebuilt(s, "b3", Builder{Extractor: tools, At: sessionDate})
	require.Equal(t, map[string]string{"The tool said so": "active", "Use Kafka": "superseded by The tool said so"}, b.standings(s))
}

// No extractor supersedes a person's statement.
func TestStatedStays(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	s := sessionKey("p", "u", "a", "s")
	person := schema.PersonExtractor()
	window := schema.MemoryExtractedPayload{Extractor: person}
	b.extractBy(s, "b1", window, said("The limit is 8", 0, 9))
	b.rebuilt(s, "b1", Builder{Extractor: person, At: sessionDate})
	result := b.builtBy(s, "b2", "m", wholly, said("A limit", 0, 9))
	require.Zero(t, result.Superseded)
	require.Equal(t, map[string]string{"The limit is 8": "active", "A limit": "active"}, b.standings(s))
}

// The successor is the entry that shares most of the sentences, and among equals one of the same type.
func TestSupersededBy(t *testing.T) {
	t.Parallel()
	fact := func(c claim) claim { c.entryType = schema.EntryFact; return c }
	old := said("old", 10, 20)
	for name, tt := range map[string]struct {
		claims []claim
		want   string
	}{
		"none":        {nil, ""},
		"beside":      {[]claim{said("a", 0, 10), said("b", 20, 30)}, ""},
		"most":        {[]claim{said("a", 0, 12), said("b", 15, 30)}, "b"},
		"the type":    {[]claim{fact(said("a", 10, 20)), said("b", 0, 40)}, "b"},
		"the first":   {[]claim{said("a", 0, 40), said("b", 10, 20)}, "a"},
		"not found":   {[]claim{{entryType: schema.EntryDecision, title: "a", place: 10, end: 20, is: "missing"}}, ""},
		"its passage": {[]claim{{entryType: schema.EntryDecision, title: "a", place: 0, end: 1, is: "aligned", within: 30}}, "a"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, b := sourceOf(0, []claim{old}), sourceOf(1, tt.claims)
			a.Extracted.Extractor, b.Extracted.Extractor = extractorNamed("a"), extractorNamed("b")
			l := planAll(t, newLedger(), "b1", Builder{Extractor: extractorNamed("b")}, a, b)
			title := ""
			for _, h := range l.own() {
				if h.entry.Title == "old" {
					require.Equal(t, schema.StatusSuperseded, h.entryStatus())
					if by := l.byID[h.supersededBy]; by != nil {
						title = by.entry.Title
					}
				}
			}
			require.Equal(t, tt.want, title)
		})
	}
}

// planAll plans a build and returns the ledger as its events leave it.
func planAll(t require.TestingT, l *ledger, build string, by Builder, sources ...extraction) *ledger {
	all, err := statements(testSession(), sources)
	require.NoError(t, err)
	p := &planner{ledger: l, session: testSession().SessionKey, buildID: build}
	_, err = p.plan(indexStatements(all))
	require.NoError(t, err)
	require.NoError(t, p.supersede(indexStatements(all), sources, by))
	again := &planner{ledger: l, session: testSession().SessionKey, buildID: build}
	require.NoError(t, again.supersede(indexStatements(all), sources, by))
	require.Empty(t, again.events, "nothing is left for another build")
	return l
}

// windowOf is the nth of the windows that the messages of the property test are in: each message is one.
func windowOf(n int) schema.Window { return schema.Window{First: n, Last: n} }

// After any builds by any extractors, of a growing session and with answers that are cut off, an entry is active in
// three cases. The last extractor with a whole answer for its message states it, or a later one does, or one that reads
// more. Folding the events again gives the same.
func TestI4SupersededIsWhatTheLastWholeAnswerDoesNotState(t *testing.T) {
	t.Parallel()
	const messages = 3
	titles := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "c", "d"}), 0, 3, rapid.ID[string])
	type at struct {
		title   string
		message int
	}
	rapid.Check(t, func(t *rapid.T) {
		var sources []extraction
		l, folded := newLedger(), newLedger()
		stated := map[schema.Extractor]map[at]bool{}
		read := map[schema.Extractor]map[int]bool{}
		active, keys := map[at]bool{}, map[string]bool{}
		for n := range rapid.IntRange(1, 10).Draw(t, "builds") {
			x := extractorNamed(rapid.SampledFrom([]string{"1", "2", "3"}).Draw(t, "extractor"))
			x.Tools = rapid.Bool().Draw(t, "tools")
			if stated[x] == nil {
				stated[x], read[x] = map[at]bool{}, map[int]bool{}
			}
			for m := range messages {
				answer := rapid.SampledFrom([]answered{nothing, partly, wholly, wholly}).Draw(t, "answer")
				if answer == nothing {
					continue
				}
				var claims []claim
				for _, title := range titles.Draw(t, "says") {
					claims = append(claims, decided(fmt.Sprint(title, m), is.Draw(t, "is")))
					stated[x][at{title, m}] = true
				}
				source := sourceOf(messages*n+m, claims)
				for i := range source.Aligned.Entries {
					source.Aligned.Entries[i].Evidence[0].MessageIndex = m
				}
				source.Extracted.Extractor, source.Extracted.Window, source.Extracted.Truncated = x, windowOf(m), answer == partly
				sources = append(sources, source)
				read[x][m] = read[x][m] || answer == wholly
			}

			all, err := statements(testSession(), sources)
			require.NoError(t, err)
			p := &planner{ledger: l, session: testSession().SessionKey, buildID: fmt.Sprint(n)}
			_, err = p.plan(indexStatements(all))
			require.NoError(t, err)
			require.NoError(t, p.supersede(indexStatements(all), sources, Builder{Extractor: x}))
			for _, e := range p.events {
				require.False(t, keys[e.DedupeKey], "%s is there twice", e.DedupeKey)
				keys[e.DedupeKey] = true
				_, err := folded.add(e)
				require.NoError(t, err)
			}

			maps.DeleteFunc(active, func(e at, _ bool) bool {
				for by, entries := range stated {
					if by.Tools && !x.Tools && entries[e] {
						return false
					}
				}
				return read[x][e.message]
			})
			want := map[string]bool{}
			for e := range stated[x] {
				active[e] = true
			}
			for e := range active {
				want[fmt.Sprint(e.title, e.message)] = true
			}
			require.Equal(t, want, activeIn(l))
			require.Equal(t, want, activeIn(folded))
		}
	})
}

// The place of a missing quote is the window that its entry was extracted from. Windows may be cut elsewhere.
func TestSupersededWhereItWasRead(t *testing.T) {
	t.Parallel()
	missing := claim{entryType: schema.EntryDecision, title: "old", is: "missing"}
	old := said("old", 10, 20)
	window := func(first, from, last, to int) schema.Window {
		return schema.Window{First: first, ByteStart: from, Last: last, ByteEnd: to}
	}
	for name, tt := range map[string]struct {
		old  claim
		read []schema.Window
		want schema.Status
	}{
		"whole":                {old, []schema.Window{window(0, 0, 9, 0)}, schema.StatusSuperseded},
		"its part":             {old, []schema.Window{window(0, 10, 0, 20)}, schema.StatusSuperseded},
		"in halves":            {old, []schema.Window{window(0, 0, 0, 15), window(0, 15, 0, 30)}, schema.StatusSuperseded},
		"not its end":          {old, []schema.Window{window(0, 0, 0, 19)}, schema.StatusActive},
		"not its beginning":    {old, []schema.Window{window(0, 11, 4, 0)}, schema.StatusActive},
		"another message":      {old, []schema.Window{window(1, 0, 4, 0)}, schema.StatusActive},
		"missing, read":        {missing, []schema.Window{window(0, 0, 2, 0), window(3, 0, 5, 0)}, schema.StatusSuperseded},
		"missing, partly read": {missing, []schema.Window{window(0, 0, 2, 0)}, schema.StatusActive},
		"nothing":              {old, nil, schema.StatusActive},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := sourceOf(0, []claim{tt.old})
			a.Extracted.Extractor, a.Extracted.Window = extractorNamed("a"), window(0, 0, 5, 0)
			sources := []extraction{a}
			for i, w := range tt.read {
				b := sourceOf(1+i, nil)
				b.Extracted.Extractor, b.Extracted.Window = extractorNamed("b"), w
				sources = append(sources, b)
			}
			l := planAll(t, newLedger(), "b1", Builder{Extractor: extractorNamed("b")}, sources...)
			require.Equal(t, tt.want, l.own()[0].entryStatus())
		})
	}
}

func activeIn(l *ledger) map[string]bool {
	out := map[string]bool{}
	for _, h := range l.own() {
		if h.current().Status == schema.StatusActive {
			out[h.entry.Title] = true
		}
	}
	return out
}

// A session without another extractor's entries costs a build nothing more.
func TestSupersedeNothing(t *testing.T) {
	t.Parallel()
	source := sourceOf(0, []claim{decided("a", "proven"), decided("b", "found")})
	source.Extracted.Extractor = extractorNamed("1")
	l := planAll(t, newLedger(), "b", Builder{Extractor: extractorNamed("1")}, source)
	require.Equal(t, []string{"a", "b"}, slices.Sorted(maps.Keys(activeIn(l))))
}
