package entry

import (
	"cmp"
	"reflect"
	"slices"
	"strings"

	"axiommind/schema"
)

// Origin is an extracted entry that evidence stems from. An entry has its own, which it was made of, and
// gains others that state the same. Of each origin the last judgement in its stream counts.
type Origin struct {
	// ExtractedEventID is the memory_extracted event's, and Index the place in it.
	ExtractedEventID string
	Index            int
}

func (o Origin) compare(p Origin) int {
	return cmp.Or(strings.Compare(o.ExtractedEventID, p.ExtractedEventID), cmp.Compare(o.Index, p.Index))
}

// judgement is the judgement of the evidence of one origin.
type judgement struct {
	alignedEventID  string
	rule            int
	aligned, proven bool
	evidence        []schema.Evidence
}

func (j judgement) rank() int { return rank(j.aligned, j.proven) }

// rank orders judgements: proven before aligned before neither.
func rank(aligned, proven bool) int {
	switch {
	case proven:
		return 2
	case aligned:
		return 1
	}
	return 0
}

// sameVerdict reports whether the two are the same but for the event and the rule.
func (j judgement) sameVerdict(k judgement) bool {
	return j.aligned == k.aligned && j.proven == k.proven && slices.EqualFunc(j.evidence, k.evidence,
		func(a, b schema.Evidence) bool { return reflect.DeepEqual(a, b) })
}

// entryRecord is an entry as one session's stream records it. An entry of another session has only the judgements from this
// stream.
type entryRecord struct {
	id string
	// entry is nil when it is another session's.
	entry  *schema.EntryMaterializedPayload
	own    Origin
	judged map[Origin]judgement
	// status is empty as long as it is the one that the entry was made with. changes counts its changes, and changedIn is
	// the build of the last one.
	status       schema.Status
	supersededBy string
	changes      int
	changedIn    string
	// stage is the stage of the last promotion, or empty. promotions counts the promotions.
	stage      schema.Stage
	promotions int
	// last is the position of the last event that set the evidence or the status.
	last uint64
}

// entryStatus is the status of an entry of the session.
func (h *entryRecord) entryStatus() schema.Status {
	if h.status != "" {
		return h.status
	}
	return h.entry.Status
}

// effective returns the judgement that counts: the best, and among equals its own, or else the first by id. The view
// entries shows the same unless another session has judged the entry.
func (h *entryRecord) effective() (Origin, judgement) {
	var at Origin
	var top judgement
	found := false
	for o, j := range h.judged {
		switch {
		case found && j.rank() < top.rank():
			continue
		case found && j.rank() == top.rank() && (at == h.own || o != h.own && o.compare(at) > 0):
			continue
		}
		at, top, found = o, j, true
	}
	return at, top
}

// rank is the rank of the evidence shown, -1 if there is none.
func (h *entryRecord) rank() int {
	top := -1
	for _, j := range h.judged {
		top = max(top, j.rank())
	}
	return top
}

// ledger folds the events of a session's stream that concern entries.
type ledger struct {
	// ids are in the order of the events.
	ids  []string
	byID map[string]*entryRecord
	// of lists the ids of the entries that have the origin.
	of map[Origin][]string
}

func newLedger() *ledger { return &ledger{byID: map[string]*entryRecord{}, of: map[Origin][]string{}} }

// add takes in an event. It returns the id of the entry in the log that got better evidence, or "".
func (l *ledger) add(event schema.Event) (gained string, err error) {
	switch event.Type {
	case schema.EntryMaterialized:
		p, err := schema.Decode[schema.EntryMaterializedPayload](event)
		if err != nil {
			return "", err
		}
		l.materialized(p)
		l.recordOf(p.ID).last = event.Seq
	case schema.EntryEvidenceSet:
		p, err := schema.Decode[schema.EntryEvidenceSetPayload](event)
		if err != nil {
			return "", err
		}
		gained = l.set(p)
		l.recordOf(p.EntryID).last = event.Seq
	case schema.EntryStatusSet:
		p, err := schema.Decode[schema.EntryStatusSetPayload](event)
		if err != nil {
			return "", err
		}
		l.setStatus(p, event.BuildID)
		l.recordOf(p.EntryID).last = event.Seq
	case schema.EntriesPromoted:
		p, err := schema.Decode[schema.EntriesPromotedPayload](event)
		if err != nil {
			return "", err
		}
		for _, promotion := range p.Promotions {
			h := l.recordOf(promotion.EntryID)
			h.stage, h.promotions = promotion.To, promotion.Number
		}
	}
	return gained, nil
}

func (l *ledger) materialized(p schema.EntryMaterializedPayload) {
	h := l.recordOf(p.ID)
	h.entry, h.own = &p, Origin{p.ExtractedEventID, p.Index}
	l.judge(h, h.own, judgement{p.AlignedEventID, p.EvidenceRule, p.EvidenceAligned, p.EvidenceProven, p.Evidence})
}

// set takes in a judgement, and returns the id of the entry if it is a better one.
func (l *ledger) set(p schema.EntryEvidenceSetPayload) (gained string) {
	h := l.recordOf(p.EntryID)
	j := judgement{p.AlignedEventID, p.Rule, p.EvidenceAligned, p.EvidenceProven, p.Evidence}
	if j.rank() > max(h.rank(), 0) {
		gained = h.id
	}
	l.judge(h, Origin{p.ExtractedEventID, p.Index}, j)
	return gained
}

// setStatus takes in a change of an entry's status by the build.
func (l *ledger) setStatus(p schema.EntryStatusSetPayload, buildID string) {
	h := l.recordOf(p.EntryID)
	h.status, h.supersededBy, h.changes, h.changedIn = p.Status, p.SupersededBy, p.Number, buildID
}

func (l *ledger) recordOf(id string) *entryRecord {
	h := l.byID[id]
	if h == nil {
		h = &entryRecord{id: id, judged: map[Origin]judgement{}}
		l.byID[id] = h
		l.ids = append(l.ids, id)
	}
	return h
}

func (l *ledger) judge(h *entryRecord, o Origin, j judgement) {
	if _, known := h.judged[o]; !known {
		l.of[o] = append(l.of[o], h.id)
	}
	h.judged[o] = j
}

// own returns the session's entries in the order of their events.
func (l *ledger) own() []*entryRecord {
	var out []*entryRecord
	for _, id := range l.ids {
		if h := l.byID[id]; h.entry != nil {
			out = append(out, h)
		}
	}
	return out
}

// hasOrigin reports whether an entry of the session has the origin.
func (l *ledger) hasOrigin(o Origin) bool {
	return slices.ContainsFunc(l.of[o], func(id string) bool { return l.byID[id].entry != nil })
}

// current returns the entry with the status and the evidence that its session's stream shows.
func (h *entryRecord) current() schema.Entry {
	e := h.entry.Entry
	e.Status = h.entryStatus()
	o, j := h.effective()
	if o == h.own && j.alignedEventID == h.entry.AlignedEventID {
		return e
	}
	e.EvidenceAligned, e.EvidenceProven, e.Evidence, e.EvidenceRule = j.aligned, j.proven, j.evidence, j.rule
	e.Stage = stageOf(j.aligned)
	return e
}
