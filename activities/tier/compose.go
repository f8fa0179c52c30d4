package tier

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"

	"axiommind/activities/text"
	"axiommind/schema"
)

// Draft is the new core memory that a dream composes from its answers.
type Draft struct {
	// Refused explains to a person why the answers are of no use. Only Dropped is set then.
	Refused string
	Items   []schema.CoreItem
	Text    string
	Diary   string
	Dropped []schema.DroppedItem
	Carried int
	// Added counts the items that the memory did not hold. LeftOut counts the statements of the days that it has no room
	// for.
	Added, LeftOut int
}

// Guard limits how much of the memory a dream may leave out, and how large it may become.
type Guard struct {
	// MaxBytes is the largest size of the items that no person wrote, with their headings. Default 32 KiB.
	MaxBytes int
	// MaxLost is the largest share of the memory's items, from 0 to 1, that an answer may leave out without a reason
	// that counts. Default 0.3. Few items are not guarded: see [Compose].
	MaxLost float64
}

const (
	// defaultMaxBytes is some 8,000 tokens: an agent reads all of core memory before it begins.
	defaultMaxBytes = 32 << 10
	defaultMaxLost  = 0.3
	// unguarded is how many items may be left out whatever their share.
	unguarded = 3
	// supersedable is the part of the memory's items that may be superseded in one night: a tenth. One may be in any case.
	supersedable = 10
	// minTermBytes is the least number of bytes of a word that says something about the topic of a statement.
	minTermBytes = 4
)

// Compose returns the draft that follows from the gathered input and the answers to it. It is pure.
//
//  1. Answers are refused if one is cut off or lacks the section [MEMORY] or [DREAM], or if none has an item although
//     there is something to remember.
//  2. An item of an answer is kept if it is grounded in the memory or in a source of the days: one text states all of it,
//     its sentences as they follow one another, or each of its sentences is by itself a whole text. A list, code or
//     several paragraphs must be in one text as a whole. An entry of a list is no statement without the line that
//     introduces the list. See grounds. The ids of the sources are recorded with the item, those from the memory first,
//     then the oldest first. All other items are dropped as ungrounded. Invisible characters are removed unless a source
//     has them.
//  3. Items that say the same, by the rule of proof in both directions, become the first of them. An item that the
//     memory has keeps the memory's words. A heading is part of an item's meaning: items say the same only if their
//     headings are equal but for case, or one has none, or both are of [schema.CoreHeadings].
//  4. An item keeps its heading if that is one of [schema.CoreHeadings] or of the memory, in the memory's spelling. A
//     path counts as such a heading if its end is one, or if only one path of the memory has this end. Other headings
//     are dropped and reported. A statement of the memory alone keeps the memory's heading, unless that is none or
//     both are of [schema.CoreHeadings].
//  5. An item that an answer supersedes is dropped, unless the same answer keeps it. Its replacement must be kept, be
//     stated by the sources of the days alone, and share a significant word with the item. It replaces one item only, and
//     cannot be superseded itself. Neither can words under several headings, unless the answer keeps all but one.
//  6. An item of the memory is dropped as duplicate if a kept item says the same, and as merged if kept items state all
//     of it by the rule of 2, but not if a person wrote it. All others are carried over, each behind its predecessor in the memory.
//  7. The answers are refused if more than the share of [Guard] of the memory's items, and more than three, had to be
//     carried over or were superseded, or if more than a tenth of them, and more than one, were superseded.
//  8. Of the items that no person wrote, those that weigh most stay, as many as [Guard] has room for. The weight of a
//     statement is the odds that it is worth keeping, halved for each half-life since it was last said.
func Compose(g schema.DreamGatheredPayload, answers []Answer, guard Guard) Draft {
	c := newComposer(g)
	if c.draft.Refused = c.take(answers); c.draft.Refused != "" {
		return c.draft
	}
	c.supersede(answers)
	carried := c.keepMemory()
	if c.draft.Refused = c.guard(guard, len(carried)-c.stated); c.draft.Refused != "" {
		return c.draft
	}
	carried = c.room(cmp.Or(guard.MaxBytes, defaultMaxBytes), carried)
	c.draft.Items = c.arrange(carried)
	c.draft.Text = RenderCore(c.draft.Items)
	c.draft.Carried = len(carried)
	var diaries []string
	for _, a := range answers {
		diaries = append(diaries, strings.TrimSpace(seen(a.Diary, joinsLetters)))
	}
	c.draft.Diary = unite(diaries, "\n\n")
	return c.draft
}

// composer makes a draft.
type composer struct {
	g        schema.DreamGatheredPayload
	headings *headings
	grounds  *gatheredGrounds
	// memory has the texts of the memory, under its own numbers.
	memory *grounds
	draft  Draft
	// kept are the items of the answers that are kept, and keptTexts has their texts under the same numbers.
	kept      []*keptItem
	keptTexts *grounds
	// rejected are the keys of the headings of answers that were dropped.
	rejected map[string]bool
	// superseded holds the numbers of the items of the memory that are superseded.
	superseded map[int]bool
	// stated counts the carried items that a person wrote and that kept items state: a merged text is not the person's.
	stated int
	// place holds, for each item of the memory, the item of the draft that states it, or nil.
	place []*keptItem
}

// keptItem is an item of the draft.
type keptItem struct {
	schema.CoreItem
	// memory is the number of the item of the memory that it is, or -1.
	memory int
	// answers are the numbers of the answers that have it.
	answers []int
	// superseded is true if it is dropped again, and replaces if it took the place of another. merges is true if it took
	// the place of an item of the memory.
	superseded, replaces, merges bool
}

func newComposer(g schema.DreamGatheredPayload) *composer {
	// Headings that differ in case alone are one: the first.
	headings := headingsOf(g)
	g.Memory = slices.Clone(g.Memory)
	for i := range g.Memory {
		g.Memory[i].Heading = headings.spelled(g.Memory[i].Heading)
	}
	c := &composer{
		g: g, headings: headings, grounds: groundsOf(g), memory: newGrounds(), keptTexts: newGrounds(),
		rejected: map[string]bool{}, superseded: map[int]bool{}, place: make([]*keptItem, len(g.Memory)),
	}
	for _, item := range g.Memory {
		c.memory.addItem(item.Text)
	}
	return c
}

func (c *composer) drop(d schema.DroppedItem) { c.draft.Dropped = append(c.draft.Dropped, d) }

// take takes the items of the answers. It says why the answers are refused, if they are.
func (c *composer) take(answers []Answer) (refused string) {
	if len(answers) == 0 {
		return "there is no answer"
	}
	for _, a := range answers {
		if problem := a.Problem(); problem != "" {
			return problem
		}
	}
	items := 0
	for n, a := range answers {
		parsed, used := parseItems(a.Memory, false)
		items += len(parsed)
		for _, path := range used {
			if heading, unknown := c.headings.resolve(path); unknown != "" {
				c.dropHeading(unknown, heading)
			}
		}
		for _, item := range parsed {
			item.Heading, _ = c.headings.resolve(item.Heading)
			c.takeItem(item, n)
		}
	}
	if items == 0 && (len(c.g.Memory) > 0 || len(promotable(c.g)) > 0) {
		return "the section [MEMORY] of the answer is empty"
	}
	return ""
}

// dropHeading reports, once, a heading of an answer whose items moved to another one.
func (c *composer) dropHeading(heading, instead string) {
	key := headingKey(headingParts(heading))
	if c.rejected[key] {
		return
	}
	c.rejected[key] = true
	detail := "its items stand under no heading of the answer"
	if instead != "" {
		detail = "its items stand under " + HeadingLine(instead)
	}
	c.drop(schema.DroppedItem{Text: heading, From: schema.FromAnswer, Reason: schema.DroppedHeading, Detail: detail})
}

// takeItem keeps an item of the answer of a number, or drops it.
func (c *composer) takeItem(item schema.CoreItem, answer int) {
	found, heading := c.ground(item)
	if len(found) == 0 {
		c.drop(schema.DroppedItem{
			Text: item.Text, From: schema.FromAnswer, Reason: schema.DroppedUngrounded, Detail: "no source and no item of the memory says this",
		})
		return
	}
	item.Text = c.grounds.seen(item.Text, found)
	sources := c.grounds.sourcesOf(found)
	for _, n := range found {
		weigh(&item, c.grounds.weights[n])
	}
	if item.Heading != "" && headingRank(item.Heading, heading) == 0 {
		c.drop(schema.DroppedItem{
			Text: item.Heading, From: schema.FromAnswer, Reason: schema.DroppedHeading, Sources: sources,
			Detail: fmt.Sprintf("%q stands under %q in the memory", item.Text, HeadingLine(heading)),
		})
	}
	item.Heading = heading
	if n := c.sameKept(item); n >= 0 {
		first := c.kept[n]
		if first.Heading == "" {
			first.Heading = item.Heading
		}
		first.Sources = uniteSources(first.Sources, sources...)
		weigh(&first.CoreItem, item)
		if !slices.Contains(first.answers, answer) {
			first.answers = append(first.answers, answer)
		}
		if first.Text != joined(item.Text) && (first.memory < 0 || c.g.Memory[first.memory].Text != first.Text) {
			c.drop(schema.DroppedItem{
				Text: item.Text, From: schema.FromAnswer, Reason: schema.DroppedDuplicate, By: first.Text, Sources: sources,
			})
		}
		return
	}
	k := &keptItem{CoreItem: item, memory: c.sameInMemory(item), answers: []int{answer}}
	k.Text, k.Sources = joined(k.Text), sources
	if k.memory >= 0 {
		k.Text = c.g.Memory[k.memory].Text
		k.Written = c.g.Memory[k.memory].Written
		if k.Heading == "" {
			k.Heading = c.g.Memory[k.memory].Heading
		}
	}
	c.kept = append(c.kept, k)
	c.keptTexts.addItem(k.Text)
}

// sameKept returns the number of the kept item that says the same as the item, or -1.
func (c *composer) sameKept(item schema.CoreItem) int {
	return c.keptTexts.sameBy(item.Text, func(n int) int { return headingRank(c.kept[n].Heading, item.Heading) })
}

// sameInMemory returns the number of the item of the memory that says the same as the item, or -1.
func (c *composer) sameInMemory(item schema.CoreItem) int {
	return c.memory.sameBy(item.Text, func(n int) int { return headingRank(c.g.Memory[n].Heading, item.Heading) })
}

// ground returns the texts that support an item of an answer, and the heading it may have: its own, if the days say it
// or the memory says it under that heading or none; otherwise the memory's heading.
func (c *composer) ground(item schema.CoreItem) (found []int, heading string) {
	all := c.grounds.holds(item.Text)
	if len(all) == 0 {
		return nil, ""
	}
	under := func(heading string) []int {
		return c.grounds.holdsIn(item.Text, func(n int) bool {
			return c.grounds.days[n] >= 0 || headingAllows(c.g.Memory[n].Heading, heading)
		})
	}
	heading = item.Heading
	if n := c.sameInMemory(item); n >= 0 && heading == "" {
		heading = c.g.Memory[n].Heading
	}
	if found = under(heading); len(found) > 0 {
		return found, heading
	}
	for _, n := range all {
		if c.grounds.days[n] >= 0 {
			continue
		}
		heading = c.g.Memory[n].Heading
		if found = under(heading); len(found) > 0 {
			return found, heading
		}
	}
	return nil, ""
}

// supersede drops the items that the answers call out of date.
func (c *composer) supersede(answers []Answer) {
	for n, a := range answers {
		for _, s := range a.Superseded {
			by := c.keptTexts.same(s.By)
			if by < 0 || c.kept[by].superseded || c.kept[by].replaces || !c.grounds.inDays(c.kept[by].Text) || !related(s.Item, s.By) {
				continue
			}
			if c.supersedeOne(s.Item, c.kept[by], n) {
				c.kept[by].replaces = true
			}
		}
	}
	// The steps after this one judge the remaining items.
	left := slices.DeleteFunc(slices.Clone(c.kept), func(k *keptItem) bool { return k.superseded })
	if len(left) < len(c.kept) {
		c.kept, c.keptTexts = left, newGrounds()
		for _, k := range left {
			c.keptTexts.addItem(k.Text)
		}
	}
}

// supersedeOne drops the item that the numbered answer supersedes by another, and reports whether it did. It does not if
// the words are under several headings, since the answer may mean any of them.
func (c *composer) supersedeOne(item string, by *keptItem, answer int) bool {
	var old []*keptItem
	var inMemory []int
	var under []string
	for _, n := range c.keptTexts.duplicates(item) {
		k := c.kept[n]
		if k == by || k.replaces {
			return false
		}
		if !slices.Contains(k.answers, answer) {
			old, under = append(old, k), append(under, k.Heading)
		}
	}
	for _, n := range c.memory.duplicates(item) {
		if k := c.sameKept(c.g.Memory[n]); !c.superseded[n] && (k < 0 || slices.Contains(old, c.kept[k])) {
			inMemory, under = append(inMemory, n), append(under, c.g.Memory[n].Heading)
		}
	}
	if len(under) == 0 || !oneHeading(under) {
		return false
	}
	for _, k := range old {
		if !k.superseded && k.memory < 0 {
			c.drop(schema.DroppedItem{
				Text: k.Text, From: schema.FromAnswer, Reason: schema.DroppedSuperseded, By: by.Text, Sources: k.Sources,
			})
		}
		k.superseded = true
		weigh(&by.CoreItem, k.CoreItem)
	}
	for _, n := range inMemory {
		by.merges = true
		weigh(&by.CoreItem, c.g.Memory[n])
		c.superseded[n] = true
		c.drop(schema.DroppedItem{
			Text: c.g.Memory[n].Text, From: schema.FromMemory, Reason: schema.DroppedSuperseded, By: by.Text, Sources: c.g.Memory[n].Sources,
		})
	}
	return true
}

// keepMemory decides for each item of the memory whether it is kept, and returns the numbers of those carried over.
func (c *composer) keepMemory() (carried []int) {
	carriedTexts := newGrounds()
	for i, item := range c.g.Memory {
		if c.superseded[i] {
			continue
		}
		d := schema.DroppedItem{Text: item.Text, From: schema.FromMemory, Sources: item.Sources}
		if n := c.sameKept(item); n >= 0 {
			c.place[i], c.kept[n].merges = c.kept[n], true
			c.kept[n].Written = c.kept[n].Written || item.Written
			weigh(&c.kept[n].CoreItem, item)
			if c.kept[n].Heading == "" {
				c.kept[n].Heading = item.Heading
			}
			if c.kept[n].memory != i {
				c.kept[n].Sources = uniteSources(c.kept[n].Sources, item.Sources...)
				d.Reason, d.By = schema.DroppedDuplicate, c.kept[n].Text
				c.drop(d)
			}
			continue
		}
		if found := c.keptTexts.holdsIn(item.Text, func(n int) bool { return headingAllows(item.Heading, c.kept[n].Heading) }); len(found) > 0 && item.Written {
			c.stated++
		} else if len(found) > 0 {
			texts := make([]string, len(found))
			for j, n := range found {
				c.kept[n].Sources, c.kept[n].merges = uniteSources(c.kept[n].Sources, item.Sources...), true
				weigh(&c.kept[n].CoreItem, item)
				texts[j] = c.kept[n].Text
			}
			d.Reason, d.By = schema.DroppedMerged, strings.Join(texts, "\n")
			c.drop(d)
			continue
		}
		rank := func(n int) int { return headingRank(c.place[carried[n]].Heading, item.Heading) }
		if n := carriedTexts.sameBy(item.Text, rank); n >= 0 && sameWords(c.place[carried[n]].Text, item.Text) {
			first := c.place[carried[n]]
			if first.Heading == "" {
				first.Heading = item.Heading
			}
			first.Sources = uniteSources(first.Sources, item.Sources...)
			first.Written = first.Written || item.Written
			weigh(&first.CoreItem, item)
			d.Reason, d.By = schema.DroppedDuplicate, first.Text
			c.drop(d)
			continue
		}
		item.Sources = slices.Clone(item.Sources)
		for _, n := range c.grounds.holdsIn(item.Text, func(n int) bool { return c.grounds.days[n] >= 0 }) {
			weigh(&item, c.grounds.weights[n])
		}
		c.place[i] = &keptItem{CoreItem: item, memory: i}
		carriedTexts.addItem(item.Text)
		carried = append(carried, i)
	}
	return carried
}

// guard returns why the answers are refused for leaving out too much, or "".
func (c *composer) guard(guard Guard, carried int) string {
	most := guard.MaxLost
	if most == 0 {
		most = defaultMaxLost
	}
	n := len(c.g.Memory)
	limit := max(unguarded, int(math.Floor(most*float64(n)+1e-9)))
	if carried > limit {
		return fmt.Sprintf("the answer leaves out %d of the memory's %d items without a reason; %d may be", carried, n, limit)
	}
	superseded := len(c.superseded)
	if limit := max(1, n/supersedable); superseded > limit {
		return fmt.Sprintf("the answer supersedes %d of the memory's %d items; %d may be in one night", superseded, n, limit)
	}
	if carried+superseded > limit {
		return fmt.Sprintf("the answer leaves out %d of the memory's %d items and supersedes %d; %d may be in one night", carried, n, superseded, limit)
	}
	return ""
}

// related reports whether two statements may be about the same thing: they share a word of at least minTermBytes bytes or
// a word with a digit.
func related(a, b string) bool {
	terms := strings.Fields(text.Terms(b))
	return slices.ContainsFunc(strings.Fields(text.Terms(a)), func(term string) bool {
		tells := len(term) >= minTermBytes || strings.ContainsFunc(term, unicode.IsDigit)
		return tells && slices.Contains(terms, term)
	})
}

// sameWords reports whether two items are equal but for white space and a full stop at the end.
func sameWords(a, b string) bool {
	words := func(item string) string { return strings.TrimRight(strings.Join(strings.Fields(item), " "), ".。") }
	return words(a) == words(b)
}
