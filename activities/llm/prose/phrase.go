package prose

import "strings"

// Phrases finds phrases in a text where they begin and end with its words, in capitals or not, and with either apostrophe.
type Phrases struct {
	texts []string
	// of maps a phrase to the one that it was made of.
	of []int
	// lists have the phrases that begin with the same two bytes, and by the place of each list, of which the first is empty.
	lists [][]int
	by    [1 << 16]uint16
}

// Hit is a phrase found in a text, in bytes.
type Hit struct{ Phrase, Start, End int }

// contracted are words that may be written out.
var contracted = strings.NewReplacer("'ve ", " have ", "'ll ", " will ", "'m ", " am ", "'re ", " are ")

// NewPhrases returns a finder of phrases in lower case, of at least two bytes each. A hit's Phrase is its index among
// them. "i've" also matches "i have".
func NewPhrases(phrases []string) *Phrases {
	p := &Phrases{lists: [][]int{nil}}
	for n, text := range phrases {
		p.add(n, text)
		if strings.Contains(text, "'") {
			p.add(n, strings.ReplaceAll(text, "'", "’"))
		}
		if full := contracted.Replace(text); full != text {
			p.add(n, full)
		}
	}
	return p
}

func (p *Phrases) add(n int, text string) {
	at := &p.by[int(text[0])<<8|int(text[1])]
	if *at == 0 {
		*at, p.lists = uint16(len(p.lists)), append(p.lists, nil)
	}
	p.lists[*at] = append(p.lists[*at], len(p.texts))
	p.texts, p.of = append(p.texts, text), append(p.of, n)
}

// Find returns the phrases in the text, in the order of their beginnings.
func (p *Phrases) Find(text string) []Hit {
	var out []Hit
	for i := range len(text) - 1 {
		for _, n := range p.lists[p.by[int(lower(text[i]))<<8|int(lower(text[i+1]))]] {
			end := i + len(p.texts[n])
			if end <= len(text) && equal(text[i:end], p.texts[n]) && bounded(text, i, end) {
				out = append(out, Hit{p.of[n], i, end})
			}
		}
	}
	return out
}

func lower(b byte) byte {
	if 'A' <= b && b <= 'Z' {
		return b - 'A' + 'a'
	}
	return b
}

// equal reports whether a text is the phrase in any case of Latin letters without marks: others would have another length.
func equal(text, phrase string) bool {
	for i := range len(text) {
		if lower(text[i]) != phrase[i] {
			return false
		}
	}
	return true
}

// bounded reports whether a piece of text begins and ends with its words. "n't" ends one.
func bounded(text string, start, end int) bool {
	contraction := strings.HasPrefix(text[start:end], "n'") || strings.HasPrefix(text[start:end], "n’")
	if start > 0 && wordByte(text[start]) && wordByte(text[start-1]) && !contraction {
		return false
	}
	return end >= len(text) || !wordByte(text[end-1]) || !wordByte(text[end])
}
