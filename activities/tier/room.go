package tier

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"axiommind/schema"
)

const (
	// halfLife is how many days it takes for a statement that is not said again to weigh half as much: that of a verified
	// entry.
	halfLife = 180
	// unjudged is the worth of statements that no extractor judged, such as the lines of a daily record.
	unjudged = 0.5
)

// worthOf returns how sure it is that a source is worth keeping. A record that a person edited is.
func worthOf(s schema.SourceText) float64 {
	switch {
	case s.Kind == schema.SourceEdited:
		return 1
	case s.Worth == nil:
		return unjudged
	}
	return *s.Worth
}

// weight is the logarithm of the odds that an item is worth keeping, plus the half-lives up to the day on which it was last
// said. It does not depend on the day of the dream: all items lose half of their odds in the same time, which does not change
// their order. Odds tell 0.99 from 0.9, where probabilities would let a few weeks decide.
func weight(item schema.CoreItem) float64 {
	said, err := time.Parse(schema.DateLayout, item.Said)
	if err != nil {
		return math.Inf(-1)
	}
	// So much doubt stays about any source: with less, a full memory would take nothing new for years.
	const day, doubt = 24 * time.Hour, 0.05
	worth := min(max(item.Worth, doubt), 1-doubt)
	return math.Log2(worth/(1-worth)) + float64(said.Unix()/int64(day/time.Second))/halfLife
}

// weigh gives an item the worth of another one that says the same or a part of it, and its day, if they are greater.
func weigh(item *schema.CoreItem, same schema.CoreItem) {
	item.Worth, item.Said = max(item.Worth, same.Worth), max(item.Said, same.Said)
}

// renewedDays is how many days of weight a statement must have gained for a dream to make a version that differs in weights
// alone. Otherwise each night with a repetition would make one.
const renewedDays = 30

// renewed reports whether statements of the memory have gained weight since they were stored.
func renewed(before, after []schema.CoreItem) bool {
	if len(before) != len(after) {
		return false
	}
	for i, item := range after {
		if before[i].Said != "" && weight(item)-weight(before[i]) >= float64(renewedDays)/halfLife {
			return true
		}
	}
	return false
}

// room takes items out of the draft so that the rest takes no more bytes than most. Those that weigh more are given room first.
// Items that a person wrote stay, and do not count. It returns the numbers of the items that are still carried over.
//
// The order does not depend on the draft. So items that left do not come back as long as those that stayed do.
func (c *composer) room(most int, carried []int) []int {
	items := slices.Clone(c.kept)
	for _, i := range carried {
		items = append(items, c.place[i])
	}
	slices.SortFunc(items, func(a, b *keptItem) int {
		return cmp.Or(cmp.Compare(weight(b.CoreItem), weight(a.CoreItem)), strings.Compare(a.Text, b.Text), strings.Compare(a.Heading, b.Heading))
	})
	leaves, headings, size := map[*keptItem]bool{}, map[string]bool{}, 0
	for _, k := range items {
		bytes := len(RenderCore([]schema.CoreItem{{Text: k.Text}}))
		if k.Heading != "" && !headings[k.Heading] {
			bytes = len("\n") + len(RenderCore([]schema.CoreItem{k.CoreItem}))
		}
		switch {
		case k.Written:
		case size+bytes <= most:
			size, headings[k.Heading] = size+bytes, true
		default:
			leaves[k] = true
			c.leave(k)
		}
	}
	carried = slices.DeleteFunc(carried, func(i int) bool { return leaves[c.place[i]] })
	c.kept = slices.DeleteFunc(c.kept, func(k *keptItem) bool { return leaves[k] })
	for i, k := range c.place {
		if leaves[k] {
			c.place[i] = nil
		}
	}
	return carried
}

// leave reports an item that leaves, or counts it if the memory holds nothing of it.
func (c *composer) leave(k *keptItem) {
	if k.memory < 0 && !k.merges {
		c.draft.LeftOut++
		return
	}
	c.drop(schema.DroppedItem{
		Text: k.Text, From: schema.FromMemory, Reason: schema.DroppedRoom, Sources: k.Sources,
		Detail: fmt.Sprintf("worth %.2f, last said on %s", k.Worth, cmp.Or(k.Said, "an unknown day")),
	})
}
