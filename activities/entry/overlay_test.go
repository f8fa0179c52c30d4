package entry

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"axiommind/schema"
)

// overlay is the state of an entry after the events of a case, folded in Go as the view folds it in SQL.
type overlay struct {
	made, judged          [2]bool // Aligned, proven.
	isJudged              bool
	session, graduate     schema.Stage
	demoted               bool
	sessionStatus, status schema.Status
	other                 string
	open                  map[string]bool
}

func (o *overlay) evidence() (aligned, proven bool) {
	if o.isJudged && rank(o.judged[0], o.judged[1]) > rank(o.made[0], o.made[1]) {
		return o.judged[0], o.judged[1]
	}
	return o.made[0], o.made[1]
}

func (o *overlay) stage() schema.Stage {
	aligned, proven := o.evidence()
	own := stageOf(aligned)
	at := own.Rank()
	if aligned {
		at = max(at, o.session.Rank())
	}
	switch {
	case o.graduate == "":
	case o.demoted:
		at = min(at, o.graduate.Rank())
	default:
		at = max(at, o.graduate.Rank())
	}
	highest := schema.StageCertified
	switch {
	case !aligned:
		highest = own
	case !proven:
		highest = schema.StageCandidate
	case len(o.open) > 0:
		highest = schema.StageVerified
	}
	return schema.Stages()[min(at, highest.Rank())-1]
}

func (o *overlay) standing() schema.Status {
	switch {
	case o.status != "" && o.status != schema.StatusActive:
		return o.status
	case o.sessionStatus != "" && o.sessionStatus != schema.StatusActive:
		return o.sessionStatus
	case len(o.open) > 0:
		return schema.StatusContested
	default:
		return schema.StatusActive
	}
}

// I5: an aligned entry that is not proven stays a candidate, though its session and graduation promote it.
func TestI5UnprovenIsNeverVerified(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	key := sessionKey("p", "u", "a", "s")
	entry := schema.Entry{
		ID: "e", Type: schema.EntryFact, CanonicalKey: "fact:x", SessionID: key.SessionID, Scope: key.Scope, Title: "x",
		Stage: stageOf(true), Status: schema.StatusActive, EvidenceAligned: true, OccurredAt: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC),
	}
	for stream, payloads := range map[string][]any{
		key.Stream(): {
			schema.EntryMaterializedPayload{Entry: entry, ExtractedEventID: "x"},
			schema.EntriesPromotedPayload{Promotions: []schema.Promotion{{EntryID: "e", To: schema.StageVerified}}},
		},
		schema.GraduateStream(key.Project): {schema.EntryGraduatedPayload{Scope: key.Scope, EntryID: "e", To: schema.StageCertified}},
	} {
		for i, payload := range payloads {
			e, err := schema.NewEvent(payload, schema.Event{
				TS: entry.OccurredAt, Actor: "test", Project: key.Project, DedupeKey: fmt.Sprint(stream, "/", i),
			})
			require.NoError(t, err)
			_, err = b.log.Append(t.Context(), stream, []schema.Event{e})
			require.NoError(t, err)
		}
		_, err := b.log.Project(t.Context(), NewProjector(b.conn), stream)
		require.NoError(t, err)
	}
	selection := InProject(key.Project)
	for name, s := range map[string]Selection{"view": selection, "fold": selection.IDs([]string{"e"})} {
		rows, err := NewReader(b.conn).Read(t.Context(), s, Whole)
		require.NoError(t, err)
		require.Len(t, rows, 1, name)
		require.Equal(t, schema.StageCandidate, rows[0].Stage, name)
		require.False(t, rows[0].EvidenceProven, name)
	}
}

// I5: whatever graduation says of an entry, only proven entries are verified, and only uncontested ones are certified.
// The view shows the same as a fold of the events in order.
func TestI5StagesAreCappedByEvidence(t *testing.T) {
	t.Parallel()
	stagesAreCapped(t, 8)
}

// stagesAreCapped draws n histories of an entry. Each is some 20 requests.
func stagesAreCapped(t *testing.T, n int) {
	t.Helper()
	b := newBench(t)
	cases := 0
	rapid.Check(t, func(t *rapid.T) {
		if cases++; cases > n {
			return
		}
		key := sessionKey("p", "u", "a", fmt.Sprint("s", cases))
		project := fmt.Sprint("ü/", cases)
		key.Project = project
		entryID := fmt.Sprint("e", cases)
		o := &overlay{open: map[string]bool{}}
		aligned := rapid.Bool().Draw(t, "aligned")
		o.made = [2]bool{aligned, aligned && rapid.Bool().Draw(t, "proven")}
		at := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
		made := schema.Entry{
			ID: entryID, Type: schema.EntryFact, CanonicalKey: "fact:x", SessionID: key.SessionID, Scope: key.Scope, Title: "x",
			Stage: stageOf(aligned), Status: schema.StatusActive, EvidenceAligned: o.made[0], EvidenceProven: o.made[1], OccurredAt: at,
		}
		var session, graduate []schema.Event
		add := func(to *[]schema.Event, payload any) {
			e, err := schema.NewEvent(payload, schema.Event{
				TS: at, Actor: "test", Project: project, DedupeKey: fmt.Sprint(project, "/", len(session), "/", len(graduate)),
			})
			require.NoError(t, err)
			*to = append(*to, e)
		}
		add(&session, schema.EntryMaterializedPayload{Entry: made, ExtractedEventID: "x"})
		stages := rapid.SampledFrom(schema.Stages())
		for range rapid.IntRange(0, 12).Draw(t, "events") {
			switch rapid.IntRange(0, 7).Draw(t, "act") {
			case 0:
				o.session = rapid.SampledFrom([]schema.Stage{schema.StageCandidate, schema.StageVerified}).Draw(t, "stage")
				add(&session, schema.EntriesPromotedPayload{Promotions: []schema.Promotion{{EntryID: entryID, To: o.session}}})
			case 1:
				o.graduate, o.demoted = stages.Draw(t, "stage"), rapid.Bool().Draw(t, "demotes")
				add(&graduate, schema.EntryGraduatedPayload{Scope: key.Scope, EntryID: entryID, To: o.graduate, Demotes: o.demoted})
			case 2:
				o.isJudged, o.judged = true, [2]bool{true, true}
				add(&graduate, schema.EntryConfirmedPayload{
					Scope: key.Scope, EntryID: entryID, By: "ann", SessionID: key.SessionID, Evidence: []schema.Evidence{{Quote: "x"}},
				})
			case 3:
				o.status, o.other = schema.StatusSuperseded, "e-new"
				add(&graduate, schema.EntryRetiredPayload{Scope: key.Scope, EntryID: entryID, Status: o.status, SupersededBy: o.other, By: "ann"})
			case 4:
				o.status, o.other = schema.StatusActive, ""
				add(&graduate, schema.EntryRestoredPayload{Scope: key.Scope, EntryID: entryID, By: "ann"})
			case 5:
				id := fmt.Sprint("c", rapid.IntRange(0, 2).Draw(t, "conflict"))
				o.open[id] = true
				add(&graduate, schema.ConflictDetectedPayload{Scope: key.Scope, ConflictID: id, OlderID: "e-old", NewerID: entryID})
			case 6:
				id := fmt.Sprint("c", rapid.IntRange(0, 2).Draw(t, "conflict"))
				delete(o.open, id)
				add(&graduate, schema.ConflictResolvedPayload{Scope: key.Scope, ConflictID: id, OlderID: "e-old", NewerID: entryID, By: "ann"})
			case 7:
				o.sessionStatus = rapid.SampledFrom([]schema.Status{schema.StatusActive, schema.StatusSuperseded}).Draw(t, "status")
				add(&session, schema.EntryStatusSetPayload{EntryID: entryID, Number: len(session), Status: o.sessionStatus})
			}
		}
		ctx := b.t.Context()
		for stream, events := range map[string][]schema.Event{key.Stream(): session, schema.GraduateStream(project): graduate} {
			if len(events) == 0 {
				continue
			}
			_, err := b.log.Append(ctx, stream, events)
			require.NoError(t, err)
			_, err = b.log.Project(ctx, NewProjector(b.conn), stream)
			require.NoError(t, err)
		}
		rows, err := NewReader(b.conn).Read(ctx, InProject(project), Whole)
		require.NoError(t, err)
		require.Len(t, rows, 1)
		row := rows[0]
		b.requireFolded(project)
		isAligned, isProven := o.evidence()
		require.Equal(t, isAligned, row.EvidenceAligned)
		require.Equal(t, isProven, row.EvidenceProven)
		require.Equal(t, o.stage(), row.Stage)
		require.Equal(t, o.standing(), row.Status)
		require.Equal(t, len(o.open), row.Conflicts)
		require.Equal(t, o.standing() == schema.StatusActive || o.standing() == schema.StatusContested, row.EndedAt.IsZero())
		if row.Stage.Rank() >= schema.StageVerified.Rank() {
			require.True(t, row.EvidenceProven)
		}
		if row.Status == o.status && o.status == schema.StatusSuperseded {
			require.Equal(t, o.other, row.SupersededBy)
		}
	})
}
