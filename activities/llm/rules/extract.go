// Package rules finds explicit statements by their phrases: tasks with their states, decisions, standing orders, corrections
// and goals. It needs no model, gives the same result every time, and misses a memory rather than make one up. Package worth
// finds the rest.
//
// Some phrases count only where an agent works, that is where it calls tools: "The deploy is waiting for the review." In a chat they
// are advice, or talk of things that end with the chat.
package rules

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"axiommind/activities/llm/prose"
	"axiommind/activities/text"
	"axiommind/schema"
)

// Version names the rules. It changes with every change in the results.
const Version = "rules-v6"

// Extract returns the statements of the messages, in order. Messages that are not conversation are skipped. Evidence refers to each
// message's Index, and every quote is whole sentences or lines of its Text. Works is true where an agent works.
func Extract(window []schema.Message, works bool) schema.Extraction {
	x := extractor{finder: finderOfAll(), seen: map[string]int{}, entries: []schema.ExtractedEntry{}, works: works}
	for i := range window {
		if window[i].Extractable() {
			x.message(&window[i])
		}
	}
	return schema.Extraction{Entries: x.entries}
}

type extractor struct {
	finder  *finder
	entries []schema.ExtractedEntry
	// seen maps an entry's statement to its place, so that saying it again adds evidence only.
	seen  map[string]int
	works bool

	m          *schema.Message
	boundaries prose.Boundaries
	// own is where the writer's own words end, and those begin that he hands over.
	own int
	// section is the status that a heading such as "TODO:" gives to the list below it.
	section schema.TaskStatus
}

func (x *extractor) message(m *schema.Message) {
	x.m, x.own, x.boundaries, x.section = m, len(m.Text), text.NewBoundaries(m.Text), ""
	if m.Role == schema.RoleUser {
		x.own = prose.OwnWords(m.Text, x.works)
	}
	var spans []prose.Span
	prose.Lines(m.Text, func(l prose.Line) {
		if status, ok := x.sectionOf(l); ok {
			x.section = status
			return
		}
		if l.Heading || !l.Bullet {
			x.section = ""
		}
		switch {
		case l.Box == prose.TickedBox:
			x.listed(l, schema.TaskDone)
		case l.Box == prose.CancelledBox:
			x.listed(l, schema.TaskCancelled)
		case l.Box == prose.OpenBox:
			x.listed(l, schema.TaskPending)
		case x.section != "" && l.Bullet:
			x.listed(l, x.section)
		case !l.Heading:
			spans = prose.Split(m.Text, l, spans[:0])
			for _, s := range spans {
				x.sentence(l, s)
			}
		}
	})
}

// sentence makes an entry of a sentence that states something.
func (x *extractor) sentence(l prose.Line, s prose.Span) {
	said := x.m.Text[s.Start:s.End]
	hits := x.finder.find(said)
	var best *hit
	for i := range hits {
		if h := &hits[i]; (best == nil || h.tellsMoreThan(best.cue)) && x.counts(h, s, said, hits) {
			best = h
		}
	}
	if best == nil || prose.Asks(said) {
		return
	}
	title := prose.Title(said)
	if utf8.RuneCountInString(title) < 4 {
		return
	}
	e := schema.ExtractedEntry{Type: schema.EntryFact, Title: title}
	switch best.kind {
	case decision:
		e.Type = schema.EntryDecision
	case preference:
		e.Category = schema.CategoryPreference
	case correction:
		e.Category, e.SourceError = schema.CategoryCorrection, mistake(said)
	case goal:
		e.Category = schema.CategoryGoal
	default:
		e.Type, e.Task = schema.EntryTaskNote, taskOf(best, said, hits)
		if e.Task == nil {
			return
		}
	}
	x.add(e, weights[best.kind], l, s)
}

// counts reports whether a cue has its usual meaning in its place.
func (x *extractor) counts(h *hit, s prose.Span, said string, hits []hit) bool {
	handedOver := s.Start+h.start >= x.own && (h.kind == preference || h.kind == goal)
	switch {
	case weights[h.kind] == 0, handedOver, h.hands && !x.works, h.who != "" && x.m.Role != h.who,
		h.kind == correction && !x.works && !contrasts(said), prose.Quoted(said[:h.start]),
		h.opens && !prose.Opens(said[:h.start]),
		h.with != nil && !prose.ContainsAny(said, h.with):
		return false
	}
	switch h.kind {
	case task:
		// A report that ends with a colon introduces the next lines of the message.
		return !near(h, said, hits) && (h.status != schema.TaskDone || !strings.HasSuffix(strings.TrimRight(said, "* "), ":"))
	case decision, goal:
		return !near(h, said, hits)
	default:
		return true
	}
}

// contrasts reports whether a sentence sets right against wrong. In languages but English the cues themselves do.
func contrasts(sentence string) bool {
	return prose.ContainsAny(sentence, []string{" not ", "n't ", "instead of", "rather than"}) ||
		strings.ContainsFunc(sentence, func(r rune) bool { return unicode.In(r, unicode.Han, unicode.Hangul, unicode.Hiragana) })
}

// near reports whether a doubt is anywhere in the sentence, or a negation next to the cue.
func near(h *hit, said string, hits []hit) bool {
	return slices.ContainsFunc(hits, func(o hit) bool {
		switch {
		case o.kind == doubt:
			return true
		case o.kind != negation || o.start >= h.start && o.end <= h.end:
			return false
		case o.end <= h.start:
			return negates(said[o.start:o.end], said[o.end:h.start])
		}
		return o.start >= h.end && prose.Hangul(said[o.start:]) && o.start-h.end <= 12
	})
}

// negates reports whether a negation reaches over the text between it and the cue.
func negates(negation, between string) bool {
	if negation[0] < utf8.RuneSelf {
		return len(between) <= 24 && !strings.ContainsAny(between, ",.;:")
	}
	return len(between) <= 6
}

// add appends the entry, or its quote to the entry that already says the same.
func (x *extractor) add(e schema.ExtractedEntry, confidence float64, l prose.Line, s prose.Span) {
	quote := prose.Quote(x.m.Text, x.boundaries, prose.Sentence{Start: s.Start, End: s.End, LineStart: l.Start, LineEnd: l.End})
	if quote == "" {
		return
	}
	proof := schema.Quote{MessageIndex: x.m.Index, Quote: quote}
	key := string(e.Type) + "\x00" + e.Category + "\x00" + strings.ToLower(e.Title)
	if e.Task != nil {
		key += "\x00" + string(e.Task.Status)
	}
	if n, ok := x.seen[key]; ok {
		if known := &x.entries[n]; len(known.Evidence) < 3 && !slices.Contains(known.Evidence, proof) {
			known.Evidence = append(known.Evidence, proof)
		}
		return
	}
	x.seen[key] = len(x.entries)
	e.Confidence, e.Evidence = &confidence, []schema.Quote{proof}
	x.entries = append(x.entries, e)
}
