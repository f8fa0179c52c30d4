package llm

import (
	"context"

	"axiommind/activities/session"
	"axiommind/schema"
)

// extractHere extracts from the planned windows and records the results, if the model is [Local]. The plan has no
// windows then.
func (a *Activities) extractHere(ctx context.Context, in PlanInput, s *session.Session, plan *PlanResult) error {
	if _, local := a.model.(Local); !local {
		return nil
	}
	record := RecordInput{SessionKey: in.SessionKey, BuildID: in.BuildID, Extractor: in.Extractor, At: in.At}
	events := make([]schema.Event, 0, len(plan.Windows))
	for _, w := range plan.Windows {
		p, err := a.readHere(ctx, s, ExtractInput{SessionKey: in.SessionKey, Extractor: in.Extractor, Window: w})
		if err != nil {
			return err
		}
		event, err := record.event(p)
		if err != nil {
			return err
		}
		events = append(events, event)
		plan.Recorded.count(p)
		plan.Recorded.add(p)
		plan.More = plan.More || !p.Answered() && !p.GivenUp()
	}
	plan.Windows = nil
	_, err := a.log.AppendAll(ctx, in.Stream(), events)
	return err
}

// readHere runs the model on the window.
func (a *Activities) readHere(ctx context.Context, s *session.Session, in ExtractInput) (schema.MemoryExtractedPayload, error) {
	p := schema.MemoryExtractedPayload{
		SessionID: in.SessionID, Window: in.Window, Extractor: in.Extractor, ResponseKeys: []string{},
		Entries: []schema.ExtractedEntry{}, Usage: schema.Usage{Calls: 1},
	}
	request, err := a.request(ctx, s, in)
	if err != nil {
		return p, err
	}
	response, err := a.model.Generate(ctx, request)
	if err != nil {
		return p, err
	}
	result, err := readResponse(response)
	if err != nil {
		p.Quarantined, p.QuarantinedType = err.Error(), schema.ErrorModelUnreadable
		return p, nil //nolint:nilerr // the event says it
	}
	p.Rejected, p.Truncated = result.Rejected, result.Truncated
	p.Entries = append(p.Entries, withActs(result.Entries, request.Window)...)
	if stated, ok := a.model.(person); ok {
		stated.correct(p.Entries)
	}
	return p, nil
}
