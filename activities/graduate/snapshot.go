package graduate

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"axiommind/activities/entry"
	"axiommind/activities/graduate/pair"
	"axiommind/schema"
)

// snapshot is the input of a pass: the entries of the sessions to consider, the entries that may conflict with or
// repeat them, and the earlier acts of graduation on all of these.
type snapshot struct {
	project string
	at      time.Time
	// sessions are those to consider, and head is the position of the graduation stream at which the snapshot was read.
	sessions []pendingSession
	head     uint64
	// focus has the ids of the entries that the sessions created or changed.
	focus []string
	// entries has all loaded entries by id, and near the ids of the entries that share a key with an entry.
	entries map[string]*statement
	near    map[string][]string
	// conflicts has the conflicts of the loaded entries by id, and decided the ids of recorded decisions.
	conflicts map[string]conflictState
	decided   map[string]bool
	// messages has the messages for comparing sources and checking evidence.
	messages map[messageKey]schema.Message

	// parsed, compared and neighbours are caches: parsed titles, relations by the ids of two entries, and the
	// neighbours of an entry by its id.
	parsed     map[string]pair.Statement
	compared   map[[2]string]pair.Relation
	neighbours map[string][]*statement
}

// pendingSession is a session with changes that graduation has not considered.
type pendingSession struct {
	schema.SessionKey
	stream string
	// seq is the position of the last row of its stream, and build is the build that wrote the row. build is empty if
	// graduation has already considered the row.
	seq   uint64
	build string
}

// messageKey identifies a message by its stream and index.
type messageKey struct {
	stream string
	index  int
}

// statement is an entry with the acts of graduation on it.
type statement struct {
	entry.Row
	// ended, staged and linked are the last acts of graduation on its status, its stage and its original.
	ended, staged, linked mark
	// sessionStage is the stage that the entry reached in its own session.
	sessionStage schema.Stage
	// checkedBy is the build whose check set sessionStage.
	checkedBy string
	// confirmedBy is the person who confirmed it last, and confirmedAt is the time of the last confirmation by a person
	// or a model.
	confirmedBy string
	confirmedAt time.Time
}

// mark is an act of graduation on an entry. Its version is the position of its event, 0 if there was none.
type mark struct {
	version uint64
	status  schema.Status
	stage   schema.Stage
	demotes bool
	other   string
	by      string
	build   string
	at      time.Time
}

// conflictState is the state of a conflict in the ledger.
type conflictState struct {
	older, newer string
	open         bool
	kept, by     string
	// last is the position of its last event.
	last uint64
}

// ResolvedByGraduation is the recorded resolver of a conflict that ends because a side is no longer believed, or because
// its values are among too many to exclude each other.
const ResolvedByGraduation = "graduation"

// stated reports whether the entry's evidence was found in the words of the user or the assistant. The text of a tool
// or a document is excluded, since it may be written to contest or replace the user's statements.
func (s *statement) stated() bool {
	return s.EvidenceAligned && schema.Untrusted(s.Evidence) == ""
}

// believed reports whether the entry was stated, and is neither superseded nor retired.
func (s *statement) believed() bool { return s.stated() && s.isActive() }

// isActive reports whether the entry is neither superseded nor retired, whoever states it.
func (s *statement) isActive() bool {
	return s.Status == schema.StatusActive || s.Status == schema.StatusContested
}

// active reports whether the entry is believed and not contested.
func (s *statement) active() bool { return s.Status == schema.StatusActive }

// gained reports whether the entry's evidence came from another session or from a confirmation. Then the check of its
// own session has not seen it.
func (s *statement) gained() bool {
	return s.EvidenceProven && (s.EvidenceSessionID != s.SessionID || !s.confirmedAt.IsZero())
}

// corrects reports whether the entry corrects another statement.
func (s *statement) corrects() bool {
	return s.Corrects != "" || s.Type == schema.EntryFact && s.Category == categoryCorrection
}

// categoryCorrection is the category of the facts that correct earlier ones.
const categoryCorrection = "correction"

// older reports whether a was stated before b: by time, then by place in their session. Ties are broken independently
// of the order of processing.
func older(a, b *statement) bool {
	if c := a.OccurredAt.Compare(b.OccurredAt); c != 0 {
		return c < 0
	}
	return cmp.Or(
		strings.Compare(a.SessionID, b.SessionID),
		compareStated(a.Entry, b.Entry),
		strings.Compare(a.Title, b.Title),
		strings.Compare(a.ID, b.ID),
	) < 0
}

// compareStated compares the places of the first evidence of two entries of one session.
func compareStated(a, b schema.Entry) int {
	am, ab := statedAt(a)
	bm, bb := statedAt(b)
	return cmp.Or(cmp.Compare(am, bm), cmp.Compare(ab, bb))
}

// statedAt returns the message and the byte of the entry's first piece of evidence.
func statedAt(e schema.Entry) (message, byteStart int) {
	for i, piece := range e.Evidence {
		if i == 0 || piece.MessageIndex < message || piece.MessageIndex == message && piece.Span.ByteStart < byteStart {
			message, byteStart = piece.MessageIndex, piece.Span.ByteStart
		}
	}
	return message, byteStart
}

// inOrder returns the older entry first.
func inOrder(a, b *statement) (*statement, *statement) {
	if older(b, a) {
		return b, a
	}
	return a, b
}

// parse parses a title, each title once.
func (w *snapshot) parse(title string) pair.Statement {
	s, known := w.parsed[title]
	if !known {
		if w.parsed == nil {
			w.parsed = map[string]pair.Statement{}
		}
		s = pair.Parse(title)
		w.parsed[title] = s
	}
	return s
}

// relation returns the relation of two entries, given in any order.
func (w *snapshot) relation(a, b *statement) pair.Relation {
	a, b = inOrder(a, b)
	key := [2]string{a.ID, b.ID}
	r, known := w.compared[key]
	if !known {
		if w.compared == nil {
			w.compared = map[[2]string]pair.Relation{}
		}
		r = relate(w.parse, a.Entry, b.Entry)
		w.compared[key] = r
	}
	return r
}

// relate compares the statements of two entries, the older first. A title may be cut or name a longer text. So entries
// say the same only if their contents agree too, and strictly so only if the contents are equal.
func relate(parse func(title string) pair.Statement, a, b schema.Entry) pair.Relation {
	r := parse(a.Title).Compare(parse(b.Title))
	switch {
	case r.Kind == pair.Conflict && (a.Type == schema.EntryReference || b.Type == schema.EntryReference):
		return pair.Relation{} // Two references may point at different things.
	case r.Kind != pair.Restatement:
		return r
	}
	x, y := beyondTitle(a), beyondTitle(b)
	switch {
	case x == y:
		return r
	case x == "" || y == "":
		r.Strict = false
		return r
	default:
		return pair.Relation{}
	}
}

// beyondTitle returns the normalized content of an entry, or "" if it equals the title.
func beyondTitle(e schema.Entry) string {
	if claim := pair.Claim(e.Content); claim != pair.Claim(e.Title) {
		return claim
	}
	return ""
}

// around returns the loaded entries that share a key with the entry, the oldest first. All are of its own scope.
func (w *snapshot) around(s *statement) []*statement {
	out, known := w.neighbours[s.ID]
	if known {
		return out
	}
	for _, id := range w.near[s.ID] {
		if other := w.entries[id]; other != nil && other.ID != s.ID && other.Scope == s.Scope {
			out = append(out, other)
		}
	}
	if w.neighbours == nil {
		w.neighbours = map[string][]*statement{}
	}
	out = sortedByAge(out)
	w.neighbours[s.ID] = out
	return out
}

// focused returns the entries in focus, the oldest first.
func (w *snapshot) focused() []*statement {
	var out []*statement
	for _, id := range w.focus {
		if s := w.entries[id]; s != nil {
			out = append(out, s)
		}
	}
	return sortedByAge(out)
}

func sortedByAge(list []*statement) []*statement {
	slices.SortFunc(list, func(a, b *statement) int {
		switch {
		case a == b:
			return 0
		case older(a, b):
			return -1
		}
		return 1
	})
	return slices.Compact(list)
}

// independent reports whether the two entries come from different sources. A message that is the same in two sessions,
// such as in a fork or a compacted transcript, is one source.
func (w *snapshot) independent(a, b *statement) bool {
	if a.SessionID == b.SessionID {
		return false
	}
	for _, x := range a.Evidence {
		for _, y := range b.Evidence {
			if w.sameMessage(a, x, b, y) {
				return false
			}
		}
	}
	return true
}

func (w *snapshot) sameMessage(a *statement, x schema.Evidence, b *statement, y schema.Evidence) bool {
	if x.SourceHash != y.SourceHash {
		return false
	}
	at, bt := placeOf(a, x), placeOf(b, y)
	if at == bt {
		return true
	}
	m, n := w.messages[at], w.messages[bt]
	return m.Role == n.Role && (m.At.IsZero() || n.At.IsZero() || m.At.Equal(n.At))
}

// placeOf returns the message that a piece of the entry's evidence is in.
func placeOf(s *statement, piece schema.Evidence) messageKey {
	return messageKey{s.EvidenceSession().Stream(), piece.MessageIndex}
}
