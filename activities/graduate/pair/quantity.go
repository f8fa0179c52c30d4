package pair

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// factors are ratios of units, such as days in a week. Two quantities may be equal if their numbers have such a ratio.
var factors = []float64{
	7, 10, 12, 24, 28, 30, 31, 48, 52, 60, 72, 100, 168, 365, 366, 1000, 1024, 1440, 3600, 10080, 86400, 1e4, 1e6, 1 << 20, 1e9, 1 << 30,
}

// quantity is a number with its unit: 30 seconds, 30s, 2 pm.
type quantity struct {
	number string
	unit   string
	value  float64
	ok     bool
}

func quantityOf(words []word) quantity {
	texts := make([]string, len(words))
	for i, w := range words {
		texts[i] = w.text
	}
	at := slices.IndexFunc(words, func(w word) bool { return w.kind == number })
	if at < 0 {
		return quantity{unit: strings.Join(texts, " ")}
	}
	end := 1 + strings.LastIndexAny(texts[at], "0123456789")
	if end == 0 {
		end = len(texts[at])
	}
	q := quantity{number: texts[at][:end], unit: texts[at][end:]}
	q.unit = strings.Join(append(append(slices.Clone(texts[:at]), q.unit), texts[at+1:]...), "")
	value, err := strconv.ParseFloat(plainNumber(q.number), 64)
	q.value, q.ok = value, err == nil
	return q
}

// sameQuantity reports whether two spans may express the same quantity. They may be a number with and without
// separators or a zero fraction, a unit and its abbreviation, or a unit and a multiple of it.
func sameQuantity(was, is []word) bool {
	a, b := quantityOf(was), quantityOf(is)
	switch {
	case a.unit == b.unit && (len(was) == 1 || len(is) == 1 || a.number != ""):
		return plainNumber(a.number) == plainNumber(b.number)
	case a.unit == "" || b.unit == "" || was[0].has(daypart) != is[0].has(daypart):
		return true
	case a.number == "" || b.number == "":
		return a.number != b.number || abbreviates(a.unit, b.unit)
	case !a.ok || !b.ok:
		return !was[0].has(daypart)
	case a.value == b.value:
		return abbreviates(a.unit, b.unit)
	}
	larger, smaller := max(a.value, b.value), min(a.value, b.value)
	return smaller > 0 && !was[0].has(daypart) && slices.ContainsFunc(factors, func(f float64) bool {
		ratio := larger / smaller / f
		return ratio > 0.98 && ratio < 1.03
	})
}

// abbreviates reports whether two units may be one: a sign or an initial, or words that begin alike.
func abbreviates(a, b string) bool {
	x, size := utf8.DecodeRuneInString(a)
	y, other := utf8.DecodeRuneInString(b)
	return x == y || len(a) == size && size < 3 || len(b) == other && other < 3 || strings.Contains(a, b) || strings.Contains(b, a)
}

// measures adds the slots of the number at i: the number alone, and the number with its unit or part of the day.
func (s *statement) measures(i int, add func(slot)) {
	add(slot{kind: byNumber, start: i, end: i + 1})
	start, end := i, i+1
	if i > 0 && s.words[i-1].has(daypart) {
		start = i - 1
	}
	if end < len(s.words) && (s.words[end].has(scale|daypart) || start < i && s.words[end].has(unit)) {
		end++
	}
	add(slot{kind: byNumber, start: start, end: end})
}

// labeled reports whether the number at i is the subject's version or port: uses Node 18, listens on port 80.
func (s *statement) labeled(i int) bool {
	if i == 0 || !s.names(i-1) {
		return false
	}
	if !s.language.articles() { // The verb may follow its object.
		return s.any(use|runs) || s.words[i-1].linked
	}
	if i+1 < len(s.words) && !s.words[i+1].has(preposition) {
		return false
	}
	verb := max(0, i-2)
	for verb > 0 && s.words[verb].has(on|preposition) {
		verb--
	}
	return s.words[i-1].linked || i > 1 && (s.words[i-2].linked && s.words[i-2].has(on|preposition) || s.words[verb].has(use|runs))
}

// names reports whether a number after the word at i is its version or value: Node 18, port 80. The subject may have
// others too: supports Node 18.
func (s *statement) names(i int) bool {
	w := s.words[i]
	return w.has(setting) || i > 0 && w.name && w.flags == 0 && w.kind == noValue && latinWord(w.text) && !s.any(unique)
}

// clock reports whether the number at i is a time of the day.
func (s *statement) clock(i int) bool {
	return strings.Contains(s.words[i].text, ":") || i > 0 && s.words[i-1].has(daypart) ||
		i+1 < len(s.words) && s.words[i+1].has(daypart)
}

func latinWord(s string) bool { return len(s) > 1 && s[0] >= 'a' && s[0] <= 'z' }
