package fact

import (
	"axiommind/activities/evidence"
	"axiommind/schema"
)

// ActorReviewer is the actor of events that follow from a model's answer about the facts of a memory.
const ActorReviewer = "fact_reviewer"

// remove plans the removal of a fact that a model's answer names. The fact is deleted if that is proven and the fact has
// not changed since it was shown to the model. Otherwise only the reason is recorded.
func (p *planner) remove(b Batch, r Removal) error {
	actor := p.actor
	p.actor = ActorReviewer
	defer func() { p.actor = actor }()
	key := schema.FactOfReviewKey(b.User, b.Agent, r.Answer, r.FactID)
	act := schema.Act{Reason: r.Reason}
	f := p.overlay.facts[r.FactID]
	refused, detail := r.Refused, r.Detail
	switch {
	case refused != "":
	case f.Status != Active:
		refused, detail = schema.SkippedRemovalGone, "the fact was gone when the answer was read"
	case f.Version != r.Version:
		refused, detail = schema.SkippedRemovalChanged, "the fact has changed since the model was shown it"
	default:
		return p.emit(key, r.At, schema.FactDeletedPayload{
			Act: act, FactID: r.FactID, Answer: r.Answer, Evidence: r.Evidence, EvidenceRule: evidence.Rule,
		})
	}
	return p.emit(key, r.At, schema.FactSkippedPayload{
		Act: act, Skipped: refused, Detail: detail, Content: f.Content, FactID: r.FactID, Answer: r.Answer,
	})
}
