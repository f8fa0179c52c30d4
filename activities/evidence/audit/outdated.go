package audit

import (
	"context"
	"errors"
	"iter"

	"axiommind/activities/eventlog"
	"axiommind/activities/evidence"
	"axiommind/schema"
)

// Session says how far the evidence of a session is judged by today's rule, [evidence.Rule].
type Session struct {
	schema.SessionKey
	// Entries are those in the log.
	Entries int
	// Older are the quotes that only older rules have judged. Behind are the entries and what was judged of
	// them later that do not say what was judged last: somebody began to judge the session anew, and did not
	// come to the end.
	Older, Behind int
	// Problem says why the session cannot be read; it is empty where it can.
	Problem string
}

// Outdated reports whether there is something to judge anew, or to say.
func (s Session) Outdated() bool { return s.Older+s.Behind > 0 }

// judgedTypes are the events that say how evidence is judged.
var judgedTypes = []string{schema.EvidenceAligned, schema.EntryMaterialized, schema.EntryEvidenceSet}

// Judged gives the sessions in the scope that have evidence, as [Walk] does, and reads neither messages nor
// tables.
func Judged(ctx context.Context, log *eventlog.Store, scope schema.SessionKey) iter.Seq2[Session, error] {
	return func(yield func(Session, error) bool) {
		r := reader{log, scope, judgedTypes}
		for s, err := range r.sessions(ctx) {
			session := Session{SessionKey: sessionOf(s.stream)}
			if err == nil && s.held == nil {
				s.held, err = r.read(ctx, s.stream)
			}
			switch {
			case errors.Is(err, eventlog.ErrCorrupt):
				session.Problem = err.Error()
			case err != nil:
				yield(Session{}, err)
				return
			case s.held.empty():
				continue
			default:
				session.Entries = len(s.held.entries)
				session.Older, session.Behind = s.held.outdated()
			}
			if !yield(session, nil) {
				return
			}
		}
	}
}

// outdated counts the quotes that only older rules have judged, and what does not say what was judged last.
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
			} else if is, ok := says[origin{extracted, e.Index}]; ok && !is.says(x.judged(i)) {
				behind++
			}
		}
	}
	return older, behind
}
