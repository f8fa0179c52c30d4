package entry

import (
	"slices"
	"time"

	"axiommind/schema"
)

// Builder is the extractor of a build.
type Builder struct {
	Extractor schema.Extractor `json:"extractor"`
	// At is the time of the recorded events.
	At time.Time `json:"at"`
}

// supersede plans the changes of status that follow from the builder's statements and from the windows that it has
// read. Entries that it states are active. An entry stated only by others is superseded if the builder has a whole
// answer for all windows of its evidence, and reads messages of tools if one of the others does. Proof makes no
// difference: it says that the session contains the words, and not that they are worth remembering. All other entries
// keep their status, and so do those that a person has stated.
func (p *planner) supersede(s statementIndex, sources []extraction, b Builder) error {
	// Most sessions have seen one extractor.
	alone := !slices.ContainsFunc(sources, func(x extraction) bool { return x.Extracted.Extractor != b.Extractor })
	if alone || b.Extractor == (schema.Extractor{}) {
		return nil
	}
	stating := p.stating(s)
	read := readBy(b.Extractor, sources)
	var current *sentences
	for _, h := range p.ledger.own() {
		by := stating[h.id]
		status, supersededBy := h.entryStatus(), ""
		switch {
		case by[b.Extractor]:
			status = schema.StatusActive
		case status == schema.StatusActive && !readsMore(by, b.Extractor) && !by[schema.PersonExtractor()] && read.all(h):
			if current == nil {
				current = p.sentences(func(h *entryRecord) bool { return stating[h.id][b.Extractor] })
			}
			status, supersededBy = schema.StatusSuperseded, current.mostSimilar(h)
		}
		if status == h.entryStatus() {
			continue
		}
		if err := p.setStatus(h, status, supersededBy, b); err != nil {
			return err
		}
	}
	return nil
}

// readsMore reports whether one of the extractors reads messages of tools, which the given one leaves out.
func readsMore(extractors map[schema.Extractor]bool, than schema.Extractor) bool {
	for x := range extractors {
		if x.Tools && !than.Tools {
			return true
		}
	}
	return false
}

// reading is the part of a session that an extractor has read.
type reading struct {
	// answered are the windows for which it has a whole answer, of all extractions by their events.
	answered []schema.Window
	windows  map[string]schema.Window
}

func readBy(x schema.Extractor, sources []extraction) reading {
	r := reading{windows: make(map[string]schema.Window, len(sources))}
	for i := range sources {
		p := &sources[i].Extracted
		r.windows[sources[i].ExtractedEventID] = p.Window
		if p.Extractor == x && p.Answered() {
			r.answered = append(r.answered, p.Window)
		}
	}
	return r
}

// all reports whether all was read that the entry's evidence is in. Where that is not known it is the window that the
// entry was extracted from.
func (r reading) all(h *entryRecord) bool {
	_, j := h.effective()
	found := false
	for _, e := range j.evidence {
		if !e.Found {
			continue
		}
		found = true
		if span := enclosingSpan(e); !r.holds(e.MessageIndex, span.ByteStart) || !r.holds(e.MessageIndex, max(span.ByteStart, span.ByteEnd-1)) {
			return false
		}
	}
	if found {
		return true
	}
	w, known := r.windows[h.own.ExtractedEventID]
	return known && r.holds(w.First, w.ByteStart) && r.holds(w.Last, max(0, w.ByteEnd-1))
}

// holds reports whether an answered window contains the byte of the message.
func (r reading) holds(message, offset int) bool {
	return slices.ContainsFunc(r.answered, func(w schema.Window) bool {
		begun := message > w.First || message == w.First && offset >= w.ByteStart
		return begun && (message < w.Last || message == w.Last && (w.ByteEnd == 0 || offset < w.ByteEnd))
	})
}

// stating returns, by the ids of the session's entries, which extractors state them.
func (p *planner) stating(s statementIndex) map[string]map[schema.Extractor]bool {
	out := map[string]map[schema.Extractor]bool{}
	state := func(id string, by schema.Extractor) {
		if out[id] == nil {
			out[id] = map[schema.Extractor]bool{}
		}
		out[id][by] = true
	}
	for i := range s.all {
		x := &s.all[i]
		state(x.ID, x.by)
		for _, id := range p.ledger.of[x.origin()] {
			if h := p.ledger.byID[id]; h.entry != nil && h.own == x.origin() {
				state(id, x.by)
			}
		}
	}
	return out
}

// setStatus plans that the entry has the status from now on. The key contains the number of the change, which the
// stream determines: planned again after a crash, it is the same one.
func (p *planner) setStatus(h *entryRecord, status schema.Status, supersededBy string, b Builder) error {
	payload := schema.EntryStatusSetPayload{
		EntryID: h.id, Number: h.changes + 1, Status: status, SupersededBy: supersededBy, Extractor: b.Extractor,
	}
	event, err := schema.NewEvent(payload, schema.Event{
		TS: b.At, Actor: actor, SessionID: p.session.SessionID, Project: p.session.Project, BuildID: p.buildID,
		DedupeKey: schema.EntryStatusSetKey(h.id, payload.Number),
	})
	if err != nil {
		return err
	}
	p.ledger.setStatus(payload, p.buildID)
	p.emit(event, "")
	return nil
}

// sentences finds entries by the sentences that their evidence is in.
type sentences struct {
	entries []*entryRecord
	// of lists, by message, the indexes in entries of those that have evidence in it.
	of map[int][]int
}

// sentences returns the session's entries that keep accepts.
func (p *planner) sentences(keep func(*entryRecord) bool) *sentences {
	s := &sentences{of: map[int][]int{}}
	for _, h := range p.ledger.own() {
		if !keep(h) {
			continue
		}
		at := len(s.entries)
		s.entries = append(s.entries, h)
		_, j := h.effective()
		for _, e := range j.evidence {
			if known := s.of[e.MessageIndex]; e.Found && (len(known) == 0 || known[len(known)-1] != at) {
				s.of[e.MessageIndex] = append(known, at)
			}
		}
	}
	return s
}

// mostSimilar returns the id of the entry that shares most of its sentences with the given one, or "" if none shares any. Of
// equals it is one of the same type and section, or else the first.
func (s *sentences) mostSimilar(h *entryRecord) string {
	_, mine := h.effective()
	best, found := similarity{}, ""
	seen := map[int]bool{}
	for _, e := range mine.evidence {
		for _, at := range s.of[e.MessageIndex] {
			if seen[at] {
				continue
			}
			seen[at] = true
			other := s.entries[at]
			_, theirs := other.effective()
			l := similarity{Shared(mine.evidence, theirs.evidence), other.entry.Type == h.entry.Type && other.entry.Section == h.entry.Section, -at}
			if l.bytes > 0 && (found == "" || best.less(l)) {
				best, found = l, other.id
			}
		}
	}
	return found
}

// similarity orders entries by how like they are to a given one.
type similarity struct {
	bytes    int
	sameKind bool
	// place is greater for an earlier entry.
	place int
}

func (l similarity) less(m similarity) bool {
	switch {
	case l.bytes != m.bytes:
		return l.bytes < m.bytes
	case l.sameKind != m.sameKind:
		return m.sameKind
	}
	return l.place < m.place
}

// Shared returns how many bytes of the session's messages are in sentences that both pieces of evidence are in.
func Shared(a, b []schema.Evidence) int {
	n := 0
	for _, x := range a {
		for _, y := range b {
			if x.Found && y.Found && x.MessageIndex == y.MessageIndex {
				i, j := enclosingSpan(x), enclosingSpan(y)
				n += max(0, min(i.ByteEnd, j.ByteEnd)-max(i.ByteStart, j.ByteStart))
			}
		}
	}
	return n
}

// enclosingSpan returns the place of the whole sentences around the evidence.
func enclosingSpan(e schema.Evidence) schema.Span {
	if e.Within != nil {
		return e.Within.Span
	}
	return e.Span
}
