package audit

import (
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/activities/evidence"
	"axiommind/schema"
)

// confirm records that a person confirmed the first entry by the whole text of message 0, and projects
// that.
func (r *record) confirm(t require.TestingT) *loggedConfirmation {
	aligner := evidence.NewAligner([]schema.Message{r.messages[0].Message}, func(int) string { return r.messages[0].eventID })
	pieces, _ := aligner.AlignEntry([]schema.Quote{{Quote: r.messages[0].Text}})
	x := loggedConfirmation{eventID: "c1"}
	x.Scope, x.SessionID, x.EntryID, x.By = r.session.Scope, "s", "e0", "ann"
	x.Evidence, x.EvidenceRule = pieces, evidence.Rule
	r.confirmed = append(r.confirmed, x)
	r.rows = append(r.rows, Stored{
		EntryID: "e0", Stream: r.session.Stream(), Project: "p", EventID: "c1", EvidenceAligned: true, EvidenceProven: true,
		Rule: evidence.Rule, ExtractedEventID: "c1", Evidence: encodeEvidence(t, pieces),
	})
	return &r.confirmed[len(r.confirmed)-1]
}

// Confirmed evidence is checked against the log and the rule of proof like all other evidence.
func TestConfirmedEvidence(t *testing.T) {
	t.Parallel()
	fresh := func() (*record, *loggedConfirmation) {
		r := recordOf(t, []string{"We agreed that the archive is kept."}, []schema.Quote{{Quote: "the archive is kept"}})
		return r, r.confirm(t)
	}
	r, _ := fresh()
	audited := r.check()
	require.Empty(t, audited.Findings)
	require.Zero(t, audited.Tally.Unprojected)
	require.Equal(t, 1, audited.Tally.Proven)
	for says, spoil := range map[string]func(*record, *loggedConfirmation){
		"text":                      func(_ *record, x *loggedConfirmation) { x.Evidence[0].Text = "We agreed that nothing is kept." },
		"the log holds no message":  func(_ *record, x *loggedConfirmation) { x.Evidence[0].MessageIndex = 7 },
		"does not prove":            func(_ *record, x *loggedConfirmation) { x.Evidence[0].Proven = false },
		"the log holds no such":     func(r *record, _ *loggedConfirmation) { r.confirmed = nil },
		"its evidence cannot be re": func(r *record, _ *loggedConfirmation) { r.rows[1].Evidence = "{" },
	} {
		r, x := fresh()
		spoil(r, x)
		findings := r.check().Findings
		require.NotEmpty(t, findings, says)
		problems := ""
		for _, f := range findings {
			problems += f.Problem + "\n"
		}
		require.Contains(t, problems, says)
	}
	r, _ = fresh()
	r.rows = r.rows[:1]
	require.Equal(t, 1, r.check().Tally.Unprojected)
}
