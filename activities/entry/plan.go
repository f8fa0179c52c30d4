package entry

import (
	"slices"

	"axiommind/activities/text"
	"axiommind/schema"
)

// phrase identifies a statement: entries of a scope with the same phrase state the same. It consists of the type, the
// section, the form [text.Title] of the title, and of a task note its whole text about the task. A sentence that proves
// one blocker proves no other.
type phrase struct {
	entryType schema.EntryType
	key       string
	task      string
}

func phraseOf(e *schema.Entry) phrase {
	p := phrase{entryType: e.Type, key: statedKey(e)}
	if t := e.Task; e.Type == schema.EntryTaskNote && t != nil {
		blockers := make([]string, len(t.BlockedBy))
		for i, b := range t.BlockedBy {
			blockers[i] = text.Title(b)
		}
		slices.Sort(blockers)
		parts := []string{string(t.Status), string(t.Priority), text.Title(t.Title)}
		p.task = schema.HashParts(append(parts, slices.Compact(blockers)...)...)
	}
	return p
}

// planner turns a session's statements into events, against the state of its stream. It puts each event that it plans
// into the ledger, so that the next one is planned against it.
type planner struct {
	ledger  *ledger
	session schema.SessionKey
	buildID string
	events  []schema.Event
	// gained names for each event the entry that it gives better evidence, or is empty.
	gained []string
}

// statementIndex are the input of a planner: the session's statements in order, by origin.
type statementIndex struct {
	all      []statement
	position map[Origin]int
}

func indexStatements(all []statement) statementIndex {
	s := statementIndex{all: all, position: make(map[Origin]int, len(all))}
	for i := range all {
		s.position[all[i].origin()] = i
	}
	return s
}

// plan adds to p.events, in this order: newer judgements of origins in the ledger, also for entries of other sessions that
// have evidence from this one; the session's new entries; and better evidence for entries that it states again. It returns
// the session's entries that this call makes proven.
func (p *planner) plan(s statementIndex) (proven []*entryRecord, err error) {
	before := map[string]bool{}
	for _, h := range p.ledger.own() {
		before[h.id] = h.rank() == rank(true, true)
	}
	if err := p.judgeAgain(s); err != nil {
		return nil, err
	}
	if err := p.materialize(s); err != nil {
		return nil, err
	}
	if err := p.gain(s); err != nil {
		return nil, err
	}
	for _, h := range p.ledger.own() {
		if !before[h.id] && h.rank() == rank(true, true) {
			proven = append(proven, h)
		}
	}
	return proven, nil
}

// judgeAgain sets the evidence of origins whose last judgement differs from that of their entries.
func (p *planner) judgeAgain(s statementIndex) error {
	for i := range s.all {
		x := &s.all[i]
		for _, id := range p.ledger.of[x.origin()] {
			last := p.ledger.byID[id].judged[x.origin()]
			if last.alignedEventID == x.AlignedEventID || last.sameVerdict(x.judgement()) {
				continue
			}
			if err := p.set(id, x); err != nil {
				return err
			}
		}
	}
	return nil
}

// materialize makes the entries that are missing in the log.
func (p *planner) materialize(s statementIndex) error {
	var fresh []statement
	for i := range s.all {
		x := &s.all[i]
		if h := p.ledger.byID[x.ID]; (h == nil || h.entry == nil) && !p.ledger.hasOrigin(x.origin()) {
			fresh = append(fresh, *x)
		}
	}
	entries := best(fresh)
	events, err := Events(entries, p.buildID)
	if err != nil {
		return err
	}
	for i := range entries {
		p.ledger.materialized(entries[i])
		p.emit(events[i], "")
	}
	return nil
}

// gain gives entries the better evidence of later statements of the same. The same statement at another place is
// another task note; it counts for the earlier ones, too.
func (p *planner) gain(s statementIndex) error {
	places := map[phrase][]*entryRecord{}
	for _, h := range p.ledger.own() {
		places[phraseOf(&h.entry.Entry)] = append(places[phraseOf(&h.entry.Entry)], h)
	}
	for i := range s.all {
		x := &s.all[i]
		for _, h := range places[phraseOf(&x.Entry)] {
			if h.id != x.ID && s.position[h.own] > i || x.judgement().rank() <= h.rank() {
				continue
			}
			if err := p.set(h.id, x); err != nil {
				return err
			}
		}
	}
	return nil
}

// set plans the event that sets the entry's evidence of the statement's origin to its judgement. The key names the
// judgement: it is one event, however often and by whichever build it is planned.
func (p *planner) set(entryID string, x *statement) error {
	h := p.ledger.byID[entryID]
	payload := schema.EntryEvidenceSetPayload{
		EntryID: entryID, ExtractedEventID: x.ExtractedEventID, Index: x.Index, AlignedEventID: x.AlignedEventID, Rule: x.EvidenceRule,
		Own:             h != nil && h.entry != nil && h.own == x.origin(),
		EvidenceAligned: x.EvidenceAligned, EvidenceProven: x.EvidenceProven, Evidence: x.Evidence,
	}
	event, err := schema.NewEvent(payload, schema.Event{
		TS: x.alignedAt, Actor: actor, SessionID: p.session.SessionID, Project: p.session.Project, BuildID: p.buildID,
		DedupeKey: schema.EntryEvidenceSetKey(entryID, x.AlignedEventID, x.Index),
	})
	if err != nil {
		return err
	}
	p.emit(event, p.ledger.set(payload))
	return nil
}

func (p *planner) emit(event schema.Event, gained string) {
	p.events, p.gained = append(p.events, event), append(p.gained, gained)
}

// shareEvidence plans that unproven entries of other sessions gain the evidence of the session's entries that are proven now.
// Its events come before all others: once an entry is in the log, so is the evidence that it lends, and after an
// interruption the next attempt lends again.
func (p *planner) shareEvidence(s statementIndex, proven []*entryRecord, unproven []candidate) error {
	own, ownGained := p.events, p.gained
	p.events, p.gained = nil, nil
	by := map[phrase][]candidate{}
	for _, c := range unproven {
		by[c.phrase] = append(by[c.phrase], c)
	}
	for _, h := range proven {
		origin, _ := h.effective()
		at, ok := s.position[origin]
		if !ok {
			continue
		}
		ph := phraseOf(&h.entry.Entry)
		for _, c := range by[ph] {
			x := &s.all[at]
			if c.byAgent && schema.SaidBy(x.Evidence) != schema.TrustUser {
				continue
			}
			if h := p.ledger.byID[c.id]; h != nil && h.judged[origin].alignedEventID == x.AlignedEventID {
				continue // The projection does not know it yet.
			}
			if err := p.set(c.id, x); err != nil {
				return err
			}
		}
		// Each gains once.
		delete(by, ph)
	}
	p.events, p.gained = append(p.events, own...), append(p.gained, ownGained...)
	return nil
}
