package graduate

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"axiommind/activities/entry"
	"axiommind/schema"
)

func (l *lives) life(project, id string) (entry.Row, Life) {
	l.Helper()
	l.project(NewProjector(l.conn))
	row, err := entry.NewReader(l.conn).Get(l.Context(), project, id)
	require.NoError(l, err)
	life, err := NewLedgers(l.conn).Life(l.Context(), l.log.Store, row)
	require.NoError(l, err)
	return row, life
}

// whats returns the lines of a life without their times, each with its author.
func whats(life Life) []string {
	out := make([]string, len(life.Lines))
	for i, line := range life.Lines {
		out[i] = fmt.Sprintf("%s: %s", line.Moment, line.Text)
		if line.By != "" {
			out[i] += ", by " + line.By
		}
	}
	return out
}

// The page of an entry shows all events of its life, in the order of time.
func TestLife(t *testing.T) {
	t.Parallel()
	l := newLives(t)
	session, again := sessionOf(0), sessionOf(0)
	again.SessionID = "later"
	stream := schema.GraduateStream("p")
	one, other, third := strings.Repeat("1", 16), strings.Repeat("2", 16), strings.Repeat("3", 16)
	conflict := schema.ConflictID("p", one, other)
	l.append(session.Stream(), held(one, session, false), held(other, session, true), held(third, session, true),
		schema.IdrisCheckedPayload{SessionID: session.SessionID, Entries: 3, Status: schema.CheckFailed, Version: "0.7.0", Verifier: schema.VerifierGo,
			Failures: []schema.ObligationFailure{{EntryID: one, Obligation: "sentences", Piece: 0, Reason: "half of a sentence"}, {EntryID: other, Obligation: "titled", Piece: -1}}},
		schema.EntriesPromotedPayload{SessionID: session.SessionID, Policy: 3, Verifier: schema.VerifierGo, Promotions: []schema.Promotion{
			{EntryID: one, From: schema.StageWorking, To: schema.StageCandidate, Number: 1, Reasons: []string{"its quote is found"}}}})
	row, life := l.life("p", one)
	require.Equal(t, schema.StageCandidate, row.Stage)
	require.Equal(t, []string{
		`stated: stated in session "s0"`,
		"checked: checked by go: obligation sentences does not hold, that the quote is whole sentences or lines, by the recorded rule of proof, for evidence 1: half of a sentence",
		"staged: promoted from working to candidate, verifier go, policy 3: its quote is found",
	}, whats(life))
	require.Len(t, life.NotVerified, 2)
	require.Contains(t, life.NotVerified[0], "not whole sentences")
	require.Contains(t, life.NotVerified[1], "obligation sentences")

	l.append(again.Stream(), schema.EntryEvidenceSetPayload{EntryID: one, ExtractedEventID: "x", Index: 1, Rule: 4, EvidenceAligned: true, EvidenceProven: true})
	l.append(stream,
		schema.EntryGraduatedPayload{Scope: session.Scope, EntryID: one, From: schema.StageCandidate, To: schema.StageVerified, Policy: 3, Reasons: []string{"proven elsewhere"}, Verifier: schema.VerifierGo},
		schema.EntryConfirmedPayload{Scope: session.Scope, EntryID: one, By: "ann"},
		schema.EntryDoubtedPayload{Scope: session.Scope, EntryID: one, Model: "some-model", Reason: "it says nothing of this", AnswerKey: "k"},
		schema.EntryLinkedPayload{Scope: session.Scope, EntryID: third, OriginalID: one, Rule: 1},
		schema.ConflictDetectedPayload{Scope: session.Scope, ConflictID: conflict, OlderID: other, NewerID: one, ConflictType: "number", Reason: "7 is not 8"},
	)
	row, life = l.life("p", one)
	require.Equal(t, schema.StatusContested, row.Status)
	require.Empty(t, life.NotVerified, "it is verified")
	require.Equal(t, []string{
		`judged: evidence of session "later" judged proven by rule 4`,
		"staged: promoted from candidate to verified, verifier go, policy 3: proven elsewhere",
		"answered: confirmed, by ann",
		"answered: not found stated: it says nothing of this, by some-model",
		"repeated: said also by entry " + third,
		"contested: conflict " + conflict + " with entry " + other + " (number): 7 is not 8",
	}, whats(life)[3:])

	l.append(stream,
		schema.ConflictResolvedPayload{Scope: session.Scope, ConflictID: conflict, OlderID: other, NewerID: one, Kept: other, Because: "it was counted", By: "bob"},
		schema.DecisionRecordedPayload{Scope: session.Scope, DecisionID: "d", Action: "Ship it", By: "ann", Evidence: []schema.DecisionEvidence{{Kind: schema.GroundEntry, ID: one, Stage: schema.StageVerified, Role: schema.RoleGround}}},
		schema.EntryRetiredPayload{Scope: session.Scope, EntryID: one, Status: schema.StatusSuperseded, SupersededBy: other, Because: "it was counted", By: "bob"},
	)
	require.NoError(t, RecordRetrieved(t.Context(), l.log, l.conn, "w", Retrieved{
		Scope: session.Scope, RequestID: "r", By: schema.RetrievedBySearch, EntryIDs: []string{one}, At: noon.Add(1000 * time.Hour), Actor: "ann",
	}))
	row, life = l.life("p", one)
	require.Equal(t, schema.StatusSuperseded, row.Status)
	require.Equal(t, []string{
		"resolved: conflict " + conflict + " resolved: the other one is kept: it was counted, by bob",
		`decided: decision d rests on it: Ship it (in doubt: entry "` + one + `" is superseded), by ann`,
		"ended: superseded by entry " + other + ": it was counted, by bob",
		"retrieved: returned once by a search",
	}, whats(life)[9:])
	require.Empty(t, life.NotVerified, "nobody asks that of an entry that is not believed")
	require.True(t, slices.IsSortedFunc(life.Lines, func(a, b Line) int { return a.At.Compare(b.At) }))
	require.Equal(t, map[Moment]int{
		MomentStated: 1, MomentChecked: 1, MomentStaged: 2, MomentJudged: 1, MomentAnswered: 2, MomentRepeated: 1, MomentContested: 1,
		MomentResolved: 1, MomentDecided: 1, MomentEnded: 1, MomentRetrieved: 1,
	}, life.Counts)
	for moment := range life.Counts {
		require.Contains(t, Moments(), moment)
	}

	_, linked := l.life("p", third)
	require.Contains(t, whats(linked), "linked: says the same as entry "+one)
	require.Equal(t, []string{"the last check, by go, did not promote it: process its session again"}, linked.NotVerified)
	_, titled := l.life("p", other)
	require.Contains(t, whats(titled), "replaced: took the place of entry "+one)
	require.NotContains(t, whats(titled), "replaced: took the place of entry "+third)
	require.Zero(t, titled.Counts[MomentRepeated])
	require.NotContains(t, titled.Counts, MomentRepeated)
	require.Contains(t, titled.NotVerified[0], "obligation titled does not hold, that the entry has a title")
}

// A life of many lines is cut to the latest ones of each kind, with the total counts.
func TestLifeIsBounded(t *testing.T) {
	t.Parallel()
	l := newLives(t)
	session, id := sessionOf(0), strings.Repeat("1", 16)
	l.append(session.Stream(), held(id, session, true))
	var answers, others, judged []any
	for n := range MaxLines + 7 {
		answers = append(answers, schema.EntryConfirmedPayload{Scope: session.Scope, EntryID: id, By: fmt.Sprint("person ", n)})
		others = append(others, schema.EntryLinkedPayload{Scope: session.Scope, EntryID: fmt.Sprintf("%016d", n), OriginalID: id})
		judged = append(judged, schema.EntryEvidenceSetPayload{EntryID: id, ExtractedEventID: fmt.Sprint(n), Rule: n, EvidenceAligned: true})
	}
	l.append(schema.GraduateStream("p"), answers...)
	l.append(schema.GraduateStream("p"), others...)
	l.append(session.Stream(), judged...)
	_, life := l.life("p", id)
	require.Len(t, life.Lines, 3*MaxLines+1)
	for _, moment := range []Moment{MomentAnswered, MomentRepeated, MomentJudged} {
		require.Equal(t, MaxLines+7, life.Counts[moment], moment)
	}
	require.NotContains(t, whats(life), "answered: confirmed, by person 6")
	require.Contains(t, whats(life), "answered: confirmed, by person 7")
	require.Equal(t, []string{"its session was not checked yet: process it again"}, life.NotVerified)
}
