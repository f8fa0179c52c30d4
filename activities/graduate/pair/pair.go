// Package pair determines the relation of two statements of one user: the later one contradicts the earlier one,
// restates it, or is unrelated.
//
// The rule: a statement is a frame with slots that have one value at a time. Two statements contradict each other in
// three cases. One denies the other, they have different values in one slot of the same frame, or they put the same
// words in another order around a comparative. If two places differ, they are about different things.
//
// A value excludes another one only if both are of one kind and the subject has only one value of the kind: quantities,
// dates, the opposites of a status, the version that something uses, or the alternatives that the lexicon lists. A
// project that uses Postgres does not use MySQL, but it may use Redis. A quantity is an obligation or a property, but
// not a measurement: progress and the outcome of a run are true at their time. A number that identifies a thing is not
// a quantity.
package pair

import (
	"encoding/hex"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
)

// Version is the version of the rule.
const Version = 2

// Kind is the kind of the relation of two statements.
type Kind string

// The kinds.
const (
	Unrelated   Kind = ""
	Restatement Kind = "restatement"
	Conflict    Kind = "conflict"
)

// Relation is the relation of two statements and its reason.
type Relation struct {
	Kind Kind
	// Type is the kind of difference in a conflict: negation, number, status, value, order or date.
	Type string
	// Strict reports a restatement in the same words and order, up to case, punctuation, spacing and contractions. The
	// statement must name its subject, since "it is done" may refer to two things.
	Strict bool
	// Reason is a sentence for people.
	Reason string
}

// Statement is a parsed title. Parse a title once if it is compared with many others.
type Statement struct{ parsed *statement }

// Parse parses a title. The zero Statement is that of an empty title.
func Parse(title string) Statement { return Statement{read(title)} }

// Compare returns the relation of two statements. Only the reason depends on which one is older.
func Compare(older, newer string) Relation { return Parse(older).Compare(Parse(newer)) }

// Claim returns a normal form, which is equal for strict restatements of each other. Statements that do not name their
// subject may have the same form without being strict restatements.
func Claim(title string) string { return Parse(title).Claim() }

// Negated reports whether a statement denies something.
func Negated(title string) bool { return read(title).denies }

// Keys returns the lookup keys of a statement: any two that contradict or restate each other share a key.
func Keys(title string) []string { return Parse(title).Keys() }

// Claim returns the result of [Claim] for the title.
func (s Statement) Claim() string {
	if s.parsed == nil {
		return ""
	}
	return s.parsed.claim
}

// Compare returns the result of [Compare] for the titles, with this one as the older.
func (s Statement) Compare(newer Statement) Relation {
	if s.Claim() == "" || newer.Claim() == "" {
		return Relation{}
	}
	a, b := s.parsed, newer.parsed
	if a.claim == b.claim {
		return Relation{Kind: Restatement, Strict: !a.vague, Reason: "the same words"}
	}
	if a.long || b.long || len(a.words) == 0 || a.question != b.question ||
		a.past != b.past && !a.anyTense && !b.anyTense {
		return Relation{}
	}
	if equal(a.words, b.words) {
		return sameWords(a, b)
	}
	if a.negative() != b.negative() {
		return Relation{}
	}
	if r := reordered(a, b); r.Kind != Unrelated {
		return r
	}
	return filled(a, b)
}

// Advances reports whether the statements differ only in numbers for the progress of something or the outcome of a run.
// Such statements never contradict each other.
func (s Statement) Advances(newer Statement) bool {
	if s.Claim() == "" || newer.Claim() == "" {
		return false
	}
	a, b := s.parsed, newer.parsed
	if a.long || b.long || len(a.words) != len(b.words) || a.negative() != b.negative() {
		return false
	}
	measured := false
	for i, x := range a.words {
		if y := b.words[i]; x.text != y.text {
			if x.kind != number || y.kind != number || !a.progresses(i) && !b.progresses(i) {
				return false
			}
			measured = true
		}
	}
	return measured
}

// Keys returns the result of [Keys] for the title.
func (s Statement) Keys() []string {
	if s.Claim() == "" {
		return nil
	}
	keys := []string{key("claim", s.parsed.claim)}
	if s.parsed.long {
		return keys
	}
	texts := make([]string, len(s.parsed.words))
	for i, w := range s.parsed.words {
		texts[i] = w.text
	}
	if len(texts) > 0 {
		keys = append(keys, key("words", texts...))
	}
	if s.parsed.compares() {
		keys = append(keys, key("order", slices.Sorted(slices.Values(texts))...))
	}
	for _, hole := range s.parsed.slots {
		frame := slices.Concat(texts[:hole.start], []string{""}, texts[hole.end:])
		keys = append(keys, key(hole.kind+hole.group, frame...))
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// key returns a short string for a list of words.
func key(kind string, words ...string) string {
	h := fnv.New64a()
	for _, w := range append([]string{kind}, words...) {
		_, _ = h.Write([]byte(w))
		_, _ = h.Write([]byte{0})
	}
	return hex.EncodeToString(h.Sum(nil))
}

func equal(a, b []word) bool {
	return slices.EqualFunc(a, b, func(x, y word) bool { return x.text == y.text })
}

// sameWords relates two statements of the same words of content.
func sameWords(a, b *statement) Relation {
	if a.negative() == b.negative() {
		return Relation{Kind: Restatement, Reason: "the same words but for grammar and courtesy"}
	}
	if a.uncontestable() || b.uncontestable() {
		return Relation{}
	}
	if a.denies == b.denies {
		return Relation{Kind: Conflict, Type: byStatus, Reason: "one gives the opposite status of the other"}
	}
	reason := "the newer one denies the older one's claim"
	if a.negative() {
		reason = "the newer one makes a claim that the older one denies"
	}
	return Relation{Kind: Conflict, Type: byNegation, Reason: reason}
}

// uncontestable reports whether nothing can contradict the statement: it asks or doubts, is about some and not all, or does not
// name its subject.
func (s *statement) uncontestable() bool {
	return s.question || s.unsure || s.partial || s.vague || s.generic
}

// compares reports whether the statement expresses a preference or an order.
func (s *statement) compares() bool {
	return !s.uncontestable() && (s.any(comparative) || s.any(compare) && s.any(choice|degree))
}

// reordered relates two statements that exchange the two sides of a comparative.
func reordered(a, b *statement) Relation {
	if len(a.words) != len(b.words) || !a.compares() || !b.compares() {
		return Relation{}
	}
	start, end := differing(a.words, b.words)
	x, y := a.words[start:len(a.words)-end], b.words[start:len(b.words)-end]
	for i := 1; i <= min(4, len(x)-1); i++ {
		for j := 1; j <= min(4, len(x)-i); j++ {
			first, last, between := x[:i], x[len(x)-j:], x[i:len(x)-j]
			if !equal(first, y[len(y)-i:]) || !equal(last, y[:j]) || !equal(between, y[j:len(y)-i]) {
				continue
			}
			if !a.comparesIn(start, start+i, len(between)) || !b.comparesIn(start, start+j, len(between)) {
				continue
			}
			return Relation{Kind: Conflict, Type: byOrder, Reason: fmt.Sprintf("%q and %q have changed places", shown(first), shown(last))}
		}
	}
	return Relation{}
}

// comparesIn reports whether a comparative is among the n words at from, or before the span that begins at start:
// rather than this, that.
func (s *statement) comparesIn(start, from, n int) bool {
	return start > 0 && s.words[start-1].has(comparative) && s.any(choice) ||
		slices.ContainsFunc(s.words[from:from+n], func(w word) bool {
			return w.has(comparative) || w.has(compare) && s.any(choice|degree)
		})
}

// differing returns how many words two statements have in common at their start and, of the rest, at their end.
func differing(a, b []word) (start, end int) {
	shorter := min(len(a), len(b))
	for start < shorter && a[start].text == b[start].text {
		start++
	}
	for end < shorter-start && a[len(a)-1-end].text == b[len(b)-1-end].text {
		end++
	}
	return start, end
}

// filled relates two statements with the same frame around one slot.
func filled(a, b *statement) Relation {
	for _, x := range a.slots {
		for _, y := range b.slots {
			if x.kind != y.kind || x.group != y.group || !equal(a.words[:x.start], b.words[:y.start]) || !equal(a.words[x.end:], b.words[y.end:]) {
				continue
			}
			was, is := a.words[x.start:x.end], b.words[y.start:y.end]
			if equal(was, is) || x.kind == byNumber && sameQuantity(was, is) || x.group != "" && was[0].member == is[0].member {
				continue
			}
			return Relation{Kind: Conflict, Type: x.kind, Reason: fmt.Sprintf("%q before, %q now", shown(was), shown(is))}
		}
	}
	return Relation{}
}

func plainNumber(s string) string {
	parts := strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == '.' })
	grouped := len(parts) > 1
	for i, p := range parts {
		grouped = grouped && (i == 0 || len(p) == 3)
	}
	if grouped {
		return strings.Join(parts, "")
	}
	if len(parts) == 2 && strings.Trim(parts[1], "0") == "" {
		return parts[0]
	}
	return strings.Join(parts, ".")
}

func shown(words []word) string {
	parts := make([]string, len(words))
	for i, w := range words {
		parts[i] = w.shown
	}
	return strings.Join(parts, " ")
}
