// Package rules extracts memories from conversation by phrases and by grammar: no model, no network, the
// same result every time. It would rather miss a memory than make one up.
//
// Decisions, corrections and tasks are known by phrases, and those that speak of work on a project count
// only where an agent calls tools: in a chat they are advice, or orders to the assistant. What people tell
// of themselves is known by who is the subject of a clause and by whether its verb tells of life or of the
// talk. testdata/rubric.md says what is worth keeping.
package rules

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"axiommind/activities/text"
	"axiommind/schema"
)

// Version names the rules. It changes with every change of what they find.
const Version = "rules-v5"

var phrases = sync.OnceValue(func() *automaton {
	return newAutomaton(slices.Concat(englishCues(), koreanCues(), chineseCues(), japaneseCues(),
		[]cue{{text: "http://", kind: link}, {text: "https://", kind: link}, {text: "issue #", kind: link},
			{text: "pr #", kind: link}, {text: "pull request #", kind: link}, {text: "이슈 #", kind: link}}))
})

// Extract returns what the messages say, in order. Messages that are not conversation are skipped.
// Evidence refers to each message's Index, and every quote is whole sentences or lines of its Text. [Works]
// tells whether works is true.
func Extract(window []schema.Message, works bool) schema.Extraction {
	x := extractor{
		phrases: phrases(), seen: map[string]int{}, entries: []schema.ExtractedEntry{}, profile: map[string]*summary{}, hands: works,
	}
	for i := range window {
		if window[i].Extractable() {
			x.message(&window[i])
		}
	}
	return schema.Extraction{Entries: append(x.entries, x.summaries()...)}
}

type extractor struct {
	phrases *automaton
	entries []schema.ExtractedEntry
	// seen maps what an entry says to its place, so that saying it again adds evidence only.
	seen map[string]int
	// profile holds what the window says of the user, by sections.
	profile map[string]*summary

	// hands is true where an agent works, and not only talks.
	hands bool

	m          *schema.Message
	boundaries *text.Boundaries
	// own is where what the writer of the message says for itself ends, and what it hands over begins.
	own int
	// asked is where the beginning ends in which the message asks for something.
	asked int

	hits []hit
	rest []hit
	spot []span
	// section is the status that a heading such as "TODO:" gives to the list below it.
	section schema.TaskStatus
}

func (x *extractor) message(m *schema.Message) {
	x.m, x.own, x.asked = m, len(m.Text), len(m.Text)
	x.boundaries = text.NewBoundaries(m.Text)
	if utf8.RuneCountInString(m.Text) > pasted {
		x.asked = runeStart(m.Text, pasted/4)
	}
	if m.Role == schema.RoleUser {
		x.own = OwnWords(m.Text, x.hands)
	}
	x.hits = x.phrases.find(m.Text, x.hits[:0])
	slices.SortStableFunc(x.hits, func(a, b hit) int { return cmp.Compare(a.start, b.start) })
	x.rest = x.hits
	x.section = ""
	lines(m.Text, x.line)
}

func (x *extractor) line(l line) {
	hits := x.within(span{l.start, l.end})
	if status, ok := x.sectionOf(l); ok {
		x.section = status
		return
	}
	if l.heading || !l.bullet {
		x.section = ""
	}
	switch {
	case l.box != noBox:
		x.checkbox(l, hits)
		return
	case x.section != "" && l.bullet:
		x.listed(l, hits, x.section)
		return
	}
	x.spot = sentences(x.m.Text, l, x.spot[:0])
	for _, s := range x.spot {
		var of []hit
		for _, h := range hits {
			if int(h.start) >= s.start && int(h.end) <= s.end {
				of = append(of, h)
			}
		}
		x.sentence(l, s, x.unvoided(of))
	}
}

// within takes the hits of a line off the rest.
func (x *extractor) within(s span) []hit {
	for len(x.rest) > 0 && int(x.rest[0].start) < s.start {
		x.rest = x.rest[1:]
	}
	n := 0
	for n < len(x.rest) && int(x.rest[n].start) < s.end {
		n++
	}
	hits := x.rest[:n]
	x.rest = x.rest[n:]
	return hits
}

// unvoided drops hits that lie within a longer one.
func (x *extractor) unvoided(hits []hit) []hit {
	return slices.DeleteFunc(slices.Clone(hits), func(h hit) bool {
		if x.phrases.cues[h.cue].kind == void {
			return true
		}
		return slices.ContainsFunc(hits, func(o hit) bool {
			return o.start <= h.start && h.end <= o.end && o.end-o.start > h.end-h.start
		})
	})
}

// sentence makes entries of one sentence: references for what it points at, and one entry for what
// it states.
func (x *extractor) sentence(l line, s span, hits []hit) {
	var best *cue
	var at hit
	for _, h := range hits {
		c := &x.phrases.cues[h.cue]
		if c.kind == link {
			if x.hands || x.m.Role == schema.RoleUser && int(h.start) < x.own && introduced(x.m.Text, s, h) {
				x.reference(l, s, h)
			}
			continue
		}
		if x.counts(c, h, s, hits) && (best == nil || c.tellsMoreThan(best)) {
			best, at = c, h
		}
	}
	if l.heading {
		return
	}
	sentence := x.m.Text[s.start:s.end]
	if best == nil {
		x.self(l, s, sentence)
		return
	}
	if asks(sentence) && best.kind != request {
		return
	}
	title := clean(sentence)
	if len([]rune(title)) < 4 {
		return
	}
	e := schema.ExtractedEntry{Title: title}
	switch best.kind {
	case decision:
		e.Type = schema.EntryDecision
	case preference:
		e.Type, e.Category = schema.EntryFact, schema.CategoryPreference
	case correction:
		e.Type, e.Category, e.SourceError = schema.EntryFact, schema.CategoryCorrection, mistake(sentence)
	case goal:
		e.Type, e.Category = schema.EntryFact, schema.CategoryGoal
	case task, request:
		e.Type = schema.EntryTaskNote
		e.Task = x.taskOf(best, at, s, hits)
		if e.Task == nil {
			return
		}
	default:
		return
	}
	x.add(e, best.kind.weight(), x.quoteOf(span{l.start, l.end}, s))
}

// introduced reports whether a sentence says more than where a link leads.
func introduced(text string, s span, h hit) bool {
	const least = 8
	link := span{int(h.start), urlEnd(text, int(h.start), s.end)}
	rest := s.end - s.start - (link.end - link.start)
	return rest >= least*utf8.UTFMax || rest >= least && runes(text, s)-runes(text, link) >= least
}

// pasted is the length in runes from which a message is taken to be pasted in the main.
const pasted = 2000

// counts reports whether a cue means what it says where it stands.
func (x *extractor) counts(c *cue, h hit, s span, hits []hit) bool {
	if c.kind.weight() == 0 {
		return false
	}
	sentence := x.m.Text[s.start:s.end]
	if c.hands && !x.hands {
		return false
	}
	if c.kind == correction && !x.hands && !contrasts(sentence) {
		return false
	}
	if int(h.start) >= x.own && c.kind != correction && c.kind != decision && c.kind != task {
		return false
	}
	if c.who == user && x.m.Role != schema.RoleUser || c.who == assistant && x.m.Role != schema.RoleAssistant {
		return false
	}
	if quoted(x.m.Text[s.start:h.start]) {
		return false
	}
	switch c.place {
	case atStart:
		if !opens(x.m.Text[s.start:h.start]) {
			return false
		}
	case atEnd:
		if !ends(x.m.Text[h.end:s.end]) {
			return false
		}
	}
	if c.with != nil && !slices.ContainsFunc(c.with, func(w string) bool { return strings.Contains(sentence, w) }) {
		return false
	}
	switch c.kind {
	case task:
		// A report that ends with a colon speaks of what follows in the message.
		return !x.near(h, hits) && (c.status != schema.TaskDone || !strings.HasSuffix(strings.TrimRight(sentence, "* "), ":"))
	case decision, goal:
		return !x.near(h, hits)
	case request:
		// A long message is mostly pasted: what is asked for stands at its beginning.
		return utf8.RuneCountInString(sentence) <= 600 && s.start <= x.asked
	default:
		return true
	}
}

// contrasts reports whether a sentence says what is right instead of what is wrong. In other words than
// English the cues say so themselves.
func contrasts(sentence string) bool {
	for _, c := range []string{" not ", "n't ", "instead of", "rather than"} {
		if strings.Contains(sentence, c) {
			return true
		}
	}
	return strings.ContainsFunc(sentence, func(r rune) bool { return unicode.In(r, unicode.Han, unicode.Hangul, unicode.Hiragana) })
}

// near reports whether a doubt stands anywhere in the sentence, or a negation next to the cue.
func (x *extractor) near(h hit, hits []hit) bool {
	for _, o := range hits {
		switch c := &x.phrases.cues[o.cue]; {
		case c.kind == doubt:
			return true
		case c.kind != negation || o.start >= h.start && o.end <= h.end:
		case o.end <= h.start && negates(x.m.Text[o.start:o.end], x.m.Text[o.end:h.start]):
			return true
		case o.start >= h.end && isHangul(x.m.Text[o.start:]) && o.start-h.end <= 12:
			return true
		}
	}
	return false
}

// negates reports whether a negation reaches over what lies between it and the cue.
func negates(negation, between string) bool {
	if negation[0] < 0x80 {
		return len(between) <= 24 && !strings.ContainsAny(between, ",.;:")
	}
	return len(between) <= 6
}

// add appends the entry, or its quote to the entry that already says the same.
func (x *extractor) add(e schema.ExtractedEntry, confidence float64, quote string) {
	if quote == "" {
		return
	}
	proof := schema.Quote{MessageIndex: x.m.Index, Quote: quote}
	key := string(e.Type) + "\x00" + e.Category + "\x00" + strings.ToLower(e.Title) + "\x00" + e.Content
	if e.Task != nil {
		key += "\x00" + string(e.Task.Status)
	}
	const maxProofs = 3
	if n, ok := x.seen[key]; ok {
		if known := &x.entries[n]; len(known.Evidence) < maxProofs && !slices.Contains(known.Evidence, proof) {
			known.Evidence = append(known.Evidence, proof)
		}
		return
	}
	x.seen[key] = len(x.entries)
	e.Confidence = &confidence
	e.Evidence = []schema.Quote{proof}
	x.entries = append(x.entries, e)
}
