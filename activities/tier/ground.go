package tier

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"axiommind/activities/evidence"
	"axiommind/activities/text"
	"axiommind/schema"
)

// grounds are texts that can support the items of an answer.
//
// A text is made of units: the entries of its lists, each with its nested content, its paragraphs, and its blocks of
// code. A list forms one unit with the paragraph before it that ends in a colon. A unit of one paragraph states each of
// its sentences and lines, by rule 1 of package evidence, and those that follow one another. A larger unit, and a turn of
// a conversation, states only all of it: the text below a line means nothing without the line.
//
// An item is grounded if
//   - it is the whole of a text or a unit, or is stated by a unit;
//   - it is of several paragraphs or entries, and these are units of one text that follow one another;
//   - it is one paragraph, and each of its sentences is by itself the whole of a text or a unit, or a line of a paragraph
//     whose lines are all sentences. A sentence that is cut out of a text is never put together with one of another.
//
// A mark of a list and a full stop at the end do not matter. Lines of one paragraph of an item are read as one line: a
// different line break does not turn half a sentence into a statement.
type grounds struct {
	texts []string
	// alike holds the numbers of the texts by [evidence.SameKey].
	alike map[string][]int
	// statements has the units of one paragraph, and of has the number of the text of each.
	statements evidence.Statements
	of         []int
	// wholes has whole texts and units, and runs the units by their first lines, both by [evidence.SameKey].
	wholes map[string][]groundPart
	runs   map[string][]groundRun
}

// groundPart is a part of the text with the number.
type groundPart struct {
	text string
	n    int
}

// groundRun is a unit of the text with the number, and those that follow it, which have their marks.
type groundRun struct {
	first string
	rest  []string
	n     int
}

func newGrounds() *grounds {
	return &grounds{alike: map[string][]int{}, wholes: map[string][]groundPart{}, runs: map[string][]groundRun{}}
}

// addItem adds the text of an item.
func (g *grounds) addItem(item string) {
	item = joined(item)
	g.addText(item)
	g.addUnit(item)
}

// add adds a text of Markdown. If it is turns of a conversation, each line of it is a unit.
func (g *grounds) add(markdown string, turns bool) {
	g.addText(markdown)
	var units []unit
	if turns {
		for line := range strings.SplitSeq(markdown, "\n") {
			line = strings.TrimSpace(line)
			units = append(units, unit{text: line[bullet(line):]})
		}
	} else {
		units = unitsOf(markdown)
	}
	marked := make([]string, len(units))
	for i, u := range units {
		marked[i] = u.marked()
	}
	for i, u := range units {
		if strings.TrimSpace(u.text) == "" {
			continue
		}
		if turns {
			g.addWhole(u.text)
			continue
		}
		g.addUnit(u.text)
		first, _, _ := strings.Cut(starred(joined(u.text)), "\n")
		key := evidence.SameKey(first)
		g.runs[key] = append(g.runs[key], groundRun{starred(joined(u.text)), marked[i+1:], len(g.texts) - 1})
	}
}

func (g *grounds) addText(text string) {
	text = strings.TrimSpace(starred(text))
	key := evidence.SameKey(text)
	g.alike[key] = append(g.alike[key], len(g.texts))
	g.texts = append(g.texts, text)
	g.addWhole(text)
}

// addUnit adds a unit of the last text.
func (g *grounds) addUnit(text string) {
	paragraph := starred(joined(text))
	g.addWhole(paragraph)
	lines := strings.Split(strings.TrimSpace(text), "\n")
	switch {
	case slices.ContainsFunc(lines, speaks):
		for _, line := range lines {
			g.addWhole(starred(strings.TrimSpace(line)))
		}
	case !strings.Contains(paragraph, "\n"):
		g.statements.Add(starred(text))
		g.of = append(g.of, len(g.texts)-1)
		if len(lines) > 1 && !slices.ContainsFunc(lines, func(line string) bool { return !endsSentence(line) }) {
			for _, line := range lines {
				g.addWhole(starred(strings.TrimSpace(line)))
			}
		}
	}
}

func (g *grounds) addWhole(text string) {
	if text == "" {
		return
	}
	key, n := evidence.SameKey(text), len(g.texts)-1
	if of := g.wholes[key]; len(of) == 0 || of[len(of)-1] != (groundPart{text, n}) {
		g.wholes[key] = append(of, groundPart{text, n})
	}
}

// endsSentence reports whether a line ends where its sentence does.
func endsSentence(line string) bool {
	r, _ := utf8.DecodeLastRuneInString(strings.TrimRight(line, " \t*_\"'”’)"))
	return unicode.Is(unicode.Sentence_Terminal, r)
}

// speaks reports whether a line is of a conversation: it names its speaker.
func speaks(line string) bool {
	line = strings.TrimSpace(line)
	line = line[bullet(line):]
	for _, who := range []string{English.User, English.Assistant, English.Reply} {
		if strings.HasPrefix(line, who+": ") {
			return true
		}
	}
	return false
}

// unit is an entry or a paragraph of a text, without its mark.
type unit struct {
	text  string
	entry bool
}

// marked returns the unit with the mark that it has.
func (u unit) marked() string {
	if u.entry {
		return "* " + starred(joined(u.text))
	}
	return starred(joined(u.text))
}

// holds returns the numbers of the texts that the item rests on, in order, or nothing if it is not grounded.
func (g *grounds) holds(item string) []int {
	return g.holdsIn(item, func(int) bool { return true })
}

// holdsIn is holds among the texts that the function lets pass.
func (g *grounds) holdsIn(item string, passes func(int) bool) []int {
	item = starred(joined(item))
	found := g.whole(item, passes)
	if len(item) > maxTakenApart {
		return slices.Compact(found)
	}
	if strings.Contains(item, "\n") {
		found = append(found, g.following(item, passes)...)
	} else {
		for _, s := range g.statements.Stating(item) {
			if passes(g.of[s]) {
				found = append(found, g.of[s])
			}
		}
		if len(found) == 0 {
			found = g.sentences(item, passes)
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// maxTakenApart is how long an item may be, in bytes, to be looked for sentence by sentence, which takes time that grows
// with the square of its length. A longer one must be the whole of a text or a unit.
const maxTakenApart = 8 << 10

// whole returns the texts that state an item as a whole.
func (g *grounds) whole(item string, passes func(int) bool) (found []int) {
	paragraphs := strings.Contains(item, "\n")
	for _, part := range g.wholes[evidence.SameKey(item)] {
		if passes(part.n) && strings.Contains(part.text, "\n") == paragraphs && evidence.Same(part.text, item) {
			found = append(found, part.n)
		}
	}
	return found
}

// following returns the texts that state an item of several lines by units that follow one another.
func (g *grounds) following(item string, passes func(int) bool) (found []int) {
	first, _, _ := strings.Cut(item, "\n")
	key := evidence.SameKey(item)
	for _, run := range g.runs[evidence.SameKey(first)] {
		if !passes(run.n) {
			continue
		}
		text := run.first
		for _, u := range run.rest {
			if text += "\n" + u; evidence.SameKey(text) == key && evidence.Same(text, item) {
				found = append(found, run.n)
			}
			if len(text) > 2*len(item) {
				break
			}
		}
	}
	return found
}

// sentences returns the texts that state the sentences of an item, each as a whole. There are none if one is stated by
// none.
func (g *grounds) sentences(item string, passes func(int) bool) (found []int) {
	for start, end := range text.NewBoundaries(item).Sentences() {
		stating := g.whole(item[start:end], passes)
		if len(stating) == 0 {
			return nil
		}
		found = append(found, stating...)
	}
	return found
}

// same returns the number of the first text that says the same as the item, or -1.
func (g *grounds) same(item string) int {
	return g.sameBy(item, func(int) int { return 1 })
}

// sameBy returns the number of the text that says the same as the item and has the least rank, the first of them, or -1.
// A text of rank 0 does not count.
func (g *grounds) sameBy(item string, rank func(int) int) int {
	best, least := -1, 0
	for _, n := range g.duplicates(item) {
		if r := rank(n); r > 0 && (best < 0 || r < least) {
			best, least = n, r
		}
	}
	return best
}

// duplicates returns the numbers of the texts that say the same as the item.
func (g *grounds) duplicates(item string) (found []int) {
	item = starred(joined(item))
	for _, n := range g.alike[evidence.SameKey(item)] {
		if evidence.Same(g.texts[n], item) {
			found = append(found, n)
		}
	}
	return found
}

var dashes = regexp.MustCompile(`(?m)^([ \t]*)- `)

// starred returns a text with "*" for the dashes of its lists. The rule of proof takes a dash before a number for a minus
// sign, so that "- 3 servers are down" would not state that 3 servers are down.
func starred(text string) string { return dashes.ReplaceAllString(text, "$1* ") }

// joined returns an item with each paragraph of it in one line. Lines of code stay, as do blank ones.
func joined(item string) string {
	var blocks []string
	fence, flows := "", false
	for line := range strings.SplitSeq(strings.TrimSpace(item), "\n") {
		text := strings.TrimSpace(line)
		_, level := headingOf(text)
		before := fence
		fence = fenceAfter(fence, line)
		code := before != "" || fence != ""
		begins := text == "" || code || level > 0 || isRule(text) || bullet(text) > 0 || strings.ContainsRune(">|", rune(text[0]))
		if n := len(blocks) - 1; flows && !begins {
			blocks[n] += " " + text
		} else {
			blocks = append(blocks, strings.TrimRight(line, " \t"))
		}
		// A paragraph goes on behind text and the first line of a list's entry.
		flows = text != "" && !code && level == 0 && !isRule(text) && text[0] != '|'
	}
	return strings.Join(blocks, "\n")
}

// maxSources is how many sources an item keeps: of more, the first and the last half of them.
const maxSources = 16

// uniteSources adds sources to others, in order and each once.
func uniteSources(to []string, more ...string) []string {
	for _, id := range more {
		if id != "" && !slices.Contains(to, id) {
			to = append(to, id)
		}
	}
	if n := len(to); n > maxSources {
		to = slices.Concat(to[:maxSources/2], to[n-maxSources/2:])
	}
	return to
}

// gatheredGrounds are the grounds of a dream: the items of the memory, then the sources of the days, the oldest first.
type gatheredGrounds struct {
	*grounds
	// weights are items with the weights of the texts.
	weights []schema.CoreItem
	// sources are the ids that each text hands on, and days are the numbers of the days, -1 for the memory.
	sources [][]string
	days    []int
}

func groundsOf(g schema.DreamGatheredPayload) *gatheredGrounds {
	of := &gatheredGrounds{grounds: newGrounds()}
	for _, item := range g.Memory {
		of.addItem(item.Text)
		of.sources, of.days, of.weights = append(of.sources, item.Sources), append(of.days, -1), append(of.weights, item)
	}
	for day := range slices.Backward(g.Days) {
		for _, source := range g.Days[day].Sources {
			of.add(plainLines(source.Text), source.Turns)
			of.sources, of.days = append(of.sources, []string{source.ID}), append(of.days, day)
			of.weights = append(of.weights, schema.CoreItem{Worth: worthOf(source), Said: g.Days[day].Date})
		}
	}
	return of
}

// sourcesOf returns the ids of the sources of the texts found, the oldest first.
func (g *gatheredGrounds) sourcesOf(found []int) []string {
	ids := []string{}
	for _, n := range found {
		ids = uniteSources(ids, g.sources[n]...)
	}
	return ids
}

// inDays reports whether sources of the days alone state an item.
func (g *gatheredGrounds) inDays(item string) bool {
	return len(g.holdsIn(item, func(n int) bool { return g.days[n] >= 0 })) > 0
}

// seen returns an item without the characters that people do not see and that none of the texts found holds.
func (g *grounds) seen(item string, found []int) string {
	return seen(item, func(r, _ rune) bool {
		return slices.ContainsFunc(found, func(n int) bool { return strings.ContainsRune(g.texts[n], r) })
	})
}

// seen returns a text without the characters that people do not see, but for those that the function lets stay. It is
// given the character before too.
func seen(whole string, stays func(r, before rune) bool) string {
	before := ' '
	return strings.Map(func(r rune) rune {
		if text.Hidden(r) && !stays(r, before) {
			return -1
		}
		before = r
		return r
	}, whole)
}

// joinsLetters reports whether a character without width shapes the letter or the picture before it.
func joinsLetters(r, before rune) bool {
	shapes := r == '\u200c' || r == '\u200d' || r == '\ufe0e' || r == '\ufe0f'
	return shapes && before >= utf8.RuneSelf && !text.Hidden(before) || r == '\u200d' && before == '\ufe0f'
}
