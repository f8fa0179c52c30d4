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
// other in the order of their ids and holds no more than one, and a page of events and rows. Sessions
// of which nothing is stored are left out. An error is the last thing given.
//
// It may run beside writers: of a session that grows meanwhile it sees what was there when it began
// to read, and perhaps more.
func Audit(ctx context.Context, log *eventlog.Store, stored iter.Seq2[Stored, error], scope AuditScope) iter.Seq2[SessionAudit, error] {
	return func(yield func(SessionAudit, error) bool) {
		for s, err := range joinSessions(loggedSessions(ctx, log, scope), stored) {
			if err != nil {
				yield(SessionAudit{}, err)
				return
			}
			audit, held, err := auditSession(ctx, log, s, scope)
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

// heldSession is a session, its rows, and what the log holds of it; nil when that is still to be read.
type heldSession struct {
	id     string
	rows   []Stored
	record *sessionRecord
}

// auditTypes are the events that evidence is in, or that it refers to.
var auditTypes = []string{schema.SessionIngested, schema.MemoryExtracted, schema.EvidenceAligned, schema.EntryMaterialized}

// loggedSessions gives the sessions in the log in the order of their ids. After an event that was tampered
// with it gives ids alone: then each session is to be read by itself.
func loggedSessions(ctx context.Context, log *eventlog.Store, scope AuditScope) iter.Seq2[heldSession, error] {
	return func(yield func(heldSession, error) bool) {
		if scope.SessionID != "" {
			yield(heldSession{id: scope.SessionID}, nil)
			return
		}
		done, err := replayed(ctx, log, scope, yield)
		if err == nil {
			return
		}
		if !errors.Is(err, eventlog.ErrCorrupt) {
			yield(heldSession{}, err)
			return
		}
		prefix := schema.SessionStream("")
		for stream, err := range log.Streams(ctx, prefix) {
			id := strings.TrimPrefix(stream.Name, prefix)
			if err == nil && id <= done {
				continue
			}
			if !yield(heldSession{id: id}, err) || err != nil {
				return
			}
		}
	}
}

// replayed gives the sessions with their records, which it collects from all events in order, and
// returns the last id it gave.
func replayed(ctx context.Context, log *eventlog.Store, scope AuditScope, yield func(heldSession, error) bool) (done string, err error) {
	prefix := schema.SessionStream("")
	var s heldSession
	for event, err := range log.Replay(ctx, eventlog.ReplayOptions{Types: auditTypes, StreamPrefix: prefix}) {
		if err != nil {
			return done, fmt.Errorf("read evidence: %w", err)
		}
		if scope.Project != "" && event.Project != "" && event.Project != scope.Project {
			continue
		}
		if id := strings.TrimPrefix(event.Stream, prefix); s.record == nil || id != s.id {
			if s.record != nil {
				if done = s.id; !yield(s, nil) {
					return done, nil
				}
			}
			s = heldSession{id: id, record: newSessionRecord(id)}
		}
		if err := s.record.add(event); err != nil {
			return done, err
		}
	}
	if s.record != nil {
		yield(s, nil)
	}
	return s.id, nil
}

// joinSessions gives the sessions in the log with their rows, and the rows of other sessions.
func joinSessions(logged iter.Seq2[heldSession, error], stored iter.Seq2[Stored, error]) iter.Seq2[heldSession, error] {
	return func(yield func(heldSession, error) bool) {
		next, stop := iter.Pull2(bySession(stored))
		defer stop()
		group, err, more := next()
		for s, logErr := range logged {
			for ; logErr == nil && more && err == nil && group.id < s.id; group, err, more = next() {
				if !yield(group, nil) {
					return
				}
			}
			if err := errors.Join(logErr, err); err != nil {
				yield(heldSession{}, err)
				return
			}
			if more && group.id == s.id {
				s.rows = group.rows
				group, err, more = next()
			}
			if !yield(s, nil) {
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
func bySession(stored iter.Seq2[Stored, error]) iter.Seq2[heldSession, error] {
	return func(yield func(heldSession, error) bool) {
		var group heldSession
		for row, err := range stored {
			if err != nil {
				yield(heldSession{}, err)
				return
			}
			if row.SessionID != group.id && len(group.rows) > 0 {
				if !yield(group, nil) {
					return
				}
				group = heldSession{}
			}
			group.id, group.rows = row.SessionID, append(group.rows, row)
		}
		if len(group.rows) > 0 {
			yield(group, nil)
		}
	}
}

// auditSession checks one session, and reports whether anything is stored of it in scope. What is
// wrong is looked at again by itself: a writer may have added to the log since it was read.
func auditSession(ctx context.Context, log *eventlog.Store, s heldSession, scope AuditScope) (SessionAudit, bool, error) {
	if s.record != nil && (scope.Project == "" || scope.Project == s.record.logged.Project) {
		s.record.rows = s.rows
		if audit := s.record.audit(); len(audit.Findings) == 0 {
			return audit, true, nil
		}
	}
	if scope.Project != "" {
		project, err := projectOf(ctx, log, s.id)
		if err != nil {
			return unreadable(s.id, err)
		}
		if project != scope.Project {
			return foreign(s, project), len(s.rows) > 0, nil
		}
	}
	r, err := readRecord(ctx, log, s)
	if err != nil {
		return unreadable(s.id, err)
	}
	if r.empty() {
		return SessionAudit{}, false, nil
	}
	return r.audit(), true, nil
}

// foreign is the audit of rows in the wrong project, the session's own being empty when the log holds
// no message of it. The session itself is not looked at.
func foreign(s heldSession, project string) SessionAudit {
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

// readRecord reads what the log holds of the session.
func readRecord(ctx context.Context, log *eventlog.Store, s heldSession) (*sessionRecord, error) {
	r := newSessionRecord(s.id)
	r.rows = s.rows
	for event, err := range log.Stream(ctx, schema.SessionStream(s.id), eventlog.StreamOptions{Types: auditTypes}) {
		if err != nil {
			return nil, fmt.Errorf("read evidence of session %q: %w", s.id, err)
		}
		if err := r.add(event); err != nil {
			return nil, err
		}
	}
	return r, nil
}

func newSessionRecord(id string) *sessionRecord {
	return &sessionRecord{logged: &transcript.Logged{ID: id}, extracted: map[string][]schema.ExtractedEntry{}}
}

// empty reports whether nothing is held of the session.
func (r *sessionRecord) empty() bool {
	return len(r.logged.Messages)+len(r.aligned)+len(r.entries)+len(r.rows) == 0
}

// add adds the session's next event.
func (r *sessionRecord) add(event schema.Event) error {
	var err error
	switch event.Type {
	case schema.SessionIngested:
		return r.logged.Add(event)
	case schema.MemoryExtracted:
		var p schema.MemoryExtractedPayload
		err = json.Unmarshal(event.Payload, &p)
		r.extracted[event.ID] = p.Entries
	case schema.EvidenceAligned:
		x := loggedAlignment{eventID: event.ID}
		err = json.Unmarshal(event.Payload, &x.EvidenceAlignedPayload)
		r.aligned = append(r.aligned, x)
	case schema.EntryMaterialized:
		e := loggedEntry{eventID: event.ID}
		err = json.Unmarshal(event.Payload, &e.EntryMaterializedPayload)
		r.entries = append(r.entries, e)
	}
	if err != nil {
		return fmt.Errorf("decode event %q: %w", event.ID, err)
	}
	return nil
}
