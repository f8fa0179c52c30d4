package facts

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"axiommind/activities/fact"
	"axiommind/schema"
	"axiommind/starter/command"
)

// A list marks only the facts that are contested or no longer believed.
func TestFactsTellTheirStanding(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		standing *fact.EntryStatus
		mark     string
	}{
		{&fact.EntryStatus{Status: schema.StatusSuperseded, EndedBy: "ann", SupersededBy: "abcdefghi"}, ", superseded by abcdefgh"},
		{&fact.EntryStatus{Status: schema.StatusDeprecated, EndedBy: "ann", EndedBecause: "it\nmoved"}, ", retired: it moved"},
		{&fact.EntryStatus{Status: schema.StatusContested}, ", contested"},
		{&fact.EntryStatus{Status: schema.StatusSuperseded}, ""}, // by a newer extractor
		{nil, ""},
	} {
		require.Equal(t, tt.mark, factText(tt.standing))
		var out strings.Builder
		printFacts(&out, []fact.Fact{{ID: "f", EntryID: "123456789", Entry: tt.standing}}, 7)
		require.Contains(t, out.String(), "12345678"+tt.mark)
		require.True(t, strings.HasSuffix(out.String(), "\nthe memory has version 7\n"), out.String())
	}
}

// Every event of a memory has a wording within the line width, and no untrusted text breaks its line.
func TestHistoryOfFactsIsTold(t *testing.T) {
	t.Parallel()
	some, empty := 0.25, ""
	before := &fact.Fact{ID: "fact_1", Content: "The old\nwords", Category: "context", Confidence: 0.5, SourceError: "e"}
	for _, tt := range []struct {
		payload any
		session string
		says    []string
	}{
		{schema.FactCreatedPayload{FactID: "fact_1", Content: "It is\nso", Category: "goal", Confidence: 1}, "", []string{"created fact_1 (goal, 1.00): “It is so”", "by ann"}},
		{schema.FactUpdatedPayload{FactID: "fact_1", Confidence: &some, SourceError: &empty}, "", []string{"updated fact_1: confidence 0.50 -> 0.25, mistake to avoid “e” -> “”"}},
		{schema.FactUpdatedPayload{FactID: "fact_1", Category: &before.Category}, "", []string{"updated fact_1: no change"}},
		{schema.FactDeletedPayload{FactID: "fact_1", Act: schema.Act{Reason: "a\njoke"}}, "", []string{"deleted fact_1: “The old words”", "by ann: a joke"}},
		{schema.FactDeletedPayload{FactID: "fact_1", Evidence: []schema.Evidence{{Quote: "forget it"}}}, "s", []string{"because it was said: “forget it”", "from session s"}},
		{schema.FactEvictedPayload{FactID: "fact_1", For: "fact_2", MaxFacts: 3, Policy: "hybrid-v1", Score: 0.125, Reserve: 1}, "s", []string{"evicted fact_1 for fact_2: “The old words” had the lowest score, 0.12 by policy hybrid-v1", "3 facts are the most that is kept, 1 correction of them"}},
		{schema.FactEvictedPayload{FactID: "fact_1", For: "fact_2", MaxFacts: 1}, "s", []string{"had the lowest confidence, and 1 fact is the most that is kept"}},
		{schema.FactSkippedPayload{Skipped: schema.SkippedLowConfidence, Detail: "confidence is 0.1, want at least 0.5", Content: "x"}, "s", []string{"skipped (low confidence): “x”, because confidence is 0.1, want at least 0.5"}},
		{schema.FactSkippedPayload{Skipped: schema.SkippedUnaligned, Section: "work", Content: "x"}, "s", []string{"skipped for the section work (evidence not aligned)"}},
		{schema.FactMergedPayload{FactID: "fact_1", Content: "Nearly", Confidence: 0.9, Overlap: 0.8, Similarity: 0.91, MinOverlap: 0.7}, "s", []string{"merged into fact_1: “Nearly”, which says nearly the same as “The old words”: overlap 0.80 (at least 0.70), similarity 0.91"}},
		{schema.FactsClearedPayload{Facts: 2, Sections: 1}, "", []string{"cleared: 2 facts and 1 section of the profile"}},
		{schema.ProfileUpdatedPayload{Section: "work", Summary: "Builds"}, "", []string{"profile work: “Builds”"}},
		{schema.ProfileUpdatedPayload{Section: "work"}, "", []string{"profile work was removed"}},
	} {
		e, err := schema.NewEvent(tt.payload, schema.Event{TS: time.Unix(1, 0), Actor: "ann", SessionID: tt.session, DedupeKey: "k"})
		require.NoError(t, err)
		var out strings.Builder
		printChangesOfFacts(&out, []fact.Change{{Event: e, Before: before}})
		joined := strings.Join(strings.Fields(out.String()), " ")
		for _, says := range tt.says {
			require.Contains(t, joined, says)
		}
		for line := range strings.Lines(out.String()) {
			require.LessOrEqual(t, len([]rune(line)), command.LineWidth+1)
		}
	}
	for _, name := range fact.EventTypes() {
		lines := changeLines(fact.Change{Event: schema.Event{Type: name, Payload: []byte("{}")}})
		require.NotEmpty(t, lines[0], "tell the event %s", name)
	}
}

// A build lists the facts that were evicted for its own. Skipped facts are among its problems.
func TestFactsOfBuildAreTold(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	SayOfBuild(&b, nil)
	require.Empty(t, b.String())
	var f OfBuild
	f.Created, f.Merged, f.Evicted, f.Sections, f.Skipped = 3, 1, maxLost+1, 1, map[string]int{schema.SkippedDuplicate: 2, schema.SkippedTrivial: 1}
	e, err := schema.NewEvent(schema.FactEvictedPayload{FactID: "x", For: "y"}, schema.Event{TS: time.Unix(1, 0), DedupeKey: "k"})
	require.NoError(t, err)
	for range maxLost + 1 {
		f.Lost = append(f.Lost, fact.Change{Event: e})
	}
	SayOfBuild(&b, &f)
	require.True(t, strings.HasPrefix(strings.Join(strings.Fields(b.String()), " "),
		"facts 3 created, 1 merged, 101 evicted, 1 section set, 3 skipped (duplicate 2, says nothing lasting 1) evicted x for y: “”"))
	require.Contains(t, b.String(), "           and 1 more; facts history lists them\n")
	require.Equal(t, maxLost, strings.Count(b.String(), "evicted x for y"))
}

// Nothing is forgotten unless the user's name is typed.
func TestAsk(t *testing.T) {
	t.Parallel()
	require.False(t, command.IsTerminal(strings.NewReader("")))
	for typed, want := range map[string]bool{"ann\n": true, " ann": true, "": false, "y\n": false, "Ann\n": false, "ann b\n": false, "\nann\n": false} {
		var out strings.Builder
		err := command.Ask(strings.NewReader(typed), &out, "really? ", "ann")
		require.Equal(t, want, err == nil, "%q", typed)
		require.Equal(t, !want, command.IsUsage(err))
		require.True(t, strings.HasPrefix(out.String(), "really? "))
	}
}
