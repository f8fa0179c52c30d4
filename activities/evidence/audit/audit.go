// Package audit checks the evidence that is stored, in the log and in the tables, against the messages that it
// is of, and finds what an older rule of proof has judged.
package audit

import (
	"slices"

	"axiommind/activities/evidence"
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

// Tally counts what an audit has looked at. A quote counts once, as the last alignment of its extraction
// judges it, however often it is stored.
type Tally struct {
	Sessions int `json:"sessions"`
	// Entries are those in the log, Unprojected those of which the tables do not hold all that the log does.
	Entries     int `json:"entries"`
	Unprojected int `json:"unprojected"`
	// Spans counts the quotes that are found by method, and NotFound the others by reason.
	Spans    map[schema.Method]int `json:"spans"`
	NotFound map[string]int        `json:"not_found"`
	// Aligned are those of Spans that are found word for word, Proven those of Aligned that are proven.
	Aligned int `json:"aligned"`
	Proven  int `json:"proven"`
	// Older counts the quotes that an older rule than [evidence.Rule] has judged, by that rule.
	Older map[int]int `json:"older_rules"`
	// Unknown counts the quotes that are judged by a rule which this program does not know. They are neither
	// checked nor counted elsewhere.
	Unknown map[int]int `json:"unknown_rules"`
	// False counts the findings.
	False int `json:"false"`
}

// NewTally returns a tally of nothing.
func NewTally() Tally {
	return Tally{Spans: map[schema.Method]int{}, NotFound: map[string]int{}, Older: map[int]int{}, Unknown: map[int]int{}}
}

// Add adds v to t, which is made by [NewTally].
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

// count counts a quote that the rule has judged.
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

// Stored is evidence of an entry as a table holds it: what the entry was made with, or what it was judged to be
// since, of one origin.
type Stored struct {
	EntryID, Stream, Project, EventID string
	EvidenceAligned, EvidenceProven   bool
	// Rule is the version of the rule of proof that judged it.
	Rule int
	// ExtractedEventID and Index name the origin. They are zero in what the entry was made with.
	ExtractedEventID string
	Index            int
	// Evidence is JSON.
	Evidence string
}

// SessionAudit is what the audit of one session found.
type SessionAudit struct {
	SessionID string
	Tally     Tally
	Findings  []Finding
}

// record is all that the log and the table hold of a session's evidence.
type record struct {
	session   schema.SessionKey
	messages  []message
	extracted map[string][]schema.ExtractedEntry
	aligned   []loggedAlignment
	entries   []loggedEntry
	sets      []loggedSet
	rows      []Stored
	// sources are the messages that evidence was checked against, by index.
	sources map[int]*evidence.Source
}

// message is a message's text and the id of the event that holds it.
type message struct{ text, eventID string }

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

// origin names an extracted entry.
type origin struct {
	extractedEventID string
	index            int
}

func (e *loggedEntry) origin() origin { return origin{e.ExtractedEventID, e.Index} }
func (s *loggedSet) origin() origin   { return origin{s.ExtractedEventID, s.Index} }

// at returns the position of the extraction's entry at the index, -1 where there is none. As a rule it is the
// index.
func (x *loggedAlignment) at(index int) int {
	if index >= 0 && index < len(x.Entries) && x.Entries[index].Index == index {
		return index
	}
	return slices.IndexFunc(x.Entries, func(e schema.AlignedEntry) bool { return e.Index == index })
}

// source returns the message in the form that evidence is checked against. It is prepared once.
func (r *record) source(index int) *evidence.Source {
	s, ok := r.sources[index]
	if !ok {
		s = evidence.NewSource(index, r.messages[index].eventID, r.messages[index].text)
		if r.sources == nil {
			r.sources = map[int]*evidence.Source{}
		}
		r.sources[index] = s
	}
	return s
}
