package audit

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"

	"axiommind/activities/eventlog"
	"axiommind/schema"
)

// Walk checks all stored evidence against the messages in the log. The evidence in each evidence_aligned event is
// verified under the rule that the event names. An entry and its later judgements must have the evidence of the event
// that they were made from, and the entry's rows must have the evidence of the entry. The rows come from stored, in
// the order of streams. Walk reads the log and the rows once and yields one session after the other in that order. It
// holds one session, and one page of events and rows, in memory. Sessions without stored evidence are left out. Walk
// stops after an error.
//
// Empty fields of the scope restrict nothing. Walk may run while others write: for a session that grows meanwhile it
// sees at least the state when it began to read.
func Walk(ctx context.Context, log *eventlog.Store, stored iter.Seq2[Stored, error], scope schema.SessionKey) iter.Seq2[SessionAudit, error] {
	return func(yield func(SessionAudit, error) bool) {
		r := reader{log: log, scope: scope, types: auditTypes}
		var err error
		if r.confirmed, err = confirmedOf(ctx, log, scope.Project); err != nil {
			yield(SessionAudit{}, err)
			return
		}
		for s, err := range joinSessions(r.sessions(ctx), stored) {
			if err != nil {
				yield(SessionAudit{}, err)
				return
			}
			audit, held, err := r.audit(ctx, s)
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

// loadedSession is a session with its rows and its record from the log, which is nil if it has not been read yet.
type loadedSession struct {
	stream string
	rows   []Stored
	record *record
}

// auditTypes are the types of the events that hold evidence or that evidence refers to.
var auditTypes = []string{
	schema.SessionIngested, schema.MemoryExtracted, schema.EvidenceAligned,
	schema.EntryMaterialized, schema.EntryEvidenceSet,
}

// reader reads the events of these types in the scope.
type reader struct {
	log   *eventlog.Store
	scope schema.SessionKey
	types []string
	// confirmed are the confirmations with evidence, by the stream of the quoted session.
	confirmed map[string][]loggedConfirmation
}

// sessions yields the sessions in the log in the order of their streams. If a single session id is asked for, and
// after an event that was tampered with, it yields names only. Each of those sessions has to be read by itself.
func (r reader) sessions(ctx context.Context) iter.Seq2[loadedSession, error] {
	return func(yield func(loadedSession, error) bool) {
		done := ""
		if r.scope.SessionID == "" {
			var err error
			if done, err = r.replayed(ctx, yield); err == nil {
				return
			}
			if !errors.Is(err, eventlog.ErrCorrupt) {
				yield(loadedSession{}, err)
				return
			}
		}
		for stream, err := range r.log.Streams(ctx, streamPrefix(r.scope)) {
			if err == nil && (stream.Name <= done || !inScope(stream.Name, r.scope)) {
				continue
			}
			if !yield(loadedSession{stream: stream.Name}, err) || err != nil {
				return
			}
		}
	}
}

// replayed yields the sessions with their records, collected from all events in order, and returns the last stream it
// yielded.
func (r reader) replayed(ctx context.Context, yield func(loadedSession, error) bool) (done string, err error) {
	var s loadedSession
	for event, err := range r.log.Replay(ctx, eventlog.ReplayOptions{Types: r.types, StreamPrefix: streamPrefix(r.scope)}) {
		if err != nil {
			return done, fmt.Errorf("read evidence: %w", err)
		}
		if !inScope(event.Stream, r.scope) {
			continue
		}
		if s.record == nil || event.Stream != s.stream {
			if s.record != nil {
				if done = s.stream; !yield(s, nil) {
					return done, nil
				}
			}
			s = loadedSession{stream: event.Stream, record: newRecord(event.Stream)}
		}
		if err := s.record.add(event); err != nil {
			return done, err
		}
	}
	if s.record != nil {
		yield(s, nil)
	}
	return s.stream, nil
}

// joinSessions joins the sessions in the log with their rows. It also yields the rows of sessions that are not in the
// log.
func joinSessions(logged iter.Seq2[loadedSession, error], stored iter.Seq2[Stored, error]) iter.Seq2[loadedSession, error] {
	return func(yield func(loadedSession, error) bool) {
		next, stop := iter.Pull2(bySession(stored))
		defer stop()
		group, err, more := next()
		for s, logErr := range logged {
			for ; logErr == nil && more && err == nil && group.stream < s.stream; group, err, more = next() {
				if !yield(group, nil) {
					return
				}
			}
			if err := errors.Join(logErr, err); err != nil {
				yield(loadedSession{}, err)
				return
			}
			if more && group.stream == s.stream {
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

// bySession groups consecutive rows of one session.
func bySession(stored iter.Seq2[Stored, error]) iter.Seq2[loadedSession, error] {
	return func(yield func(loadedSession, error) bool) {
		var group loadedSession
		for row, err := range stored {
			if err != nil {
				yield(loadedSession{}, err)
				return
			}
			if row.Stream != group.stream && len(group.rows) > 0 {
				if !yield(group, nil) {
					return
				}
				group = loadedSession{}
			}
			group.stream, group.rows = row.Stream, append(group.rows, row)
		}
		if len(group.rows) > 0 {
			yield(group, nil)
		}
	}
}

// audit checks one session and reports whether it has stored evidence. A session with findings is read and checked
// again, because a writer may have added to the log since.
func (r reader) audit(ctx context.Context, s loadedSession) (SessionAudit, bool, error) {
	if s.record != nil {
		s.record.rows, s.record.confirmed = s.rows, r.confirmed[s.stream]
		if audit := s.record.check(); len(audit.Findings) == 0 {
			return audit, true, nil
		}
	}
	if !inScope(s.stream, r.scope) {
		return foreign(s), len(s.rows) > 0, nil
	}
	held, err := r.read(ctx, s.stream)
	if err != nil {
		return unreadable(s.stream, err)
	}
	held.rows, held.confirmed = s.rows, r.confirmed[s.stream]
	if held.empty() {
		return SessionAudit{}, false, nil
	}
	return held.check(), true, nil
}

// foreign audits rows in the scope whose session is outside of it. The session itself is not checked.
func foreign(s loadedSession) SessionAudit {
	session := sessionOf(s.stream)
	audit := SessionAudit{SessionID: session.SessionID, Tally: NewTally()}
	for _, row := range s.rows {
		audit.Findings = append(audit.Findings, Finding{
			SessionID: session.SessionID, EntryID: row.EntryID, StoredIn: StoredInTable, EventID: row.EventID,
			Problem: fmt.Sprintf("it is in project %q, its session in %q", row.Project, session.Project),
		})
	}
	audit.Tally.False = len(audit.Findings)
	return audit
}

// unreadable turns an error about tampered events into a finding, so that the other sessions are still checked.
func unreadable(stream string, err error) (SessionAudit, bool, error) {
	if !errors.Is(err, eventlog.ErrCorrupt) {
		return SessionAudit{}, false, err
	}
	session := sessionOf(stream)
	audit := SessionAudit{SessionID: session.SessionID, Tally: NewTally()}
	audit.Tally.Sessions, audit.Tally.False = 1, 1
	audit.Findings = []Finding{{SessionID: session.SessionID, Problem: err.Error()}}
	return audit, true, nil
}

// read reads the session's record from the log.
func (r reader) read(ctx context.Context, stream string) (*record, error) {
	held := newRecord(stream)
	for event, err := range r.log.Stream(ctx, stream, eventlog.StreamOptions{Types: r.types}) {
		if err != nil {
			return nil, fmt.Errorf("read evidence of %q: %w", stream, err)
		}
		if err := held.add(event); err != nil {
			return nil, err
		}
	}
	return held, nil
}

func newRecord(stream string) *record {
	return &record{session: sessionOf(stream), extracted: map[string][]schema.ExtractedEntry{}}
}

// sessionOf returns the session of a stream. If the stream's name is not valid, it becomes the session id as it is.
func sessionOf(stream string) schema.SessionKey {
	key, err := schema.ParseSessionStream(stream)
	if err != nil {
		return schema.SessionKey{SessionID: stream}
	}
	return key
}

// streamPrefix returns the prefix of the stream names in the scope: its fields up to the first empty one.
func streamPrefix(scope schema.SessionKey) string {
	var k schema.SessionKey
	fields := []struct {
		from string
		to   *string
	}{{scope.Project, &k.Project}, {scope.User, &k.User}, {scope.Agent, &k.Agent}, {scope.SessionID, &k.SessionID}}
	for _, f := range fields {
		if f.from == "" {
			return strings.TrimRight(k.Stream(), "/") + "/"
		}
		*f.to = f.from
	}
	return k.Stream()
}

func inScope(stream string, scope schema.SessionKey) bool {
	key := sessionOf(stream)
	for _, f := range []struct{ want, have string }{
		{scope.Project, key.Project}, {scope.User, key.User}, {scope.Agent, key.Agent}, {scope.SessionID, key.SessionID},
	} {
		if f.want != "" && f.want != f.have {
			return false
		}
	}
	return true
}

// empty reports whether the record holds nothing.
func (r *record) empty() bool {
	return len(r.messages)+len(r.aligned)+len(r.entries)+len(r.sets)+len(r.rows) == 0
}

// add adds the session's next event.
func (r *record) add(event schema.Event) error {
	payload, err := schema.DecodePayload(event)
	if err != nil {
		return err
	}
	switch p := payload.(type) {
	case schema.SessionIngestedPayload:
		return r.addMessages(event.ID, p.Messages)
	case schema.MemoryExtractedPayload:
		r.extracted[event.ID] = p.Entries
	case schema.EvidenceAlignedPayload:
		r.aligned = append(r.aligned, loggedAlignment{event.ID, p})
	case schema.EntryMaterializedPayload:
		r.entries = append(r.entries, loggedEntry{event.ID, p})
	case schema.EntryEvidenceSetPayload:
		r.sets = append(r.sets, loggedSet{event.ID, p})
	}
	return nil
}

func (r *record) addMessages(eventID string, messages []schema.Message) error {
	for _, m := range messages {
		if m.Index != len(r.messages) {
			return fmt.Errorf("read session %q: event %q holds message %d, want message %d",
				r.session.SessionID, eventID, m.Index, len(r.messages))
		}
		r.messages = append(r.messages, message{m, eventID})
	}
	return nil
}

// confirmedOf returns the confirmed evidence in the streams of graduation, by session stream. An empty project selects
// all projects.
func confirmedOf(ctx context.Context, log *eventlog.Store, project string) (map[string][]loggedConfirmation, error) {
	prefix := schema.GraduatePrefix
	if project != "" {
		prefix = schema.GraduateStream(project)
	}
	out := map[string][]loggedConfirmation{}
	for event, err := range log.Replay(ctx, eventlog.ReplayOptions{Types: []string{schema.EntryConfirmed}, StreamPrefix: prefix}) {
		if err != nil {
			return nil, fmt.Errorf("read confirmed evidence: %w", err)
		}
		p, err := schema.Decode[schema.EntryConfirmedPayload](event)
		if err != nil {
			return nil, err
		}
		if p.Project, err = schema.ParseGraduateStream(event.Stream); err != nil {
			return nil, fmt.Errorf("read event %q: %w", event.ID, err)
		}
		if len(p.Evidence) > 0 {
			stream := schema.SessionKey{Scope: p.Scope, SessionID: p.SessionID}.Stream()
			out[stream] = append(out[stream], loggedConfirmation{event.ID, p})
		}
	}
	return out, nil
}
