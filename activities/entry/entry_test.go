package entry

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"axiommind/schema"
)

func TestCanonicalKey(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("가나 ", 100)
	decision := func(title string) schema.Entry { return schema.Entry{Type: schema.EntryDecision, Title: title} }
	require.Equal(t, "decision:use kafka", CanonicalKey(decision("Use Kafka.")))
	require.NotEqual(t, CanonicalKey(decision("Use Kafka")), CanonicalKey(schema.Entry{Type: schema.EntryFact, Title: "Use Kafka"}))
	require.NotEqual(t, CanonicalKey(decision(long+"x")), CanonicalKey(decision(long+"y")), "beyond the first 160 runes")
	require.Equal(t, CanonicalKey(decision(long+"x")), CanonicalKey(decision(long+"X!")))
	require.Less(t, len([]rune(CanonicalKey(decision(long+"x")))), 190)

	fact := schema.Entry{Type: schema.EntryFact, Title: "Works at ACME."}
	summaries := []string{CanonicalKey(fact)}
	for _, fact.Section = range schema.ProfileSections() {
		summaries = append(summaries, CanonicalKey(fact), CanonicalKey(schema.Entry{Type: schema.EntryFact, Title: fact.Section + ": works at ACME"}))
	}
	slices.Sort(summaries)
	require.Len(t, slices.Compact(summaries), 1+2*len(schema.ProfileSections()), "a summary is another entry than a fact")

	at := func(message, start int, aligned bool) schema.Entry {
		e := schema.Evidence{MessageIndex: message, Found: aligned, Aligned: aligned, QuoteHash: schema.HashText(fmt.Sprint(start)), Span: schema.Span{ByteStart: start}}
		return schema.Entry{Type: schema.EntryTaskNote, Title: "Fix login", Evidence: []schema.Evidence{e}}
	}
	keys := []string{
		CanonicalKey(at(1, 0, true)), CanonicalKey(at(1, 20, true)), CanonicalKey(at(2, 0, true)),
		CanonicalKey(at(1, 0, false)), CanonicalKey(at(1, 20, false)),
		CanonicalKey(schema.Entry{Type: schema.EntryTaskNote, Title: "Fix login"}),
	}
	slices.Sort(keys)
	require.Len(t, slices.Compact(keys), 6, "a note at another place is another note")
}

var (
	sessionDate = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	saidAt      = sessionDate.Add(10 * time.Hour)
)

func testSession() Session {
	return Session{
		SessionKey: schema.SessionKey{Scope: schema.Scope{Project: "p", User: "u", Agent: "a"}, SessionID: "s1"}, Date: sessionDate,
		At: func(i int) time.Time {
			if i == 1 {
				return saidAt
			}
			return time.Time{}
		},
	}
}

// source is a window from which the titles were extracted. Those that begin with "+" were aligned, in message 1, and
// those with "++" proven.
func source(id string, titles ...string) extraction {
	s := extraction{ExtractedEventID: "x" + id, AlignedEventID: "a" + id}
	for i, title := range titles {
		aligned := strings.HasPrefix(title, "+")
		proven := strings.HasPrefix(title, "++")
		title = strings.TrimLeft(title, "+")
		s.Extracted.Entries = append(s.Extracted.Entries, schema.ExtractedEntry{
			EntryID: "the model's own", Type: schema.EntryDecision, Title: title, Content: "from " + id,
		})
		s.Aligned.Entries = append(s.Aligned.Entries, schema.AlignedEntry{
			Index: i, EvidenceAligned: aligned, EvidenceProven: proven,
			Evidence: []schema.Evidence{{MessageIndex: 1, Quote: title, Found: aligned, Aligned: aligned, Proven: proven}},
		})
	}
	return s
}

func TestMaterialize(t *testing.T) {
	t.Parallel()
	entries, err := made(testSession(), []extraction{
		source("1", "use Kafka", "+Keep it small", "said twice"),
		source("2", "+Use Kafka!", "+keep it small", "alone", "+Said twice"),
		source("3", "+use kafka", "++Said twice.", "++said twice!"),
	})
	require.NoError(t, err)
	require.Len(t, entries, 4)

	kafka, small, twice, alone := entries[0], entries[1], entries[2], entries[3]
	require.Equal(t, "Said twice.", twice.Title, "the first that is proven stays")
	require.True(t, twice.EvidenceProven)
	require.Equal(t, "x3", twice.ExtractedEventID)
	require.Equal(t, 1, twice.Index)
	require.Equal(t, "Use Kafka!", kafka.Title, "the first with aligned evidence stays")
	require.Equal(t, "x2", kafka.ExtractedEventID)
	require.Equal(t, "a2", kafka.AlignedEventID)
	require.Equal(t, schema.StageWorking, kafka.Stage)
	require.Equal(t, saidAt, kafka.OccurredAt)
	require.Equal(t, schema.Scope{Project: "p", User: "u", Agent: "a"}, kafka.Scope)
	require.Equal(t, ID(testSession().SessionKey, schema.EntryDecision, "decision:use kafka"), kafka.ID)
	require.Equal(t, "x1", small.ExtractedEventID)
	require.Equal(t, schema.StageRaw, alone.Stage, "without proof it is kept, marked")
	require.False(t, alone.EvidenceAligned)
	require.Equal(t, sessionDate, alone.OccurredAt)
	require.Equal(t, schema.StatusActive, alone.Status)

	other := testSession()
	other.SessionID = "s2"
	again, err := made(other, []extraction{source("1", "use Kafka")})
	require.NoError(t, err)
	require.NotEqual(t, kafka.ID, again[0].ID, "another session is another entry")
}

func TestMaterializeSummaries(t *testing.T) {
	t.Parallel()
	s := source("1", "++Works at ACME.", "++works at ACME", "++The port is 8081.")
	for i := range s.Extracted.Entries {
		s.Extracted.Entries[i].Type = schema.EntryFact
	}
	s.Extracted.Entries[1].Section = schema.SectionWork
	s.Extracted.Entries[2].Category, s.Extracted.Entries[2].SourceError = schema.CategoryCorrection, "The port is 8080."
	entries, err := made(testSession(), []extraction{s})
	require.NoError(t, err)
	require.Len(t, entries, 3, "a fact and a summary of one title are two entries")
	require.Empty(t, entries[0].Section)
	require.Equal(t, schema.SectionWork, entries[1].Section)
	require.NotEqual(t, entries[0].ID, entries[1].ID)
	require.NotEqual(t, phraseOf(&entries[0].Entry), phraseOf(&entries[1].Entry), "the proof of one is none of the other")
	require.Equal(t, "The port is 8080.", entries[2].SourceError)
	for _, e := range entries {
		c := contentOf(e.Entry)
		require.Equal(t, []string{e.Section, e.SourceError}, []string{c.Section, c.SourceError})
	}
}

// Among entries from the same sentences, a fact replaces a fact, and a summary replaces a summary.
func TestLikeIsOfTheSameSection(t *testing.T) {
	t.Parallel()
	s := source("1", "++summary", "++fact", "++older fact", "++older summary")
	for i := range s.Extracted.Entries {
		s.Extracted.Entries[i].Type = schema.EntryFact
		s.Aligned.Entries[i].Evidence[0].Span = schema.Span{ByteEnd: 10}
	}
	s.Extracted.Entries[0].Section, s.Extracted.Entries[3].Section = schema.SectionWork, schema.SectionWork
	all, err := statements(testSession(), []extraction{s})
	require.NoError(t, err)
	p := &planner{ledger: newLedger(), session: testSession().SessionKey, buildID: "build"}
	_, err = p.plan(indexStatements(all))
	require.NoError(t, err)
	own := p.ledger.own()
	require.Len(t, own, 4)
	newer := p.sentences(func(h *entryRecord) bool { return h == own[0] || h == own[1] })
	require.Equal(t, own[1].id, newer.mostSimilar(own[2]))
	require.Equal(t, own[0].id, newer.mostSimilar(own[3]))
}

func TestMaterializeRefusesForeignAlignment(t *testing.T) {
	t.Parallel()
	s := source("1", "use Kafka")
	s.Aligned.Entries[0].Index = 1
	_, err := made(testSession(), []extraction{s})
	require.EqualError(t, err, `materialize session "s1": event "a1" aligns entry 1 of 1`)
}

// Entries and events made from the same events are the same to the last byte. Later sources change no proven entry.
func TestI3MaterializeAgain(t *testing.T) {
	t.Parallel()
	title := rapid.SampledFrom([]string{"+a", "a", "+A.", "++a!", "+b", "b", "++b", "c", "+c!"})
	rapid.Check(t, func(t *rapid.T) {
		var sources []extraction
		for i, titles := range rapid.SliceOfN(rapid.SliceOfN(title, 0, 4), 1, 6).Draw(t, "windows") {
			sources = append(sources, source(fmt.Sprint(i), titles...))
		}
		all := events(t, sources)
		require.Equal(t, all, events(t, sources))
		byKey := map[string]schema.Event{}
		for _, e := range all {
			_, twice := byKey[e.DedupeKey]
			require.False(t, twice, "entry %q is there twice", e.DedupeKey)
			byKey[e.DedupeKey] = e
		}
		fewer := sources[:rapid.IntRange(0, len(sources)).Draw(t, "cut")]
		entries, err := made(testSession(), fewer)
		require.NoError(t, err)
		for i, e := range events(t, fewer) {
			later, ok := byKey[e.DedupeKey]
			require.True(t, ok)
			if entries[i].EvidenceProven {
				require.Equal(t, e, later)
			}
		}
	})
}

// made returns the entries that a build makes of the sources in a session that has none yet.
func made(session Session, sources []extraction) ([]schema.EntryMaterializedPayload, error) {
	all, err := statements(session, sources)
	if err != nil {
		return nil, err
	}
	p := &planner{ledger: newLedger(), session: session.SessionKey, buildID: "build"}
	if _, err := p.plan(indexStatements(all)); err != nil {
		return nil, err
	}
	var out []schema.EntryMaterializedPayload
	for _, h := range p.ledger.own() {
		out = append(out, *h.entry)
	}
	return out, nil
}

func events(t require.TestingT, sources []extraction) []schema.Event {
	entries, err := made(testSession(), sources)
	require.NoError(t, err)
	out, err := Events(entries, "build")
	require.NoError(t, err)
	return out
}
