package evidence

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"

	"axiommind/activities/eventlog"
	"axiommind/activities/transcript"
	"axiommind/schema"
)

// AuditScope narrows [Audit]. Empty fields do not.
type AuditScope struct{ Project, SessionID string }

// Audit re-checks every stored piece of evidence against the messages in the log: that of each
// evidence_aligned event is verified, an entry must have that of the event it was made from, and its
// row, given by stored in the order of session ids, that of the entry. It gives one session after the
// other in the order of their ids and holds no more than one. Sessions of which nothing is stored are
// left out. An error is the last thing given.
//
// It may run beside writers: of a session that grows meanwhile it sees what was there when it began
// to read, and perhaps more.
func Audit(ctx context.Context, log *eventlog.Store, stored iter.Seq2[Stored, error], scope AuditScope) iter.Seq2[SessionAudit, error] {
	return func(yield func(SessionAudit, error) bool) {
		for rows, err := range joinSessions(sessionNames(ctx, log, scope), stored) {
			if err != nil {
				yield(SessionAudit{}, err)
				return
			}
			audit, held, err := auditSession(ctx, log, rows, scope)
			if err != nil {
				yield(SessionAudit{}, err)
				return
			}
			if held && !yield(audit, nil) {
				return
			}
		}
	}
}

// sessionRows are the rows of a session.
type sessionRows struct {
	id   string
	rows []Stored
}

func sessionNames(ctx context.Context, log *eventlog.Store, scope AuditScope) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		if scope.SessionID != "" {
			yield(scope.SessionID, nil)
			return
		}
		prefix := schema.SessionStream("")
		for stream, err := range log.Streams(ctx, prefix) {
			if !yield(strings.TrimPrefix(stream.Name, prefix), err) || err != nil {
				return
			}
		}
	}
}

// joinSessions joins the sessions in the log with their rows, and with rows of no session in the log.
func joinSessions(names iter.Seq2[string, error], stored iter.Seq2[Stored, error]) iter.Seq2[sessionRows, error] {
	return func(yield func(sessionRows, error) bool) {
		next, stop := iter.Pull2(bySession(stored))
		defer stop()
		group, err, more := next()
		for name, nameErr := range names {
			for ; nameErr == nil && more && err == nil && group.id < name; group, err, more = next() {
				if !yield(group, nil) {
					return
				}
			}
			if err := errors.Join(nameErr, err); err != nil {
				yield(sessionRows{}, err)
				return
			}
			session := sessionRows{id: name}
			if more && group.id == name {
				session = group
				group, err, more = next()
			}
			if !yield(session, nil) {
				return
			}
		}
		for ; more; group, err, more = next() {
			if !yield(group, err) || err != nil {
				return
			}
		}
	}
}

// bySession collects rows that follow each other and are of one session.
func bySession(stored iter.Seq2[Stored, error]) iter.Seq2[sessionRows, error] {
	return func(yield func(sessionRows, error) bool) {
		var group sessionRows
		for row, err := range stored {
			if err != nil {
				yield(sessionRows{}, err)
				return
			}
			if row.SessionID != group.id && len(group.rows) > 0 {
				if !yield(group, nil) {
					return
				}
				group = sessionRows{}
			}
			group.id, group.rows = row.SessionID, append(group.rows, row)
		}
		if len(group.rows) > 0 {
			yield(group, nil)
		}
	}
}

// auditSession reads and checks one session. It reports whether anything is stored of it in scope.
func auditSession(ctx context.Context, log *eventlog.Store, s sessionRows, scope AuditScope) (SessionAudit, bool, error) {
	if scope.Project != "" {
		project, err := projectOf(ctx, log, s.id)
		if err != nil {
			return unreadable(s.id, err)
		}
		if project != "" && project != scope.Project {
			return foreign(s, project), len(s.rows) > 0, nil
		}
	}
	r, err := readRecord(ctx, log, s)
	if err != nil {
		return unreadable(s.id, err)
	}
	if len(r.logged.Messages)+len(r.aligned)+len(r.entries)+len(r.rows) == 0 ||
		scope.Project != "" && len(r.logged.Messages)+len(r.rows) == 0 {
		return SessionAudit{}, false, nil
	}
	return r.audit(), true, nil
}

// foreign is the audit of rows in the wrong project. The session itself is not looked at.
func foreign(s sessionRows, project string) SessionAudit {
	audit := SessionAudit{SessionID: s.id, Tally: NewTally()}
	for _, row := range s.rows {
		audit.Findings = append(audit.Findings, Finding{
			SessionID: s.id, EntryID: row.EntryID, StoredIn: StoredInTable, EventID: row.EventID,
			Problem: fmt.Sprintf("it stands in project %q, its session in %q", row.Project, project),
		})
	}
	audit.Tally.False = len(audit.Findings)
	return audit
}

// unreadable makes a session whose events were tampered with a finding, so that the others are
// checked too.
func unreadable(sessionID string, err error) (SessionAudit, bool, error) {
	if !errors.Is(err, eventlog.ErrCorrupt) {
		return SessionAudit{}, false, err
	}
	audit := SessionAudit{SessionID: sessionID, Tally: NewTally()}
	audit.Tally.Sessions, audit.Tally.False = 1, 1
	audit.Findings = []Finding{{SessionID: sessionID, Problem: err.Error()}}
	return audit, true, nil
}

// projectOf returns the project of the session, empty when the log holds no message of it.
func projectOf(ctx context.Context, log *eventlog.Store, sessionID string) (string, error) {
	options := eventlog.StreamOptions{Types: []string{schema.SessionIngested}, Limit: 1}
	for event, err := range log.Stream(ctx, schema.SessionStream(sessionID), options) {
		if err != nil {
			return "", fmt.Errorf("read session %q: %w", sessionID, err)
		}
		var scope schema.Scope
		if err := json.Unmarshal(event.Payload, &scope); err != nil {
			return "", fmt.Errorf("decode event %q: %w", event.ID, err)
		}
		return scope.Project, nil
	}
	return "", nil
}

// readRecord reads what the log holds of the session. Messages come last: whatever was read before refers
// to messages that were in the log by then.
func readRecord(ctx context.Context, log *eventlog.Store, s sessionRows) (*sessionRecord, error) {
	r := &sessionRecord{rows: s.rows, extracted: map[string][]schema.ExtractedEntry{}}
	options := eventlog.StreamOptions{Types: []string{schema.MemoryExtracted, schema.EvidenceAligned, schema.EntryMaterialized}}
	for event, err := range log.Stream(ctx, schema.SessionStream(s.id), options) {
		if err != nil {
			return nil, fmt.Errorf("read evidence of session %q: %w", s.id, err)
		}
		if err := r.add(event); err != nil {
			return nil, fmt.Errorf("decode event %q: %w", event.ID, err)
		}
	}
	var err error
	r.logged, err = transcript.ReadLogged(ctx, log, s.id)
	return r, err
}

func (r *sessionRecord) add(event schema.Event) error {
	switch event.Type {
	case schema.MemoryExtracted:
		var p schema.MemoryExtractedPayload
		if err := json.Unmarshal(event.Payload, &p); err != nil {
			return err
		}
		r.extracted[event.ID] = p.Entries
	case schema.EvidenceAligned:
		x := loggedAlignment{eventID: event.ID}
		if err := json.Unmarshal(event.Payload, &x.EvidenceAlignedPayload); err != nil {
			return err
		}
		r.aligned = append(r.aligned, x)
	case schema.EntryMaterialized:
		e := loggedEntry{eventID: event.ID}
		if err := json.Unmarshal(event.Payload, &e.EntryMaterializedPayload); err != nil {
			return err
		}
		r.entries = append(r.entries, e)
	}
	return nil
}
