package llm

import (
	"context"

	"axiommind/activities/eventlog"
	"axiommind/activities/session"
	"axiommind/schema"
)

// Answers says which windows of a session have got their answers, themselves or in parts.
type Answers struct{ asked []extraction }

// ReadAnswers reads those of a session from the log.
func ReadAnswers(ctx context.Context, log *eventlog.Store, key schema.SessionKey) (answers Answers, err error) {
	for x, err := range extractions(ctx, log, key) {
		if err != nil {
			return Answers{}, err
		}
		answers.Add(x.MemoryExtractedPayload, x.buildID)
	}
	return answers, nil
}

// Add adds an extraction of the build. Extractions are added in the order of the log.
func (a *Answers) Add(p schema.MemoryExtractedPayload, buildID string) {
	p.Entries, p.Rejected = nil, nil
	a.asked = append(a.asked, extraction{p, buildID})
}

// To returns the build whose answer made the extractor's answers to the window complete. If some are missing, ok is
// false.
func (a *Answers) To(by schema.Extractor, w schema.Window) (buildID string, ok bool) {
	within := newLedger("")
	for _, x := range a.asked {
		if x.Extractor == by && w.Contains(x.Window) {
			within.add(x)
			if x.Answered() {
				buildID = x.buildID
			}
		}
	}
	for _, x := range within.last {
		if !x.Answered() && !within.halvesOf(x.Window).both() {
			return "", false
		}
	}
	return buildID, buildID != "" && within.from == session.Frontier{}.After(w)
}

// Again returns the last build that asked about the window again, for the rest of it or in parts.
func (a *Answers) Again(by schema.Extractor, w schema.Window) (buildID string, ok bool) {
	for _, x := range a.asked {
		same := windowKeyOf(x.Window) == windowKeyOf(w)
		if x.Extractor == by && w.Contains(x.Window) && (!same || x.Window.Asked > w.Asked) {
			buildID, ok = x.buildID, true
		}
	}
	return buildID, ok
}

// GivenUp counts the windows of all builds that the extractor which was asked last has given up, and has not answered
// since. A build that is forced to asks about them once more.
func (a *Answers) GivenUp() (n int) {
	if len(a.asked) == 0 {
		return 0
	}
	by, seen := a.asked[len(a.asked)-1].Extractor, newLedger("")
	for _, x := range a.asked {
		if x.Extractor == by {
			seen.add(x)
		}
	}
	for _, f := range seen.decide() {
		if f == givenUp {
			n++
		}
	}
	return n
}
