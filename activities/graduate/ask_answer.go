package graduate

import (
	"context"
	"fmt"

	"axiommind/activities/boundary"
	"axiommind/activities/evidence"
	"axiommind/activities/llm"
	"axiommind/schema"
)

// evidenceRule is the rule of proof for whole sentences.
const evidenceRule = evidence.Rule

// ask asks the model, a second time if its answer can't be parsed, and plans the resulting events.
func (q *question) ask(ctx context.Context) error {
	request := statedRequest(q.asked)
	labels := make([]string, len(q.asked))
	for i, e := range q.asked {
		labels[i] = e.label
	}
	archive := llm.NewArchive(q.a.log.Store, q.a.model)
	var unreadable error
	for _, key := range q.answerKeys() {
		answer, err := archive.Ask(ctx, llm.Question{Key: key, Request: request, Project: q.in.Project})
		q.result.Usage.Add(answer.Usage)
		if err != nil {
			return fmt.Errorf("ask about %d entries of project %q: %w", len(q.asked), q.in.Project, err)
		}
		verdicts, err := readVerdicts(answer, labels)
		if err == nil {
			return q.plan(verdicts, key)
		}
		unreadable = err
	}
	return boundary.Invalid(schema.ErrorModelUnreadable, fmt.Errorf(
		"ask about %d entries of project %q: neither of two answers of %s can be read: %w", len(q.asked), q.in.Project, q.result.Model, unreadable))
}

// plan plans the events that follow from the verdicts.
func (q *question) plan(verdicts map[string]verdict, answerKey string) error {
	for i, e := range q.asked {
		v := verdicts[e.label]
		var err error
		if v.yes {
			err = q.confirm(i, answerKey)
			q.count(q.place[i], AskConfirmed, v.reason)
		} else {
			err = q.doubt(i, v.reason, answerKey)
			q.count(q.place[i], AskDoubted, v.reason)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// confirm adds the whole sentences to the entry as evidence and promotes it to verified. No model promotes an entry
// further.
func (q *question) confirm(i int, answerKey string) error {
	row := q.rows[i]
	err := q.emit(schema.EntryConfirmedPayload{
		Scope: row.Scope, EntryID: row.ID, Model: q.result.Model, SessionID: row.EvidenceSessionID,
		Evidence: q.widened[i], EvidenceRule: evidenceRule, AnswerKey: answerKey,
	}, schema.EntryAnsweredKey(q.in.Project, row.ID, answerKey))
	if err != nil || reaches(row.Stage, schema.StageVerified) || q.a.options.IdrisOnly {
		return err
	}
	return q.emit(schema.EntryGraduatedPayload{
		Scope: row.Scope, EntryID: row.ID, From: row.Stage, To: schema.StageVerified, Policy: PolicyVersion,
		Reasons: []string{
			"its quotes were only found in their sentences; " + q.result.Model + ", asked for " + q.in.Actor + ", finds that these whole sentences state it",
			"with these sentences as evidence, no obligation fails",
		},
		Verifier: schema.VerifierGo,
	}, schema.GraduateOfCommandKey(q.in.Project, q.in.RequestID, len(q.events)))
}

func (q *question) doubt(i int, reason, answerKey string) error {
	row := q.rows[i]
	return q.emit(schema.EntryDoubtedPayload{
		Scope: row.Scope, EntryID: row.ID, Model: q.result.Model, Reason: reason, AnswerKey: answerKey,
	}, schema.EntryAnsweredKey(q.in.Project, row.ID, answerKey))
}

func (q *question) emit(payload any, key string) error {
	event, err := schema.NewEvent(payload, schema.Event{
		TS: q.in.At, Actor: q.result.Model, Project: q.in.Project, BuildID: q.in.RequestID, DedupeKey: key,
	})
	if err != nil {
		return err
	}
	q.events = append(q.events, event)
	return nil
}
