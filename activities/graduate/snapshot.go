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

// snapshot is what a pass knows when it is planned: the entries of the sessions that it considers, what may conflict with them
// or say the same, and what graduation said of all these before.
type snapshot struct {
	project string
	at      time.Time
	// sessions are those to consider, and head the position of graduation's own stream at which all was read.
	sessions []pendingSession
	head     uint64
	// focus are the ids of the entries that the sessions speak of.
	focus []string
	// entries are all that were loaded, by id, and near are the ids of those that share a key with an entry.
	entries map[string]*statement
	near    map[string][]string
	// conflicts are those that a loaded entry is a side of, by id, and decided the ids of recorded decisions.
	conflicts map[string]conflictState
	decided   map[string]bool
	// messages are those that evidence is compared by, or checked against.
	messages map[place]schema.Message

	// parsed are titles, compared are relations by the ids of two entries, and neighbours what is around an entry by its id:
	// all of what was asked for before.
	parsed     map[string]pair.Statement
	compared   map[[2]string]pair.Relation
	neighbours map[string][]*statement
}

// pendingSession is a session with something that graduation has not considered.
type pendingSession struct {
	schema.SessionKey
	stream string
	// seq is the position of the last row of its stream, and build the build that wrote it. It is empty if graduation has
	// considered the row before.
	seq   uint64
	build string
}

// place is a message of a session.
type place struct {
	stream string
	index  int
}

// statement is an entry with what was said of it in the stream of graduation.
type statement struct {
	entry.Row
	// ended, staged and linked are the last acts of graduation on its status, its stage and its original.
	ended, staged, linked mark
	// sessionStage is the stage that its own session has lifted it to.
	sessionStage schema.Stage
	// checkedBy is the build whose check did.
	checkedBy string
	// confirmedBy is the person who confirmed it last, and confirmedAt when a person or a model did.
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

// conflictState is what the ledger says of a conflict.
type conflictState struct {
	older, newer string
	open         bool
	kept, by     string
	// last is the position of its last event.
	last uint64
}

// ResolvedByGraduation is who resolves a conflict when one side is no longer believed.
const ResolvedByGraduation = "graduation"

// stated reports whether the entry was found in its session, in what the user or the assistant said: the text of a tool or
// of a document may be written to contest what the user has said, or to take its place.
func (s *statement) stated() bool {
	return s.EvidenceAligned && schema.Untrusted(s.Evidence) == ""
}

// believed reports whether the entry was stated, and nothing has taken its place.
func (s *statement) believed() bool { return s.stated() && s.stands() }

// stands reports whether nothing has taken the entry's place, whoever states it.
func (s *statement) stands() bool {
	return s.Status == schema.StatusActive || s.Status == schema.StatusContested
}

// active reports whether the entry is believed, and nothing contests it.
func (s *statement) active() bool { return s.Status == schema.StatusActive }

// gained reports whether the entry's evidence is not of its own session's builds, whose check has not seen it.
func (s *statement) gained() bool {
	return s.EvidenceProven && (s.EvidenceSessionID != s.SessionID || !s.confirmedAt.IsZero())
}

// corrects reports whether the entry states that something else is wrong.
func (s *statement) corrects() bool {
	return s.Corrects != "" || s.Type == schema.EntryFact && s.Category == categoryCorrection
}

// categoryCorrection is the category of the facts that correct earlier ones.
const categoryCorrection = "correction"

// older reports whether a was stated before b: by time, then by place in their session. Ties are broken by what does not
// depend on the order of processing.
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

// compareStated compares the places in one session at which entries are stated first.
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

// parse takes a title apart, each once.
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

// relation says how two entries relate, whatever their order.
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

// relate compares what two entries say, the older first. A title may be cut, or be the name of a longer text: entries say
// the same only if their contents do, too, and in the same words only if these are.
func relate(parse func(title string) pair.Statement, a, b schema.Entry) pair.Relation {
	r := parse(a.Title).Compare(parse(b.Title))
	switch {
	case r.Kind == pair.Conflict && (a.Type == schema.EntryReference || b.Type == schema.EntryReference):
		return pair.Relation{} // A reference points at one thing, and another at another.
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

// beyondTitle returns what an entry says beside its title, in the form in which equal statements are equal.
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

// focused returns the entries that the sessions speak of, the oldest first.
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
func placeOf(s *statement, piece schema.Evidence) place {
	return place{s.EvidenceSession().Stream(), piece.MessageIndex}
}
