package audit

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"axiommind/activities/evidence"
	"axiommind/schema"
)

// check checks all data of one session. It is a pure function of the record.
func (r *record) check() SessionAudit {
	c := &checker{
		record: r, tally: NewTally(), idByOrigin: map[origin]string{},
		alignments: map[string]*loggedAlignment{}, last: map[string]*loggedAlignment{},
	}
	c.tally.Sessions, c.tally.Entries = 1, len(r.entries)
	for i := range r.entries {
		e := &r.entries[i]
		c.idByOrigin[e.origin()] = e.ID
	}
	for i := range r.aligned {
		x := &r.aligned[i]
		c.alignments[x.eventID], c.last[x.ExtractedEventID] = x, x
	}
	for i := range r.aligned {
		c.checkAlignment(&r.aligned[i])
	}
	for i := range r.entries {
		c.checkEntry(&r.entries[i])
	}
	for i := range r.sets {
		c.checkSet(&r.sets[i])
	}
	for i := range r.confirmed {
		c.checkConfirmed(&r.confirmed[i])
	}
	c.checkRows()
	c.tally.False = len(c.findings)
	return SessionAudit{SessionID: r.session.SessionID, Tally: c.tally, Findings: c.findings}
}

type checker struct {
	*record
	tally    Tally
	findings []Finding
	// idByOrigin maps origins to the ids of the entries made from them.
	idByOrigin map[origin]string
	// alignments are the session's alignments by event id. last holds the last alignment of each extraction.
	alignments, last map[string]*loggedAlignment
}

// storage is the place where evidence or an entry is stored.
type storage struct{ entryID, storedIn, eventID string }

func (c *checker) found(at storage, e *schema.Evidence, format string, args ...any) {
	c.findings = append(c.findings, Finding{
		SessionID: c.session.SessionID, EntryID: at.entryID, StoredIn: at.storedIn, EventID: at.eventID,
		Evidence: e, Problem: fmt.Sprintf(format, args...),
	})
}

func (c *checker) checkAlignment(x *loggedAlignment) {
	event := storage{storedIn: schema.EvidenceAligned, eventID: x.eventID}
	extracted, known := c.extracted[x.ExtractedEventID]
	if !known {
		c.found(event, nil, "the session has no memory_extracted event %q before it", x.ExtractedEventID)
	}
	if x.SessionID != c.session.SessionID {
		c.found(event, nil, "it names session %q", x.SessionID)
	}
	if x.Rule < 0 {
		c.found(event, nil, "rule %d is none", x.Rule)
	}
	for i := range x.Entries {
		entry := &x.Entries[i]
		at := event
		at.entryID = c.idByOrigin[origin{x.ExtractedEventID, entry.Index}]
		if known && !quotesOf(extracted, entry) {
			c.found(at, nil, "its quotes are not those of entry %d of event %q", entry.Index, x.ExtractedEventID)
		}
		for n := range entry.Evidence {
			piece := &entry.Evidence[n]
			if c.last[x.ExtractedEventID] == x {
				c.tally.count(piece, x.Rule)
			}
			if problem := c.falsity(piece, x.Rule); problem != "" {
				c.found(at, piece, "%s", problem)
			}
		}
		if x.Rule > evidence.Rule {
			continue // Only that rule can check the entry against its evidence.
		}
		for _, problem := range unfounded(entry) {
			c.found(at, nil, "%s", problem)
		}
	}
}

// falsity describes a false claim of evidence that was judged by the rule, or returns "". Evidence that was not
// found claims nothing, and the judgements of an unknown rule are never called false.
func (r *record) falsity(e *schema.Evidence, rule int) string {
	switch {
	case rule > evidence.Rule || rule < 0:
		return ""
	case !e.Found && (e.Aligned || e.Proven):
		return fmt.Sprintf("aligned is %t and proven is %t of a quote that is not found", e.Aligned, e.Proven)
	case !e.Found:
		return ""
	case e.MessageIndex < 0 || e.MessageIndex >= len(r.messages):
		return fmt.Sprintf("the log holds no message %d", e.MessageIndex)
	}
	if holder := r.messages[e.MessageIndex].eventID; e.EventID != holder {
		return fmt.Sprintf("event %q does not hold message %d: event %q does", e.EventID, e.MessageIndex, holder)
	}
	if err := r.source(e.MessageIndex).Verify(*e, rule); err != nil {
		return strings.TrimPrefix(err.Error(), evidence.ErrFalse.Error()+": ")
	}
	return ""
}

// quotesOf reports whether the evidence belongs to the extracted quotes.
func quotesOf(extracted []schema.ExtractedEntry, entry *schema.AlignedEntry) bool {
	return entry.Index >= 0 && entry.Index < len(extracted) &&
		slices.EqualFunc(extracted[entry.Index].Evidence, entry.Evidence, func(q schema.Quote, e schema.Evidence) bool {
			return q.Quote == e.Quote
		})
}

// unfounded returns the properties of an entry that do not follow from its evidence.
func unfounded(entry *schema.AlignedEntry) (problems []string) {
	aligned, proven := 0, 0
	for i := range entry.Evidence {
		if entry.Evidence[i].Aligned {
			aligned++
		}
		if entry.Evidence[i].Proven {
			proven++
		}
	}
	all := len(entry.Evidence)
	if entry.EvidenceAligned != (all > 0 && aligned == all) {
		problems = append(problems, fmt.Sprintf("evidence_aligned is %t, but %d of %d pieces are aligned", entry.EvidenceAligned, aligned, all))
	}
	if entry.EvidenceProven != (all > 0 && proven == all) {
		problems = append(problems, fmt.Sprintf("evidence_proven is %t, but %d of %d pieces are proven", entry.EvidenceProven, proven, all))
	}
	return problems
}

// judged is an entry's evidence as stored in one place.
type judged struct {
	aligned, proven bool
	rule            int
	evidence        []schema.Evidence
}

func judgedBy(e *loggedEntry) judged {
	return judged{e.EvidenceAligned, e.EvidenceProven, e.EvidenceRule, e.Evidence}
}

func (s *loggedSet) judged() judged {
	return judged{s.EvidenceAligned, s.EvidenceProven, s.Rule, s.Evidence}
}

func (x *loggedAlignment) judged(i int) judged {
	e := &x.Entries[i]
	return judged{e.EvidenceAligned, e.EvidenceProven, x.Rule, e.Evidence}
}

// equalExceptRule reports whether two judgements are equal, apart from the rule.
func (j judged) equalExceptRule(other judged) bool {
	return j.aligned == other.aligned && j.proven == other.proven && slices.EqualFunc(j.evidence, other.evidence, equalPieces)
}

// checkEntry compares an entry with the alignment from which it was made.
func (c *checker) checkEntry(e *loggedEntry) {
	c.checkOrigin(storage{e.ID, schema.EntryMaterialized, e.eventID}, e.AlignedEventID, e.origin(), judgedBy(e))
}

// checkSet compares a later judgement of an entry with the alignment it comes from. If the entry belongs to another
// session, so does its origin.
func (c *checker) checkSet(s *loggedSet) {
	at := storage{s.EntryID, schema.EntryEvidenceSet, s.eventID}
	c.checkOrigin(at, s.AlignedEventID, s.origin(), s.judged())
	if own := c.idByOrigin[s.origin()] == s.EntryID; s.Own != own {
		c.found(at, nil, "own is %t, but of the entry's own origin it is %t", s.Own, own)
	}
}

// checkConfirmed checks evidence by which a person or a model confirmed an entry: all of it must prove.
func (c *checker) checkConfirmed(x *loggedConfirmation) {
	at := storage{x.EntryID, schema.EntryConfirmed, x.eventID}
	for i := range x.Evidence {
		piece := &x.Evidence[i]
		c.tally.count(piece, x.EvidenceRule)
		if problem := c.falsity(piece, x.EvidenceRule); problem != "" {
			c.found(at, piece, "%s", problem)
		}
		if !piece.Proven {
			c.found(at, piece, "it is confirmed, but does not prove")
		}
	}
}

// checkOrigin compares a judgement for an origin with the alignment that it names.
func (c *checker) checkOrigin(at storage, alignedEventID string, of origin, made judged) {
	source, known := c.alignments[alignedEventID]
	if !known {
		c.found(at, nil, "the session has no evidence_aligned event %q", alignedEventID)
		return
	}
	if of.extractedEventID != source.ExtractedEventID {
		c.found(at, nil, "it is made from event %q, but event %q aligns %q", of.extractedEventID, alignedEventID, source.ExtractedEventID)
	}
	i := source.at(of.index)
	if i < 0 {
		c.found(at, nil, "event %q aligns no entry %d", alignedEventID, of.index)
		return
	}
	c.compare(at, made, source.judged(i))
}

// projectedJudgement is an event's judgement of an entry, with the row into which it is projected.
type projectedJudgement struct {
	eventID, project string
	judged
}

// row identifies a row of the tables: an entry and, for a later judgement, its origin.
type row struct {
	entryID string
	origin
}

// projected returns the judgements in the log for each row, in order. The table finally holds the last one.
func (c *checker) projected() map[row][]projectedJudgement {
	rows := make(map[row][]projectedJudgement, len(c.entries)+len(c.sets)+len(c.confirmed))
	for i := range c.entries {
		e := &c.entries[i]
		at := row{entryID: e.ID}
		rows[at] = append(rows[at], projectedJudgement{e.eventID, e.Project, judgedBy(e)})
	}
	for i := range c.sets {
		s := &c.sets[i]
		at := row{s.EntryID, s.origin()}
		rows[at] = append(rows[at], projectedJudgement{s.eventID, c.session.Project, s.judged()})
	}
	for i := range c.confirmed {
		x := &c.confirmed[i]
		at := row{x.EntryID, x.origin()}
		rows[at] = append(rows[at], projectedJudgement{x.eventID, x.Project, x.judged()})
	}
	return rows
}

// checkRows compares the tables with the log. A row may still come from an event that is no longer the last one; the
// last is then not projected yet.
func (c *checker) checkRows() {
	logged := c.projected()
	missing := map[string]bool{}
	held := map[row]bool{}
	for i := range c.rows {
		stored := &c.rows[i]
		at := storage{stored.EntryID, StoredInTable, stored.EventID}
		which := row{stored.EntryID, origin{stored.ExtractedEventID, stored.Index}}
		events := logged[which]
		if len(events) == 0 {
			c.found(at, nil, "the log holds no such entry, or nothing of this origin for it")
			continue
		}
		held[which] = true
		last := len(events) - 1
		n := slices.IndexFunc(events, func(s projectedJudgement) bool { return s.eventID == stored.EventID })
		if n < 0 {
			c.found(at, nil, "its event is %q in the log", events[last].eventID)
			n = last
		}
		if n < last {
			missing[stored.EntryID] = true
		}
		c.checkRow(at, stored, &events[n])
	}
	for which := range logged {
		if !held[which] {
			missing[which.entryID] = true
		}
	}
	c.tally.Unprojected = len(missing)
}

func (c *checker) checkRow(at storage, stored *Stored, logged *projectedJudgement) {
	if stored.Project != logged.project {
		c.found(at, nil, "it is in project %q, in the log in %q", stored.Project, logged.project)
	}
	is := judged{aligned: stored.EvidenceAligned, proven: stored.EvidenceProven, rule: stored.Rule}
	if err := json.Unmarshal([]byte(stored.Evidence), &is.evidence); err != nil {
		c.found(at, nil, "its evidence cannot be read: %v", err)
		return
	}
	c.compare(at, is, logged.judged)
}

// compare reports the differences between stored evidence and its source. For each piece that differs it also
// reports whether the piece is false.
func (c *checker) compare(at storage, is, was judged) {
	if is.rule != was.rule {
		c.found(at, nil, "its rule is %d, in the log %d", is.rule, was.rule)
	}
	if is.aligned != was.aligned {
		c.found(at, nil, "evidence_aligned is %t, in the log %t", is.aligned, was.aligned)
	}
	if is.proven != was.proven {
		c.found(at, nil, "evidence_proven is %t, in the log %t", is.proven, was.proven)
	}
	if len(is.evidence) != len(was.evidence) {
		c.found(at, nil, "it has %d pieces of evidence, in the log %d", len(is.evidence), len(was.evidence))
	}
	for i := range is.evidence {
		piece := &is.evidence[i]
		switch {
		case i >= len(was.evidence):
			if problem := c.falsity(piece, was.rule); problem != "" {
				c.found(at, piece, "%s", problem)
			}
		case !equalPieces(*piece, was.evidence[i]):
			problem := "differs from the log: another " + strings.Join(differences(*piece, was.evidence[i]), ", ")
			if more := c.falsity(piece, was.rule); more != "" {
				problem += "; " + more
			}
			c.found(at, piece, "%s", problem)
		}
	}
}

func equalPieces(a, b schema.Evidence) bool { return reflect.DeepEqual(a, b) }

// differences returns the JSON names of the fields in which two pieces of evidence differ.
func differences(a, b schema.Evidence) (names []string) {
	x, y := reflect.ValueOf(a), reflect.ValueOf(b)
	for i := range x.NumField() {
		if !reflect.DeepEqual(x.Field(i).Interface(), y.Field(i).Interface()) {
			name, _, _ := strings.Cut(x.Type().Field(i).Tag.Get("json"), ",")
			names = append(names, name)
		}
	}
	return names
}
