package build

import (
	"context"
	"fmt"
	"slices"

	"axiommind/activities/graduate"
	"axiommind/activities/graduate/idris"
	"axiommind/activities/graduate/obligation"
	"axiommind/schema"
)

// check checks the entries again if the build did. Builds of older programs did not.
func (r *replay) check(ctx context.Context) error {
	did := func(m schema.StepMetric) bool { return m.Step == schema.StepCheck }
	if !slices.ContainsFunc(r.finished.Metrics, did) || r.brokeOffDeriving() && !r.ran(schema.StepCheck) {
		return nil
	}
	recorded, err := r.compiler()
	if err != nil {
		return err
	}
	only := recorded != nil && recorded.Verifier == ""
	checked, err := graduate.CheckSession(ctx, r.log.Store, recordedCompiler{recorded}, only, graduate.CheckInput{
		SessionKey: r.started.SessionKey, BuildID: r.started.BuildID, At: r.startedAt,
	})
	if err != nil || r.brokeOffDeriving() {
		return err
	}
	r.counts.CandidateEntries, r.counts.VerifiedEntries, r.counts.PromotedEntries = checked.Candidates, checked.Verified, checked.Promoted
	return nil
}

// compiler returns the compiler's recorded result, or nil if the build did not ask it.
func (r *replay) compiler() (*schema.IdrisCheckedPayload, error) {
	for _, event := range slices.Backward(r.events) {
		if event.Type == schema.IdrisChecked {
			p, err := schema.Decode[schema.IdrisCheckedPayload](event)
			return &p, err
		}
	}
	return nil, nil
}

// recordedCompiler answers as the compiler did when the build ran.
type recordedCompiler struct{ *schema.IdrisCheckedPayload }

func (c recordedCompiler) Available() bool {
	return c.IdrisCheckedPayload != nil && c.Status != schema.CheckUnavailable
}

func (c recordedCompiler) Check(_ context.Context, m idris.Module) (idris.Result, error) {
	result := idris.Result{Status: idris.Unavailable, ModuleHash: m.Hash}
	if c.IdrisCheckedPayload == nil || c.Module != m.Hash {
		result.Reason = fmt.Sprintf("the build did not ask the compiler about module %s", m.Hash)
		return result, nil
	}
	result.Status, result.Reason = idris.Status(c.Status), c.Reason
	if c.Version != graduate.NoCompiler {
		result.Version = c.Version
	}
	if c.Verifier == schema.VerifierIdris {
		for _, f := range c.Failures {
			result.Failures = append(result.Failures, obligation.Failure(f))
		}
	}
	return result, nil
}
