package tier

import (
	"regexp"
	"slices"
	"strconv"

	"github.com/aymanbagabas/go-udiff"

	"axiommind/schema"
)

// EditItems returns the items of a text that a person edited from the parent's items. Items of the parent keep their
// sources, also under another heading. The source of the others is the event with the id. It also returns the parent's
// items that the text lacks.
func EditItems(parent []schema.CoreItem, text, eventID string) ([]schema.CoreItem, []schema.DroppedItem) {
	before, after := newGrounds(), newGrounds()
	items := ParseCore(text)
	for i := range items {
		after.addItem(items[i].Text)
		items[i].Sources, items[i].Written = []string{eventID}, true
	}
	for _, item := range parent {
		before.addItem(item.Text)
	}
	// became holds which item each one of the parent is now, and is which one of the parent each item was.
	became, was := map[int]int{}, map[int]int{}
	for _, moved := range []bool{false, true} {
		for i, item := range parent {
			if _, found := became[i]; found {
				continue
			}
			n := after.sameBy(item.Text, func(n int) int {
				rank := headingRank(items[n].Heading, item.Heading)
				if _, taken := was[n]; taken && (moved || rank == 0) {
					return 0
				}
				if moved {
					return 1
				}
				return rank
			})
			if n < 0 {
				continue
			}
			became[i] = n
			if _, taken := was[n]; !taken {
				was[n] = i
				items[n] = restated(items[n], item)
			} else {
				items[n].Written = items[n].Written || item.Written
				weigh(&items[n], item)
			}
		}
	}
	for n := range items {
		i := before.sameBy(items[n].Text, func(i int) int { return headingRank(parent[i].Heading, items[n].Heading) })
		if _, found := was[n]; !found && i >= 0 {
			items[n] = restated(items[n], parent[i])
		}
	}
	var dropped []schema.DroppedItem
	for i, item := range parent {
		if _, found := became[i]; !found {
			dropped = append(dropped, schema.DroppedItem{
				Text: item.Text, From: schema.FromMemory, Reason: schema.DroppedEdited, Sources: item.Sources,
			})
		}
	}
	return items, dropped
}

// restated returns the item with the sources and the weight of the one that it restates.
func restated(item, of schema.CoreItem) schema.CoreItem {
	of.Text, of.Heading, of.Sources = item.Text, item.Heading, slices.Clone(of.Sources)
	return of
}

// hunkHeader matches the header of a hunk. No line of a text is shown as one: those begin with another character.
var hunkHeader = regexp.MustCompile(`(?m)^(@@ -(\d+)(?:,(\d+))? \+)\d+((?:,(\d+))? @@)$`)

// Diff returns the unified diff between two texts, or "" if they are equal.
//
// After a hunk that joins several edits, go-udiff v0.4.1 miscounts the lines of the new text. Diff corrects the headers: a
// hunk starts there as many lines later as the hunks before it added.
func Diff(from, to, fromName, toName string) string {
	first, added := true, 0
	return hunkHeader.ReplaceAllStringFunc(udiff.Unified(fromName, toName, from, to), func(header string) string {
		m := hunkHeader.FindStringSubmatch(header)
		if start, err := strconv.Atoi(m[2]); err == nil && !first {
			header = m[1] + strconv.Itoa(start+added) + m[4]
		}
		first, added = false, added+hunkLines(m[5])-hunkLines(m[3])
		return header
	})
}

// hunkLines returns the number of lines in a range of a header, which is left out if it is 1.
func hunkLines(digits string) int {
	if n, err := strconv.Atoi(digits); err == nil {
		return n
	}
	return 1
}
