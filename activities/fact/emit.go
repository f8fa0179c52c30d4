package fact

import (
	"fmt"
	"math"
	"time"

	"axiommind/schema"
)

// emit plans an event under a dedupe key that names the act.
func (p *planner) emit(key string, at time.Time, payload any) error {
	event, err := schema.NewEvent(payload, schema.Event{
		TS: at, Actor: p.actor, SessionID: p.session, Project: p.project, BuildID: p.build, DedupeKey: key,
	})
	if err != nil {
		return err
	}
	return p.overlay.plan(event)
}

func (p *planner) idOf(x proposal) (string, error) {
	return freeID(x.key, func(id string) bool { return p.overlay.facts[id].Exists() })
}

func confidenceOf(x proposal) float64 {
	if x.confidence == nil {
		return DefaultConfidence
	}
	return *x.confidence
}

func validConfidence(c float64) bool { return c >= 0 && c <= 1 } // NaN is neither.

func (p *planner) skip(x proposal, payload schema.FactSkippedPayload) error {
	payload.Act, payload.Content, payload.Category, payload.Section = x.act, x.content, x.category, x.section
	if c := x.confidence; c != nil && !math.IsNaN(*c) && !math.IsInf(*c, 0) {
		payload.Confidence = c
	}
	return p.emit(x.key, x.at, payload)
}

// skip returns the record of a proposal that is not stored.
func skip(reason, format string, args ...any) *schema.FactSkippedPayload {
	return &schema.FactSkippedPayload{Skipped: reason, Detail: fmt.Sprintf(format, args...)}
}
