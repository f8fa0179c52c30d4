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
	// halfLife is how many days it takes for a statement that is not said again to weigh half as much. It is that of a
	// verified entry.
	halfLife = 180
	// unjudged is the worth of statements that no extractor judged, such as the lines of a daily record.
	unjudged = 0.5
)

// worthOf returns how sure it is that a source is worth keeping. A record that a person edited is.
func worthOf(s schema.SourceText) float64 {
	if s.Kind == schema.SourceEdited {
		return 1
	}
	return cmp.Or(s.Worth, unjudged)
}

// weight is the logarithm of an item's worth, plus the half-lives up to the day on which it was last said. It does not
// depend on the day of the dream: all items lose half of their worth in the same time, which does not change their order.
func weight(item schema.CoreItem) float64 {
	said, err := time.Parse(schema.DateLayout, item.Said)
	if err != nil {
		return math.Inf(-1)
	}
	const day = 24 * time.Hour
	return math.Log2(max(item.Worth, 1e-3)) + float64(said.Unix()/int64(day/time.Second))/halfLife
}

// weigh gives an item the weight of another one that says the same, if that is greater.
func weigh(item *schema.CoreItem, same schema.CoreItem) {
	if item.Said == "" || weight(same) > weight(*item) {
		item.Worth, item.Said = same.Worth, same.Said
	}
	item.Written = item.Written || same.Written
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
	if k.memory < 0 && !k.replaces && !k.merges {
		c.draft.LeftOut++
		return
	}
	c.drop(schema.DroppedItem{
		Text: k.Text, From: schema.FromMemory, Reason: schema.DroppedRoom, Sources: k.Sources,
		Detail: fmt.Sprintf("worth %.2f, last said on %s", k.Worth, cmp.Or(k.Said, "an unknown day")),
	})
}
