// Package audit checks the stored evidence, in the log and in the tables, against the messages that it quotes. It
// also finds evidence that was judged by an older proof rule.
package audit

import (
	"slices"

	"axiommind/activities/evidence"
	"axiommind/schema"
)

// StoredInTable is the StoredIn of a [Finding] in a table instead of an event.
const StoredInTable = "entries"

// Finding is stored evidence that does not agree with its source.
type Finding struct {
	SessionID string `json:"session_id"`
	// EntryID is empty for an alignment from which no entry was made.
	EntryID string `json:"entry_id,omitempty"`
	// StoredIn is the type of the event that holds it, or [StoredInTable]. EventID is the event's id.
	StoredIn string `json:"stored_in,omitempty"`
	EventID  string `json:"event_id,omitempty"`
	// Evidence is the false piece of evidence. It is nil if the problem is with the whole entry or session.
	Evidence *schema.Evidence `json:"evidence,omitempty"`
	Problem  string           `json:"problem"`
}

// Tally counts the items that an audit checked. A quote counts once, as judged by the last alignment of its
// extraction, however often it is stored.
type Tally struct {
	Sessions int `json:"sessions"`
	// Entries counts the entries in the log. Unprojected counts those whose latest state is not in the tables yet.
	Entries     int `json:"entries"`
	Unprojected int `json:"unprojected"`
	// Spans counts the quotes that were found, by method. NotFound counts the others, by reason.
	Spans    map[schema.Method]int `json:"spans"`
	NotFound map[string]int        `json:"not_found"`
	// Aligned counts the quotes that were found word for word. Proven counts those of them that are proven.
	Aligned int `json:"aligned"`
	Proven  int `json:"proven"`
	// Older counts the quotes that were judged by a rule older than [evidence.Rule], by rule.
	Older map[int]int `json:"older_rules"`
	// Unknown counts the quotes that were judged by a rule that this program does not know, by rule. They are not
	// checked and not counted elsewhere.
	Unknown map[int]int `json:"unknown_rules"`
	// False counts the findings.
	False int `json:"false"`
}

// NewTally returns an empty tally.
func NewTally() Tally {
	return Tally{Spans: map[schema.Method]int{}, NotFound: map[string]int{}, Older: map[int]int{}, Unknown: map[int]int{}}
}

// Add adds v to t. t must come from [NewTally].
func (t *Tally) Add(v Tally) {
	t.Sessions += v.Sessions
	t.Entries += v.Entries
	t.Unprojected += v.Unprojected
	t.Aligned += v.Aligned
	t.Proven += v.Proven
	t.False += v.False
	addAll(t.Spans, v.Spans)
	addAll(t.NotFound, v.NotFound)
	addAll(t.Older, v.Older)
	addAll(t.Unknown, v.Unknown)
}

func addAll[K comparable](to, from map[K]int) {
	for k, n := range from {
		to[k] += n
	}
}

// count counts a quote that was judged by the rule.
func (t *Tally) count(e *schema.Evidence, rule int) {
	if rule > evidence.Rule {
		t.Unknown[rule]++
		return
	}
	if rule < evidence.Rule {
		t.Older[rule]++
	}
	if !e.Found {
		t.NotFound[e.Reason]++
		return
	}
	t.Spans[e.Method]++
	if e.Aligned {
		t.Aligned++
	}
	if e.Proven {
		t.Proven++
	}
}

// Stored is an entry's evidence as stored in a table: either the evidence that the entry was created with, or a later
// judgement for one origin.
type Stored struct {
	EntryID, Stream, Project, EventID string
	EvidenceAligned, EvidenceProven   bool
	// Rule is the version of the proof rule that judged the evidence.
	Rule int
	// ExtractedEventID and Index name the origin. They are zero for the evidence that the entry was created with.
	ExtractedEventID string
	Index            int
	// Evidence is JSON.
	Evidence string
}

// SessionAudit is the result of the audit of one session.
type SessionAudit struct {
	SessionID string
	Tally     Tally
	Findings  []Finding
}

// record holds a session's evidence from the log and the table.
type record struct {
	session   schema.SessionKey
	messages  []message
	extracted map[string][]schema.ExtractedEntry
	aligned   []loggedAlignment
	entries   []loggedEntry
	sets      []loggedSet
	// confirmed are in the stream of graduation.
	confirmed []loggedConfirmation
	rows      []Stored
	// sources are the messages against which evidence was checked, by index.
	sources map[int]*evidence.Source
}

// message is a message and the id of its event.
type message struct {
	schema.Message
	eventID string
}

type loggedAlignment struct {
	eventID string
	schema.EvidenceAlignedPayload
}

type loggedEntry struct {
	eventID string
	schema.EntryMaterializedPayload
}

type loggedSet struct {
	eventID string
	schema.EntryEvidenceSetPayload
}

// loggedConfirmation is evidence by which a person or a model confirmed an entry.
type loggedConfirmation struct {
	eventID string
	schema.EntryConfirmedPayload
}

// origin identifies an extracted entry.
type origin struct {
	extractedEventID string
	index            int
}

func (e *loggedEntry) origin() origin { return origin{e.ExtractedEventID, e.Index} }
func (s *loggedSet) origin() origin   { return origin{s.ExtractedEventID, s.Index} }

// origin is the confirmation itself.
func (x *loggedConfirmation) origin() origin { return origin{extractedEventID: x.eventID} }

func (x *loggedConfirmation) judged() judged { return judged{true, true, x.EvidenceRule, x.Evidence} }

// at returns the position of the extraction's entry with the index, or -1 if there is none. Usually the position
// equals the index.
func (x *loggedAlignment) at(index int) int {
	if index >= 0 && index < len(x.Entries) && x.Entries[index].Index == index {
		return index
	}
	return slices.IndexFunc(x.Entries, func(e schema.AlignedEntry) bool { return e.Index == index })
}

// source returns the message in the form that evidence is checked against. Each message is prepared once.
func (r *record) source(index int) *evidence.Source {
	s, ok := r.sources[index]
	if !ok {
		s = evidence.NewMessageSource(r.messages[index].Message, r.messages[index].eventID)
		if r.sources == nil {
			r.sources = map[int]*evidence.Source{}
		}
		r.sources[index] = s
	}
	return s
}
