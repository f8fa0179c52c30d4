package main_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"axiommind/activities/graduate"
	"axiommind/schema"
)

// awaitGraduated waits until graduation has considered every session, whatever is away meanwhile. Sessions do not wait
// for that.
func (b *bench) awaitGraduated(ctx context.Context, t testing.TB) {
	t.Helper()
	ledgers := graduate.NewLedgers(b.ClickHouse)
	var waiting int
	var err error
	if !within(ctx, func() bool {
		waiting, err = ledgers.Waiting(ctx, b.project)
		return err == nil && waiting == 0
	}) {
		t.Fatalf("%d sessions wait for graduation: %v", waiting, err)
	}
}

// graduated is the final result of graduation. The steps to it depend on which sessions a pass finds together, which
// end in another order each time.
var graduated = map[string]string{
	"stages":    "SELECT toString((entry_id, stage, status, superseded_by, original_id, conflicts)) AS row FROM entries ORDER BY row",
	"conflicts": "SELECT toString((conflict_id, older_id, newer_id, conflict_type, reason, resolved_at IS NULL, kept)) AS row FROM conflicts ORDER BY row",
	"decisions": `SELECT toString((d.decision_id, d.ts, d.action, e.evidence_id, e.role)) AS row FROM decisions AS d
		INNER JOIN decision_evidence AS e ON e.decision_id = d.decision_id ORDER BY row`,
}

// Graduation considers missed and unfinished sessions once a worker starts.
func TestI2GraduationIsWoken(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	soon := b.cfg.Timing.Graduation
	b.cfg.Timing.Graduation = time.Hour
	stop := b.start(t)
	b.process(t, b.input("세션 'one'", eventful(t, 1)))
	stop()
	b.cfg.Timing.Graduation = soon
	writer := schema.WorkflowID(schema.GraduateStream(b.project))
	require.NoError(t, b.Temporal.TerminateWorkflow(t.Context(), writer, "", "as if nobody had told it"))
	waiting, err := graduate.NewLedgers(b.ClickHouse).Waiting(t.Context(), b.project)
	require.NoError(t, err)
	require.Equal(t, 1, waiting)
	b.start(t)
	b.awaitGraduated(t.Context(), t)
	require.NotEmpty(t, column(t, b.ClickHouse, "SELECT decision_id FROM decisions"))
}

// lifted returns the counts of a build whose entries are new, proven and therefore verified.
func lifted(c schema.BuildCounts) schema.BuildCounts {
	c.CandidateEntries, c.VerifiedEntries, c.PromotedEntries = c.ProvenEntries, c.ProvenEntries, c.ProvenEntries
	return c
}
