package evidence

import "unicode"

// extraWord returns the length of the longest word that one side has and no letter of which pairs
// with a letter of the other.
func (d *difference) extraWord() int {
	quoteSide := func(c edit) (int, bool) { return c.q, letter(d.g.source.at(c.s)) }
	sourceSide := func(c edit) (int, bool) { return c.s, letter(d.g.quote.at(c.q)) }
	return max(d.unpaired(&d.g.quote, quoteSide), d.unpaired(&d.g.source, sourceSide))
}

func (d *difference) unpaired(s *side, at func(edit) (i int, paired bool)) int {
	longest := 0
	var word []rune
	free := true
	end := func() {
		if free && string(word) != "the" {
			longest = max(longest, len(word))
		}
		word, free = word[:0], true
	}
	for _, c := range d.columns {
		i, paired := at(c)
		if i < 0 {
			continue
		}
		if r := s.at(i); wordRune(r) {
			word = append(word, r)
			free = free && !paired && !unicode.IsDigit(r)
			continue
		}
		end()
	}
	end()
	return longest
}

// splits reports whether the quote has a separator more than the source: two words for one.
func (d *difference) splits() bool {
	separators := 0
	for _, c := range d.columns {
		if c.q >= 0 && !wordRune(d.g.quote.at(c.q)) {
			separators++
		}
		if c.s >= 0 && !wordRune(d.g.source.at(c.s)) {
			separators--
		}
	}
	return separators > 0
}

// spaced reports whether a space comes or goes with a difference: then it is a word, not a letter.
func (d *difference) spaced() bool {
	for _, c := range d.columns {
		if c.q < 0 && d.g.source.at(c.s) == ' ' || c.s < 0 && d.g.quote.at(c.q) == ' ' {
			return true
		}
	}
	return false
}
