package tier

import (
	"container/list"

	"axiommind/schema"
)

// arrangement are items in groups, each group and item at its place.
type arrangement struct {
	// order holds the groups, and groups has each by its heading.
	order  *list.List
	groups map[string]*list.Element
}

// group is the items under one heading, which are of type *keptItem.
type group struct {
	items *list.List
	at    map[*keptItem]*list.Element
}

func (a *arrangement) group(heading string) *group {
	return a.groups[heading].Value.(*group)
}

// add adds a group behind another one, or as the first one if there is none. It does nothing if there is the group.
func (a *arrangement) add(heading string, behind *list.Element) {
	if a.groups[heading] != nil {
		return
	}
	g := &group{items: list.New(), at: map[*keptItem]*list.Element{}}
	if behind == nil {
		a.groups[heading] = a.order.PushFront(g)
		return
	}
	a.groups[heading] = a.order.InsertAfter(g, behind)
}

// arrange returns the kept items in their order with the carried ones at their places: behind the item before them in
// the memory that the draft has under the same heading, or else before all others of the heading. Headings are arranged
// likewise, but for items without one, which come first.
func (c *composer) arrange(carried []int) []schema.CoreItem {
	a := arrangement{order: list.New(), groups: map[string]*list.Element{}}
	a.add("", nil)
	for _, k := range c.kept {
		a.add(k.Heading, a.order.Back())
		g := a.group(k.Heading)
		g.at[k] = g.items.PushBack(k)
		if k.memory < 0 {
			c.draft.Added++
		}
	}
	isCarried := map[*keptItem]bool{}
	for _, i := range carried {
		isCarried[c.place[i]] = true
	}
	lastGroup := a.groups[""]
	last := map[string]*list.Element{}
	for _, k := range c.place {
		if k == nil {
			continue
		}
		a.add(k.Heading, lastGroup)
		lastGroup = a.groups[k.Heading]
		g := a.group(k.Heading)
		switch behind := last[k.Heading]; {
		case !isCarried[k]:
		case behind == nil:
			g.at[k] = g.items.PushFront(k)
		default:
			g.at[k] = g.items.InsertAfter(k, behind)
		}
		last[k.Heading] = g.at[k]
	}
	items := []schema.CoreItem{}
	for e := a.order.Front(); e != nil; e = e.Next() {
		for at := e.Value.(*group).items.Front(); at != nil; at = at.Next() {
			items = append(items, at.Value.(*keptItem).CoreItem)
		}
	}
	return grouped(items)
}
