package graduate

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"axiommind/activities/clickhouse"
	"axiommind/activities/graduate/pair"
	"axiommind/activities/projection"
	"axiommind/schema"
)

// Projector writes the ledgers: promotions, checks, decisions, conflicts, the lookup keys of statements, and the
// checkpoint of graduation for each session. No session waits for it: a pass of graduation projects the events of many
// sessions at once.
type Projector struct{ conn clickhouse.Conn }

// NewProjector returns a projector that writes through the connection.
func NewProjector(conn clickhouse.Conn) *Projector { return &Projector{conn: conn} }

// ProjectorName is the name of the projection.
const ProjectorName = "graduation"

// Name is the name of the projector's offsets.
func (*Projector) Name() string { return ProjectorName }

// projectorVersion counts the changes of the content of rows, apart from changes of the keys of claims.
const projectorVersion = 3

// Version also changes with the lookup keys of statements.
func (*Projector) Version() uint32 { return projectorVersion*1000 + pair.Version }

// Types are the types of the events that the ledgers record.
func (*Projector) Types() []string {
	return []string{
		schema.EntryMaterialized, schema.IdrisChecked, schema.EntriesPromoted, schema.SessionGraduated,
		schema.EntryGraduated, schema.ConflictDetected, schema.ConflictResolved, schema.DecisionRecorded,
		schema.PairsJudged,
	}
}

// StreamPrefix matches all streams: checks are in the session's stream, and acts across sessions in the project's
// stream.
func (*Projector) StreamPrefix() string { return "" }

// Tables are the ledgers.
func (*Projector) Tables() []projection.Table {
	return []projection.Table{
		{Name: "promotions_raw"}, {Name: "checks_raw"}, {Name: "decisions_raw"}, {Name: "decision_evidence_raw"},
		{Name: "conflicts_raw"}, {Name: "conflict_resolutions_raw"}, {Name: "claims_raw"}, {Name: "graduated_sessions_raw"},
		{Name: "judged_pairs_raw"},
	}
}

// The tables of the ledgers with their columns.
const (
	intoPromotions = `promotions_raw (project, entry_id, event_id, ts, from_stage, to_stage, demotes, policy, verifier,
		checked_event_id, actor, reasons, sources, user, agent, stream, version)`
	intoChecks = `checks_raw (project, user, agent, session_id, event_id, ts, module, entries, status, idris_version,
		verifier, failures_json, reason, build_id, version)`
	intoDecisions = `decisions_raw (project, user, agent, decision_id, ts, actor, action, confidence, statement_id,
		build_id, event_id, created_at, version)`
	intoDecisionEvidence = `decision_evidence_raw (project, id, decision_id, evidence_kind, evidence_id, evidence_stage,
		role, version)`
	intoConflicts = `conflicts_raw (project, user, agent, conflict_id, older_id, newer_id, conflict_type, reason,
		model, detected_at, event_id, version)`
	intoResolutions = `conflict_resolutions_raw (project, conflict_id, resolved_at, kept, resolution, resolved_by,
		event_id, version)`
	intoClaims   = `claims_raw (project, user, agent, claim_key, entry_id, version)`
	intoSessions = `graduated_sessions_raw (project, stream, seq, head, policy, rule, version)`
	intoJudged   = `judged_pairs_raw (project, user, agent, pair_id, older_id, newer_id, model, prompt, verdict, reason, ts,
		event_id, version)`
)

// ledgerRows are the rows to insert, by table.
type ledgerRows map[string][][]any

func (r ledgerRows) add(into string, row ...any) { r[into] = append(r[into], row) }

// Apply writes the rows of the events.
func (p *Projector) Apply(ctx context.Context, events []schema.Event) error {
	rows := ledgerRows{}
	for _, event := range events {
		if err := rows.of(event); err != nil {
			return err
		}
	}
	for _, into := range []string{
		intoPromotions, intoChecks, intoDecisionEvidence, intoDecisions, intoConflicts, intoResolutions, intoClaims, intoSessions,
		intoJudged,
	} {
		if err := clickhouse.Insert(ctx, p.conn, into, rows[into]); err != nil {
			return err
		}
	}
	return nil
}

func (r ledgerRows) of(event schema.Event) error {
	payload, err := schema.DecodePayload(event)
	if err != nil {
		return err
	}
	switch p := payload.(type) {
	case schema.EntryMaterializedPayload:
		return r.claims(event, p.Entry)
	case schema.IdrisCheckedPayload:
		return r.check(event, p)
	case schema.EntriesPromotedPayload:
		return r.promotions(event, p)
	}
	project, err := schema.ParseGraduateStream(event.Stream)
	if err != nil {
		return fmt.Errorf("read event %q: %w", event.ID, err)
	}
	switch p := payload.(type) {
	case schema.SessionGraduatedPayload:
		r.add(intoSessions, project, p.Stream(), p.Seq, p.Head, uint32(p.Policy), uint32(p.Rule), event.Seq)
	case schema.EntryGraduatedPayload:
		r.add(intoPromotions, project, p.EntryID, event.ID, event.TS, string(p.From), string(p.To), p.Demotes,
			uint32(p.Policy), p.Verifier, "", event.Actor, p.Reasons, p.Sources, p.User, p.Agent, event.Stream, event.Seq)
	case schema.ConflictDetectedPayload:
		r.add(intoConflicts, project, p.User, p.Agent, p.ConflictID, p.OlderID, p.NewerID, p.ConflictType, p.Reason,
			p.Model, event.TS, event.ID, event.Seq)
	case schema.ConflictResolvedPayload:
		r.add(intoResolutions, project, p.ConflictID, event.TS, p.Kept, p.Because, p.By, event.ID, event.Seq)
	case schema.PairsJudgedPayload:
		for _, judged := range p.Pairs {
			r.add(intoJudged, project, p.User, p.Agent, schema.ConflictID(project, judged.OlderID, judged.NewerID), judged.OlderID,
				judged.NewerID, p.Model, p.Prompt, string(judged.Verdict), judged.Reason, event.TS, event.ID, event.Seq)
		}
	case schema.DecisionRecordedPayload:
		r.decision(event, project, p)
	default:
		return fmt.Errorf("read event %q: %s has nothing for the ledgers", event.ID, event.Type)
	}
	return nil
}

// claims takes the owner of the entry from its stream, which no payload can override. Tasks have conflicts of their
// own.
func (r ledgerRows) claims(event schema.Event, e schema.Entry) error {
	session, err := schema.ParseSessionStream(event.Stream)
	if err != nil {
		return fmt.Errorf("read event %q: %w", event.ID, err)
	}
	if e.Type == schema.EntryTaskNote {
		return nil
	}
	keys := pair.Keys(e.Title)
	if e.Corrects != "" {
		keys = append(keys, correctsKey(e.Corrects))
	}
	for _, key := range keys {
		r.add(intoClaims, session.Project, session.User, session.Agent, key, e.ID, event.Seq)
	}
	return nil
}

// correctsKey is the lookup key for the entries that correct the one with the id.
func correctsKey(entryID string) string { return "corrects:" + entryID }

func (r ledgerRows) check(event schema.Event, p schema.IdrisCheckedPayload) error {
	session, err := schema.ParseSessionStream(event.Stream)
	if err != nil {
		return fmt.Errorf("read event %q: %w", event.ID, err)
	}
	failures, err := json.Marshal(p.Failures)
	if err != nil {
		return fmt.Errorf("encode failures of event %q: %w", event.ID, err)
	}
	r.add(intoChecks, session.Project, session.User, session.Agent, session.SessionID, event.ID, event.TS, p.Module,
		uint32(p.Entries), string(p.Status), p.Version, p.Verifier, string(failures), p.Reason, event.BuildID, event.Seq)
	return nil
}

func (r ledgerRows) promotions(event schema.Event, p schema.EntriesPromotedPayload) error {
	session, err := schema.ParseSessionStream(event.Stream)
	if err != nil {
		return fmt.Errorf("read event %q: %w", event.ID, err)
	}
	for _, step := range promotionsOf(event, p) {
		r.add(intoPromotions, session.Project, step.EntryID, step.EventID, step.At, string(step.From), string(step.To), step.Demotes,
			uint32(step.Policy), step.Verifier, step.CheckedEventID, step.Actor, step.Reasons, []string{},
			session.User, session.Agent, step.Stream, event.Seq)
	}
	return nil
}

func (r ledgerRows) decision(event schema.Event, project string, p schema.DecisionRecordedPayload) {
	statement := ""
	if i := slices.IndexFunc(p.Evidence, func(e schema.DecisionEvidence) bool { return e.Role == schema.RoleStatement }); i >= 0 {
		statement = p.Evidence[i].ID
	}
	r.add(intoDecisions, project, p.User, p.Agent, p.DecisionID, event.TS, p.By, p.Action, p.Confidence, statement, event.BuildID,
		event.ID, event.TS, event.Seq)
	for _, e := range p.Evidence {
		r.add(intoDecisionEvidence, project, schema.DerivedID("decision_evidence", p.DecisionID, e.ID), p.DecisionID,
			e.Kind, e.ID, string(e.Stage), e.Role, event.Seq)
	}
}
