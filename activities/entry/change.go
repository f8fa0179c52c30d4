package entry

import (
	"cmp"
	"encoding/json"
	"fmt"

	"axiommind/schema"
)

// Kinds of rows of entry_changes_raw: see its migration.
const (
	kindEvidence       = "evidence"
	kindStatus         = "status"
	kindStage          = "stage"
	kindGraduateStatus = "graduate_status"
	kindGraduateStage  = "graduate_stage"
	kindLink           = "link"
	kindConflict       = "conflict"
	kindAnswer         = "answer"
)

// change is a change of an entry by an event: a row of entry_changes_raw. Fields that its kind does not use are zero.
type change struct {
	scope     schema.Scope
	sessionID string
	entryID   string
	kind, ref string
	index     int

	own             bool
	aligned, proven bool
	rule            int

	status      schema.Status
	stage       schema.Stage
	demotes     bool
	other       string
	because, by string
	evidence    string
}

const changeColumns = `project, entry_id, kind, ref, extracted_index, own, evidence_json, evidence_aligned, evidence_proven,
	evidence_rule, status, stage, demotes, other_id, because, by, user, agent, session_id, build_id,
	stream, event_id, created_at, version`

func (c change) row(event schema.Event) []any {
	return []any{
		c.scope.Project, c.entryID, c.kind, c.ref, uint32(c.index), c.own, c.evidence, c.aligned, c.proven,
		uint32(c.rule), string(c.status), string(c.stage), c.demotes, c.other, c.because, c.by,
		c.scope.User, c.scope.Agent, c.sessionID, event.BuildID, event.Stream, event.ID, event.TS, event.Seq,
	}
}

// changesOf returns the changes of entries in the event.
func changesOf(event schema.Event) ([]change, error) {
	switch event.Type {
	case schema.EntryEvidenceSet, schema.EntryStatusSet, schema.EntriesPromoted:
		return ofSession(event)
	default:
		return ofGraduation(event)
	}
}

// ofSession takes whose the entries are from the stream alone, which no payload can gainsay.
func ofSession(event schema.Event) ([]change, error) {
	session, err := schema.ParseSessionStream(event.Stream)
	if err != nil {
		return nil, fmt.Errorf("read event %q: %w", event.ID, err)
	}
	at := change{scope: session.Scope, sessionID: session.SessionID}
	switch event.Type {
	case schema.EntryEvidenceSet:
		p, err := schema.Decode[schema.EntryEvidenceSetPayload](event)
		if err != nil {
			return nil, err
		}
		c := at
		c.entryID, c.kind, c.ref, c.index, c.own = p.EntryID, kindEvidence, p.ExtractedEventID, p.Index, p.Own
		return c.judged(p.Evidence, p.EvidenceAligned, p.EvidenceProven, p.Rule)
	case schema.EntryStatusSet:
		p, err := schema.Decode[schema.EntryStatusSetPayload](event)
		if err != nil {
			return nil, err
		}
		c := at
		c.entryID, c.kind, c.status, c.other = p.EntryID, kindStatus, p.Status, p.SupersededBy
		return []change{c}, nil
	default:
		p, err := schema.Decode[schema.EntriesPromotedPayload](event)
		if err != nil {
			return nil, err
		}
		out := make([]change, len(p.Promotions))
		for i, promotion := range p.Promotions {
			c := at
			c.entryID, c.kind, c.stage = promotion.EntryID, kindStage, promotion.To
			out[i] = c
		}
		return out, nil
	}
}

// judged returns the change with the evidence and its judgement.
func (c change) judged(evidence []schema.Evidence, aligned, proven bool, rule int) ([]change, error) {
	data, err := json.Marshal(evidence)
	if err != nil {
		return nil, fmt.Errorf("encode evidence of entry %q: %w", c.entryID, err)
	}
	c.evidence, c.aligned, c.proven, c.rule = string(data), aligned, proven, rule
	return []change{c}, nil
}

// ofGraduation takes the project from the stream. It is the one that the user and the agent of the payload are of.
func ofGraduation(event schema.Event) ([]change, error) {
	project, err := schema.ParseGraduateStream(event.Stream)
	if err != nil {
		return nil, fmt.Errorf("read event %q: %w", event.ID, err)
	}
	payload, err := schema.DecodePayload(event)
	if err != nil {
		return nil, err
	}
	of := func(s schema.Scope, entryID, kind string) change {
		s.Project = project
		return change{scope: s, entryID: entryID, kind: kind}
	}
	switch p := payload.(type) {
	case schema.EntryGraduatedPayload:
		c := of(p.Scope, p.EntryID, kindGraduateStage)
		c.stage, c.demotes = p.To, p.Demotes
		return []change{c}, nil
	case schema.EntryConfirmedPayload:
		return confirmedBy(p, of, event.ID)
	case schema.EntryDoubtedPayload:
		c := of(p.Scope, p.EntryID, kindAnswer)
		c.ref, c.by, c.because, c.status, c.other = event.ID, p.Model, p.Reason, answerNo, cmp.Or(p.AnswerKey, p.Model)
		return []change{c}, nil
	case schema.EntryLinkedPayload:
		c := of(p.Scope, p.EntryID, kindLink)
		c.other = p.OriginalID
		return []change{c}, nil
	case schema.EntryRetiredPayload:
		c := of(p.Scope, p.EntryID, kindGraduateStatus)
		c.status, c.other, c.because, c.by = p.Status, p.SupersededBy, p.Because, p.By
		return []change{c}, nil
	case schema.EntryRestoredPayload:
		c := of(p.Scope, p.EntryID, kindGraduateStatus)
		c.status, c.because, c.by = schema.StatusActive, p.Because, p.By
		return []change{c}, nil
	case schema.ConflictDetectedPayload:
		return sidesOf(of, p.Scope, p.ConflictID, p.OlderID, p.NewerID, schema.StatusContested), nil
	case schema.ConflictResolvedPayload:
		return sidesOf(of, p.Scope, p.ConflictID, p.OlderID, p.NewerID, schema.StatusActive), nil
	default:
		return nil, fmt.Errorf("read event %q: %s says nothing of entries", event.ID, event.Type)
	}
}

// Values of status in rows of the kind answer.
const (
	answerYes schema.Status = "yes"
	answerNo  schema.Status = "no"
)

// confirmedBy records who found the entry stated. If it was not proven before, it is another judgement of its evidence,
// of an origin of its own.
func confirmedBy(p schema.EntryConfirmedPayload, of func(schema.Scope, string, string) change, eventID string) ([]change, error) {
	answer := of(p.Scope, p.EntryID, kindAnswer)
	answer.ref, answer.status, answer.by = eventID, answerYes, p.By
	if p.Model != "" {
		answer.by, answer.other = p.Model, cmp.Or(p.AnswerKey, p.Model)
	}
	if len(p.Evidence) == 0 {
		return []change{answer}, nil
	}
	gained := of(p.Scope, p.EntryID, kindEvidence)
	gained.ref, gained.sessionID, gained.by = eventID, p.SessionID, answer.by
	out, err := gained.judged(p.Evidence, true, true, p.EvidenceRule)
	return append(out, answer), err
}

// sidesOf says of both sides of a conflict whether it contests them.
func sidesOf(of func(schema.Scope, string, string) change, s schema.Scope, conflict, older, newer string, status schema.Status) []change {
	out := make([]change, 2)
	for i, side := range [][2]string{{older, newer}, {newer, older}} {
		c := of(s, side[0], kindConflict)
		c.ref, c.other, c.status = conflict, side[1], status
		out[i] = c
	}
	return out
}
