package tier

import (
	"slices"
	"strings"

	"axiommind/activities/text"
	"axiommind/schema"
)

// maxHeadings is the maximum depth of an item's headings: rendering adds two marks to the outermost heading, and
// Markdown has six levels. Further headings are written into the last one.
const maxHeadings = 5

// headingSeparator is between the headings of a path that people read in one line.
const headingSeparator = " › "

// HeadingLine returns the path of an item's headings in one line, for people.
func HeadingLine(heading string) string { return strings.ReplaceAll(heading, "\n", headingSeparator) }

// headingParts returns the headings of a path, the outermost first.
func headingParts(path string) []string {
	if path == "" {
		return nil
	}
	return strings.Split(path, "\n")
}

// headingKey is equal for paths that differ in case alone.
func headingKey(parts []string) string {
	keys := make([]string, len(parts))
	for i, part := range parts {
		keys[i] = text.Caseless(part)
	}
	return strings.Join(keys, "\n")
}

var coreHeadings = func() map[string]bool {
	keys := map[string]bool{}
	for _, heading := range schema.CoreHeadings() {
		keys[headingKey([]string{heading})] = true
	}
	return keys
}()

// Ranks of headings under which two items of the same words say the same. 0 is that they don't.
const (
	rankEqual = 1 + iota
	rankCore
	rankNone
)

// headingRank returns how well the headings of two items match: a heading is part of an item's meaning. The headings of
// [schema.CoreHeadings] only name a kind of item.
func headingRank(a, b string) int {
	keyA, keyB := headingKey(headingParts(a)), headingKey(headingParts(b))
	switch {
	case keyA == keyB:
		return rankEqual
	case coreHeadings[keyA] && coreHeadings[keyB]:
		return rankCore
	case a == "" || b == "":
		return rankNone
	}
	return 0
}

// headingAllows reports whether a statement under one heading also holds under the other. A statement without a heading may get
// one.
func headingAllows(from, to string) bool {
	rank := headingRank(from, to)
	return rank == rankEqual || rank == rankCore || rank == rankNone && from == ""
}

// headings are the paths of headings that items may have: those of the memory and [schema.CoreHeadings].
type headings struct {
	// known has the path, as the memory spells it, by its key.
	known map[string]string
	// memory are the keys of the memory's paths, and ends has those that end in a path.
	memory map[string]bool
	ends   map[string][]string
}

func headingsOf(g schema.DreamGatheredPayload) *headings {
	h := &headings{known: map[string]string{}, memory: map[string]bool{}, ends: map[string][]string{}}
	for _, item := range g.Memory {
		h.add(headingParts(item.Heading), true)
	}
	for _, heading := range schema.CoreHeadings() {
		h.add([]string{heading}, false)
	}
	return h
}

// add makes a path known, with those that it goes through. Headings that differ in case alone are one: the first.
func (h *headings) add(parts []string, ofMemory bool) {
	for n := range parts {
		key := headingKey(parts[:n+1])
		if h.known[key] == "" {
			before := h.known[headingKey(parts[:n])]
			h.known[key] = strings.TrimPrefix(before+"\n"+parts[n], "\n")
		}
		if !ofMemory || h.memory[key] {
			continue
		}
		h.memory[key] = true
		for from := 1; from <= n; from++ {
			end := headingKey(parts[from : n+1])
			h.ends[end] = append(h.ends[end], key)
		}
	}
}

// spelled returns a path that is known as it is spelled first.
func (h *headings) spelled(path string) string { return h.known[headingKey(headingParts(path))] }

// resolve returns the known heading that an answer's path refers to, and the part of the path that is none. The heading
// is the path itself; or its end, behind a title; or the only path of the memory with this end; or its beginning.
func (h *headings) resolve(path string) (heading, unknown string) {
	parts := headingParts(path)
	for from := range parts {
		key := headingKey(parts[from:])
		if known := h.known[key]; known != "" {
			return known, strings.Join(parts[:from], "\n")
		}
		if ends := h.ends[key]; len(ends) == 1 {
			return h.known[ends[0]], strings.Join(parts[:from], "\n")
		}
	}
	for to := len(parts) - 1; to > 0; to-- {
		if known := h.known[headingKey(parts[:to])]; known != "" {
			return known, strings.Join(parts[to:], "\n")
		}
	}
	return "", path
}

// oneHeading reports whether the headings give the statements below them the same meaning.
func oneHeading(all []string) bool {
	return !slices.ContainsFunc(all, func(h string) bool { return headingRank(h, all[0]) == 0 })
}
