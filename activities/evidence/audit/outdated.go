package audit

import (
	"context"
	"errors"
	"iter"

	"axiommind/activities/eventlog"
	"axiommind/activities/evidence"
	"axiommind/schema"
)

// Session reports how much of a session's evidence was judged by the current rule, [evidence.Rule].
type Session struct {
	schema.SessionKey
	// Entries counts the entries in the log.
	Entries int
	// Older counts the quotes that only older rules have judged. Behind counts the entries and later judgements that
	// do not match the last alignment, because judging the session again was interrupted.
	Older, Behind int
	// Problem says why the session cannot be read. It is empty if it can be read.
	Problem string
}

// Outdated reports whether the session has to be judged again.
func (s Session) Outdated() bool { return s.Older+s.Behind > 0 }

// judgedTypes are the types of the events with judgements of evidence.
var judgedTypes = []string{schema.EvidenceAligned, schema.EntryMaterialized, schema.EntryEvidenceSet}

// Judged yields the sessions in the scope that have evidence, like [Walk], but reads neither messages nor tables.
func Judged(ctx context.Context, log *eventlog.Store, scope schema.SessionKey) iter.Seq2[Session, error] {
	return func(yield func(Session, error) bool) {
		r := reader{log: log, scope: scope, types: judgedTypes}
		for s, err := range r.sessions(ctx) {
			session := Session{SessionKey: sessionOf(s.stream)}
			if err == nil && s.record == nil {
				s.record, err = r.read(ctx, s.stream)
			}
			switch {
			case errors.Is(err, eventlog.ErrCorrupt):
				session.Problem = err.Error()
			case err != nil:
				yield(Session{}, err)
				return
			case s.record.empty():
				continue
			default:
				session.Entries = len(s.record.entries)
				session.Older, session.Behind = s.record.outdated()
			}
			if !yield(session, nil) {
				return
			}
		}
	}
}

// outdated counts the quotes that only older rules have judged, and the judgements that do not match the last
// alignment.
func (r *record) outdated() (older, behind int) {
	rules, last := map[string]int{}, map[string]*loggedAlignment{}
	for i := range r.aligned {
		x := &r.aligned[i]
		rules[x.ExtractedEventID], last[x.ExtractedEventID] = max(rules[x.ExtractedEventID], x.Rule), x
	}
	says := map[origin]judged{}
	for i := range r.entries {
		e := &r.entries[i]
		says[e.origin()] = judgedBy(e)
	}
	for i := range r.sets {
		s := &r.sets[i]
		says[s.origin()] = s.judged()
	}
	for extracted, x := range last {
		for i := range x.Entries {
			e := &x.Entries[i]
			if rules[extracted] < evidence.Rule {
				older += len(e.Evidence)
			} else if is, ok := says[origin{extracted, e.Index}]; ok && !is.equalExceptRule(x.judged(i)) {
				behind++
			}
		}
	}
	return older, behind
}
