package evidence

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"axiommind/activities/transcript"
	"axiommind/schema"
)

// StoredInTable is where a [Finding] was found that is not in an event.
const StoredInTable = "entries"

// Finding is something stored that is not true of its source.
type Finding struct {
	SessionID string `json:"session_id"`
	// EntryID is empty for an alignment that no entry was made from.
	EntryID string `json:"entry_id,omitempty"`
	// StoredIn is the type of the event that holds it, or [StoredInTable], and EventID the event's id.
	StoredIn string `json:"stored_in,omitempty"`
	EventID  string `json:"event_id,omitempty"`
	// Evidence is the piece that is false; nil when the entry as a whole is, or the session.
	Evidence *schema.Evidence `json:"evidence,omitempty"`
	Problem  string           `json:"problem"`
}

// Tally counts what an audit has looked at. Spans and quotes are those of evidence_aligned events,
// each once, however often they are stored.
type Tally struct {
	Sessions int `json:"sessions"`
	// Entries are those in the log, Unprojected those of them that the table does not hold.
	Entries     int `json:"entries"`
	Unprojected int `json:"unprojected"`
	// Spans counts aligned quotes by method, and NotFound the others by reason.
	Spans    map[schema.Method]int `json:"spans"`
	NotFound map[string]int        `json:"not_found"`
	// Doubtful counts the spans that are found and prove nothing.
	Doubtful int `json:"doubtful"`
	// False counts the findings.
	False int `json:"false"`
}

// NewTally returns a tally of nothing.
func NewTally() Tally { return Tally{Spans: map[schema.Method]int{}, NotFound: map[string]int{}} }

// Add adds v to t, which is made by [NewTally].
func (t *Tally) Add(v Tally) {
	t.Sessions += v.Sessions
	t.Entries += v.Entries
	t.Unprojected += v.Unprojected
	t.Doubtful += v.Doubtful
	t.False += v.False
	for method, n := range v.Spans {
		t.Spans[method] += n
	}
	for reason, n := range v.NotFound {
		t.NotFound[reason] += n
	}
}

// Stored is the evidence of an entry as the table holds it.
type Stored struct {
	EntryID, Stream, Project, EventID string
	EvidenceAligned                   bool
	// Evidence is JSON.
	Evidence string
}

// sessionRecord is all that the log and the table hold of a session's evidence.
type sessionRecord struct {
	logged    *transcript.Logged
	extracted map[string][]schema.ExtractedEntry
	aligned   []loggedAlignment
	entries   []loggedEntry
	rows      []Stored
	// sources are the messages that evidence was checked against, by index.
	sources map[int]*source
}

type loggedAlignment struct {
	eventID string
	schema.EvidenceAlignedPayload
	// byQuotes gives the positions of the entries by their quotes, see [originOf].
	byQuotes map[string][]int
}

type loggedEntry struct {
	eventID string
	schema.EntryMaterializedPayload
}

// SessionAudit is what the audit of one session found.
type SessionAudit struct {
	SessionID string
	Tally     Tally
	Findings  []Finding
}

// audit checks what is held of one session: a pure function of it.
func (r *sessionRecord) audit() SessionAudit {
	a := &auditor{sessionRecord: r, tally: NewTally(), madeFrom: map[string]string{}, alignments: map[string]*loggedAlignment{}}
	a.tally.Sessions, a.tally.Entries = 1, len(r.entries)
	for _, e := range r.entries {
		a.madeFrom[originOf(e.ExtractedEventID, e.Evidence)] = e.ID
	}
	for i := range r.aligned {
		x := &r.aligned[i]
		x.index()
		a.alignments[x.eventID] = x
		a.auditAlignment(x)
	}
	for _, e := range r.entries {
		a.auditEntry(e)
	}
	a.auditRows()
	a.tally.False = len(a.findings)
	return SessionAudit{SessionID: r.logged.SessionID, Tally: a.tally, Findings: a.findings}
}

type auditor struct {
	*sessionRecord
	tally    Tally
	findings []Finding
	// madeFrom gives the entries' ids by their origins.
	madeFrom map[string]string
	// alignments are those of the session, by the ids of their events.
	alignments map[string]*loggedAlignment
}

// originOf names what was extracted: an entry keeps its quotes wherever they are stored.
func originOf(extractedEventID string, evidence []schema.Evidence) string {
	parts := make([]string, 0, len(evidence)+1)
	parts = append(parts, extractedEventID)
	for _, e := range evidence {
		parts = append(parts, e.Quote)
	}
	return schema.HashParts(parts...)
}

// storage is where a piece or an entry is stored.
type storage struct{ entryID, storedIn, eventID string }

func (a *auditor) found(at storage, e *schema.Evidence, format string, args ...any) {
	a.findings = append(a.findings, Finding{
		SessionID: a.logged.SessionID, EntryID: at.entryID, StoredIn: at.storedIn, EventID: at.eventID,
		Evidence: e, Problem: fmt.Sprintf(format, args...),
	})
}

func (x *loggedAlignment) index() {
	x.byQuotes = make(map[string][]int, len(x.Entries))
	for i := range x.Entries {
		quotes := originOf("", x.Entries[i].Evidence)
		x.byQuotes[quotes] = append(x.byQuotes[quotes], i)
	}
}

func (a *auditor) auditAlignment(x *loggedAlignment) {
	event := storage{storedIn: schema.EvidenceAligned, eventID: x.eventID}
	extracted, known := a.extracted[x.ExtractedEventID]
	if !known {
		a.found(event, nil, "the session has no memory_extracted event %q before it", x.ExtractedEventID)
	}
	if x.SessionID != a.logged.SessionID {
		a.found(event, nil, "it names session %q", x.SessionID)
	}
	for _, entry := range x.Entries {
		at := event
		at.entryID = a.madeFrom[originOf(x.ExtractedEventID, entry.Evidence)]
		if known && !quotesOf(extracted, entry) {
			a.found(at, nil, "its quotes are not those of entry %d of event %q", entry.Index, x.ExtractedEventID)
		}
		if problem := unfounded(entry.EvidenceAligned, entry.Evidence); problem != "" {
			a.found(at, nil, "%s", problem)
		}
		for i := range entry.Evidence {
			a.auditPiece(at, &entry.Evidence[i])
		}
	}
}

func (a *auditor) auditPiece(at storage, e *schema.Evidence) {
	if !e.Aligned {
		a.tally.NotFound[e.Reason]++
		return
	}
	a.tally.Spans[e.Method]++
	if !e.Proves() {
		a.tally.Doubtful++
	}
	if problem := a.falsity(e); problem != "" {
		a.found(at, e, "%s", problem)
	}
}

// falsity says what is not true of a piece of evidence. One that is not aligned claims nothing.
func (r *sessionRecord) falsity(e *schema.Evidence) string {
	if !e.Aligned {
		return ""
	}
	if e.MessageIndex < 0 || e.MessageIndex >= len(r.logged.Messages) {
		return fmt.Sprintf("the log holds no message %d", e.MessageIndex)
	}
	if holder := r.logged.EventIDs[e.MessageIndex]; e.EventID != holder {
		return fmt.Sprintf("event %q does not hold message %d: event %q does", e.EventID, e.MessageIndex, holder)
	}
	if err := r.source(e.MessageIndex).verify(*e); err != nil {
		return strings.TrimPrefix(err.Error(), ErrFalse.Error()+": ")
	}
	return ""
}

// source returns the message in the form that evidence is checked against. It is prepared once.
func (r *sessionRecord) source(index int) *source {
	s, ok := r.sources[index]
	if !ok {
		s = newSource(index, r.logged.EventIDs[index], r.logged.Messages[index].Text)
		if r.sources == nil {
			r.sources = map[int]*source{}
		}
		r.sources[index] = s
	}
	return s
}

// quotesOf reports whether the evidence is of the quotes that were extracted.
func quotesOf(extracted []schema.ExtractedEntry, entry schema.AlignedEntry) bool {
	return entry.Index >= 0 && entry.Index < len(extracted) &&
		slices.EqualFunc(extracted[entry.Index].Evidence, entry.Evidence, func(q schema.Quote, e schema.Evidence) bool {
			return q.Quote == e.Quote
		})
}

// unfounded says why an entry's evidence_aligned does not follow from its evidence.
func unfounded(aligned bool, evidence []schema.Evidence) string {
	proven := 0
	for i := range evidence {
		if evidence[i].Proves() {
			proven++
		}
	}
	if aligned == (len(evidence) > 0 && proven == len(evidence)) {
		return ""
	}
	return fmt.Sprintf("evidence_aligned is %t, but %d of %d pieces prove", aligned, proven, len(evidence))
}

// auditEntry compares an entry with the alignment it was made from.
func (a *auditor) auditEntry(e loggedEntry) {
	at := storage{e.ID, schema.EntryMaterialized, e.eventID}
	source, known := a.alignments[e.AlignedEventID]
	if !known {
		a.found(at, nil, "the session has no evidence_aligned event %q", e.AlignedEventID)
		return
	}
	if e.ExtractedEventID != source.ExtractedEventID {
		a.found(at, nil, "it is made from event %q, but event %q aligns %q",
			e.ExtractedEventID, e.AlignedEventID, source.ExtractedEventID)
	}
	same := source.byQuotes[originOf("", e.Evidence)]
	if len(same) == 0 {
		a.found(at, nil, "its quotes are of no entry of event %q", e.AlignedEventID)
		return
	}
	for _, i := range same {
		if x := &source.Entries[i]; x.EvidenceAligned == e.EvidenceAligned && slices.EqualFunc(x.Evidence, e.Evidence, equalPieces) {
			return
		}
	}
	first := &source.Entries[same[0]]
	a.compare(at, e.EvidenceAligned, first.EvidenceAligned, e.Evidence, first.Evidence)
}

// auditRows compares the table with the entries in the log.
func (a *auditor) auditRows() {
	byID := make(map[string]*loggedEntry, len(a.entries))
	for i := range a.entries {
		byID[a.entries[i].ID] = &a.entries[i]
	}
	projected := map[string]bool{}
	for _, row := range a.rows {
		at := storage{row.EntryID, StoredInTable, row.EventID}
		e, known := byID[row.EntryID]
		if !known {
			a.found(at, nil, "the log holds no such entry")
			continue
		}
		projected[row.EntryID] = true
		if row.EventID != e.eventID {
			a.found(at, nil, "its event is %q in the log", e.eventID)
		}
		if row.Project != e.Project {
			a.found(at, nil, "it stands in project %q, in the log in %q", row.Project, e.Project)
		}
		var evidence []schema.Evidence
		if err := json.Unmarshal([]byte(row.Evidence), &evidence); err != nil {
			a.found(at, nil, "its evidence cannot be read: %v", err)
			continue
		}
		a.compare(at, row.EvidenceAligned, e.EvidenceAligned, evidence, e.Evidence)
	}
	for id := range byID {
		if !projected[id] {
			a.tally.Unprojected++
		}
	}
}

// compare reports how what is stored of an entry differs from what it was made from, and of each
// differing piece whether it is false besides.
func (a *auditor) compare(at storage, aligned, wasAligned bool, evidence, was []schema.Evidence) {
	if aligned != wasAligned {
		a.found(at, nil, "evidence_aligned is %t, in the log %t", aligned, wasAligned)
	}
	if len(evidence) != len(was) {
		a.found(at, nil, "it has %d pieces of evidence, in the log %d", len(evidence), len(was))
	}
	for i := range evidence {
		switch {
		case i >= len(was):
			if problem := a.falsity(&evidence[i]); problem != "" {
				a.found(at, &evidence[i], "%s", problem)
			}
		case !equalPieces(evidence[i], was[i]):
			problem := "not what the log has: another " + strings.Join(differences(evidence[i], was[i]), ", ")
			if more := a.falsity(&evidence[i]); more != "" {
				problem += "; " + more
			}
			a.found(at, &evidence[i], "%s", problem)
		}
	}
}

func equalPieces(a, b schema.Evidence) bool { return reflect.DeepEqual(a, b) }

// differences names the fields in which two pieces differ, as JSON has them.
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
