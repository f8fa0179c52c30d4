package pair

import (
	"regexp"
	"slices"
	"strings"
)

// slot is a place of a statement that has one value at a time: the same statement with another value there contradicts
// it.
type slot struct {
	kind string
	// group names the values that exclude each other, if only some values do.
	group      string
	start, end int
}

const (
	// maxSlots bounds the slots of a statement, and so its keys.
	maxSlots = 28
	// maxName bounds the words of a name, and maxRun its characters in a script without spaces.
	maxName, maxRun = 3, 10
)

// The kinds of relations.
const (
	byNegation = "negation"
	byNumber   = "number"
	byStatus   = "status"
	byValue    = "value"
	byOrder    = "order"
	byDate     = "date"
)

// findSlots returns the places of the statement that have one value at a time.
func (s *statement) findSlots() []slot {
	if s.long || len(s.words) < 2 || s.negative() || s.uncontestable() || s.additive {
		return nil
	}
	var out []slot
	add := func(hole slot) {
		if hole.end > hole.start && hole.end-hole.start < len(s.words) && len(out) < maxSlots && !slices.Contains(out, hole) {
			out = append(out, hole)
		}
	}
	for i, w := range s.words {
		switch {
		case w.quoted || w.kind == number && (s.progresses(i) || s.refers(i)):
		case w.kind == number && s.counts(i):
			s.measures(i, add)
		case w.kind == date && s.dates(i):
			add(slot{kind: byDate, start: s.withPreposition(i), end: i + 1})
		case w.has(unit) && i > 1 && s.words[i-1].has(every) && !s.words[i-1].has(preposition) && !s.event:
			add(slot{kind: byNumber, start: i, end: i + 1})
		}
	}
	add(slot{kind: byValue, end: s.holder()})
	start, end := s.object()
	add(slot{kind: byValue, start: start, end: end})
	s.rivals(add)
	return out
}

// progresses reports whether the number at i is the progress of something or the outcome of a run: 3 of 8, 30 % done.
// It is measured at its time, so a number of another time does not contradict it. A bound, a condition and a span of
// time are obligations. The word for progress must be next to the number or its subject, unlike in: completed orders
// are kept for 30 days. "At 40 %" is progress, as in: the download is at 40 %. "Is 40 %" is a property, as in: the
// discount is 40 %.
func (s *statement) progresses(i int) bool {
	if s.any(bound|decided|choice) || i > 0 && s.words[i-1].has(every) && !s.words[i-1].linked && !s.at(i-1, ratio) && !s.at(i-2, progress) {
		return false
	}
	if s.at(i+1, ratio) && s.counted(i+2) || s.at(i-1, ratio) && s.counted(i-2) {
		return true
	}
	if s.at(i+1, progress) || i+3 == len(s.words) && s.at(i+2, progress) && !s.words[i+1].has(preposition) {
		return true
	}
	if s.at(i+1, scale) || s.clock(i) || s.predicate == i && !s.words[i].linked { // The stage has 3 replicas.
		return false
	}
	if s.at(i-1, progress) {
		// The coverage is 80 %, but the price of the pilot phase is 500.
		return !s.words[i].linked || !slices.ContainsFunc(s.words[:i-1], func(w word) bool { return w.has(preposition | ratio) })
	}
	// The migration is finished to 30 %, but the office is open from 9.
	return s.at(i-1, preposition) && s.at(i-2, progress) && (!s.words[i-2].linked || s.words[i].percent) ||
		s.words[i].percent && s.words[i].linked && s.at(i-1, on|preposition) ||
		s.words[i].linked && s.at(0, progress) && (s.at(1, ratio) || s.headsFirst())
}

// at reports whether there is a word of the class at i.
func (s *statement) at(i int, f flag) bool { return i >= 0 && i < len(s.words) && s.words[i].has(f) }

// counted reports whether there is a number at i.
func (s *statement) counted(i int) bool {
	return i >= 0 && i < len(s.words) && s.words[i].kind == number
}

// headsFirst reports whether a noun precedes the nouns that describe it.
func (s *statement) headsFirst() bool {
	return slices.Contains([]string{"de", "es", "fr", "it", "pt"}, s.language.language)
}

// refers reports whether the number at i identifies a thing and is no quantity: #151, lines 3-8, shot-2.png,
// main.go:96, 10:26:47Z.
func (s *statement) refers(i int) bool {
	w := s.words[i]
	if reference.MatchString(w.text) {
		return true
	}
	if i == 0 {
		return false
	}
	before := s.words[i-1].text
	if i > 1 && scheme.MatchString(s.words[i-2].text) {
		return false // The number is a port.
	}
	return strings.Contains(w.text, "-") && lined.MatchString(before) ||
		w.glued && strings.ContainsAny(before, `/\`) && (strings.Contains(before, ".") || before[0] == '/')
}

var (
	// reference matches numbers of issues, names of files, and times of records.
	reference = regexp.MustCompile(`^#|\d\.[a-z]{2,4}$|:\d\d:\d\d(?:\.\d+)?z$`)
	// scheme matches the beginning of an address.
	scheme = regexp.MustCompile(`^(?:https?|wss?|tcp|udp|grpc|sftp|ftp|ssh|postgres(?:ql)?|mysql|mongodb|redis|amqps?|nats|kafka|clickhouse)$`)
	// lined matches words for lines and pages.
	lined = regexp.MustCompile(`^(?:lines?|pages?|zeilen?|seiten?|lignes?|líneas?|páginas?|righe|pagine|linhas?)$`)
)

// person reports whether the subject is a pronoun for a person.
func (s *statement) person() bool {
	first := s.words[0]
	return first.has(pronoun) && (!first.has(definite) || s.predicate == 1 || s.predicate < 0)
}

// thing reports whether the subject is one definite thing.
func (s *statement) thing() bool {
	first := s.words[0]
	return !s.plural && !s.person() && !first.indefinite && (first.definite || !s.language.articles())
}

func (s *statement) any(f flag) bool {
	for _, w := range s.words {
		if w.has(f) {
			return true
		}
	}
	return false
}

// counts reports whether a number is a quantity, a frequency or the value of a setting, and does not identify a thing.
func (s *statement) counts(i int) bool {
	if s.event && !s.any(decided|choice) {
		return false
	}
	w := s.words[i]
	if s.labeled(i) {
		return true
	}
	if i > 1 && !w.linked && s.predicate != i && s.names(i-1) {
		return false
	}
	if i > 0 && s.words[i-1].has(returns) && !w.definite {
		return true
	}
	if s.clock(i) && slices.ContainsFunc(s.words[:i], func(w word) bool { return w.indefinite }) {
		return false // A meeting at 2 does not exclude one at 4.
	}
	measured := strings.Trim(w.text, "0123456789.,:-+") != "" || i > 0 && s.words[i-1].has(every) ||
		i+1 < len(s.words) && (s.words[i+1].has(unit) || s.words[i+1].linked && i+2 == len(s.words))
	if s.predicate >= 0 && i < s.predicate {
		return false
	}
	if w.linked || i > 0 && measured {
		return true
	}
	if s.labels(i) {
		// After the object of a statement it names the place: in project 1.
		if i >= 2 && s.words[i-2].has(preposition) && s.predicate < i-3 {
			return false
		}
		return s.predicate >= 0 && (s.thing() || s.any(choice))
	}
	return s.predicate >= 0 || i >= 3
}

// labels reports whether a number follows a noun and so identifies it: chapter 5.
func (s *statement) labels(i int) bool {
	if i == 0 || s.words[i-1].flags != 0 || s.words[i-1].kind != noValue {
		return false
	}
	return i+1 == len(s.words) || s.words[i+1].has(preposition)
}

// withPreposition returns the start of the date at i, including a preposition before it.
func (s *statement) withPreposition(i int) int {
	if i > 0 && s.words[i-1].has(on) {
		return i - 1
	}
	return i
}

// dates reports whether a date is that of the one event or deadline that the statement is about.
func (s *statement) dates(i int) bool {
	if s.any(decided) {
		return true
	}
	start := s.withPreposition(i)
	if start == 0 || s.predicate >= 0 && start < s.predicate {
		return false
	}
	before, after := s.words[:start], s.words[i+1:]
	limit := s.words[start-1].has(timed)
	if s.event || s.statusWord && !limit || s.person() && !limit {
		return false
	}
	for j, w := range s.words {
		if w.kind == number && j != i-1 && j != i+1 && !limit {
			return false
		}
	}
	for _, w := range before {
		if w.has(timed) {
			return true
		}
	}
	if s.words[i].linked || s.words[start].linked {
		return true
	}
	switch s.language.language {
	case "ko", "ja":
		for _, w := range after {
			if !w.has(timed) {
				return false
			}
		}
		return s.predicate >= 0
	case "ru", "uk", "tr", "ar", "he":
		return len(after) == 0 && len(before) == 1
	}
	return false
}

// holder returns the end of the subject if the statement names the holder of something that only one can have, and 0
// otherwise.
func (s *statement) holder() int {
	if s.past || s.person() {
		return 0
	}
	for k, w := range s.words {
		if !w.has(owner) || w.quoted || k == 0 {
			continue
		}
		end := k
		if s.language.language == "ko" || s.language.language == "ja" {
			end = s.predicate
		} else if s.predicate != k || k+1 == len(s.words) || s.language.articles() && !s.words[k+1].definite && !s.words[k+1].name {
			return 0
		}
		if end > 4 || end < 0 {
			return 0
		}
		return end
	}
	return 0
}

// object returns the span of the complement of a copula, of a choice, or of a place.
func (s *statement) object() (start, end int) {
	if s.event && !s.any(choice|decided) || s.any(comparative) {
		return 0, 0
	}
	for k, w := range s.words {
		switch {
		case w.quoted || k == 0:
		case s.letter(k) && (s.any(choice) || s.any(decided) && s.any(use)):
			return k, k + 1
		case s.equates(k) && s.thingOrLabel() && !w.indefinite && !s.words[k-1].has(manifold) && w.kind == noValue && !w.has(on|preposition|owner):
			if end := s.valueEnd(k, s.anyBefore(k, unique)); end > k {
				return k, end
			}
		case s.chooses(k-1) && !w.has(on|preposition|owner) && w.kind == noValue:
			if end := s.valueEnd(k, true); k < end && end < len(s.words) {
				return k, end
			}
		case s.words[k-1].has(on|preposition) && s.places(k):
			return k, s.valueEnd(k, s.words[k-1].has(housed))
		}
	}
	return 0, 0
}

// stems enumerate things in Chinese, as letters do.
var stems = []string{"甲", "乙", "丙", "丁", "戊"}

// letter reports whether the word at k distinguishes things of one kind: plan B. A choice excludes another one only if
// it has the same purpose or is of the same kind.
func (s *statement) letter(k int) bool {
	w := s.words[k]
	return slices.Contains(stems, w.text) || w.name && len(w.text) == 1 && w.kind == noValue && s.words[k-1].flags == 0
}

// equates reports whether the word at k begins the complement of a copula.
func (s *statement) equates(k int) bool {
	switch s.language.language {
	case "ko", "ja":
		return s.linked && (s.words[k].linked || k == s.predicate)
	}
	return s.linked && s.words[k].linked
}

// chooses reports whether the word at k marks the following words as a choice.
func (s *statement) chooses(k int) bool {
	return s.words[k].has(choice) || s.words[k].has(use) && s.anyBefore(k, decided)
}

// thingOrLabel also accepts a label before a value: default shell: zsh.
func (s *statement) thingOrLabel() bool {
	return s.thing() || !s.plural && !s.person() && s.any(unique)
}

func (s *statement) anyBefore(k int, f flag) bool {
	for _, w := range s.words[:k] {
		if w.has(f) {
			return true
		}
	}
	return false
}

// places reports whether the word at k, after a preposition, is the place of something.
func (s *statement) places(k int) bool {
	w := s.words[k]
	if s.language.language == "zh" && s.words[k-1].has(housed) {
		return !w.name && w.kind == noValue
	}
	return w.name && w.kind == noValue && s.words[k-1].has(on) &&
		!s.plural && (s.words[k-1].linked && s.thing() || s.anyBefore(k, housed))
}

// valueEnd returns the end of the value that begins at k, or k if there is none. A value is a name or, with anything
// set, any words up to a preposition or the end of the statement.
func (s *statement) valueEnd(k int, anything bool) int {
	end := k
	tied := 0
	for end < len(s.words) && !s.words[end].quoted && (s.words[end].name && s.words[end].kind == noValue || end > k && s.words[end].hyphen) {
		if s.words[end].hyphen {
			tied++
		}
		end++
	}
	longest := maxName
	if anything && end == k || s.language.language == "zh" || s.language.language == "ja" {
		if !anything {
			return k
		}
		longest = 1
		if s.language.language == "zh" || s.language.language == "ja" {
			longest = maxRun
		}
		for end < len(s.words) && !s.words[end].has(preposition|on) && !s.words[end].quoted {
			if end > k && s.words[end].hyphen {
				tied++
			}
			end++
		}
	}
	if end-k-tied > longest || s.language.language == "de" && !anything && !s.places(k) {
		return k
	}
	return end
}
