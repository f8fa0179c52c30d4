package tier

import (
	"fmt"
	"slices"
	"strings"

	"axiommind/schema"
)

// DreamOffline returns the answer of the offline model. It has the items of the memory unchanged; then the facts and
// entries of the days, the oldest day first, under their headings; then the statements of the days' summaries,
// likewise. Repeated statements are left out. The lines of a conversation state nothing.
//
// [Compose] keeps all of it.
func DreamOffline(g schema.DreamGatheredPayload) Answer {
	said := newGrounds()
	items := slices.Clone(g.Memory)
	for _, item := range items {
		said.addItem(item.Text)
	}
	// An item without a heading goes with the one that says the same under one.
	under := func(n int) string {
		for _, same := range said.duplicates(items[n].Text) {
			if items[n].Heading == "" && items[same].Heading != "" {
				return items[same].Heading
			}
		}
		return items[n].Heading
	}
	added, known := 0, 0
	for _, item := range promotable(g) {
		if len(said.holdsIn(item.Text, func(n int) bool { return headingRank(under(n), item.Heading) > 0 })) > 0 {
			known++
			continue
		}
		added++
		said.addItem(item.Text)
		items = append(items, item)
	}
	return Answer{
		HasMemory: true, Memory: RenderCore(items),
		HasDiary: true, Diary: fmt.Sprintf("%s read; %s found, %s.",
			count(len(g.Days), "day"), count(added, "new statement"), count(known, "duplicate")),
	}
}

// count returns a number of things in words.
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// promotable returns the statements of the days that may become items of the memory.
func promotable(g schema.DreamGatheredPayload) []schema.CoreItem {
	headings := headingsOf(g)
	var learned, recorded []schema.CoreItem
	for _, day := range slices.Backward(g.Days) {
		for _, s := range day.Sources {
			heading := headings.spelled(s.Heading)
			if s.Kind == schema.SourceFact || s.Kind == schema.SourceEntry {
				learned = append(learned, itemsOf(s, heading, false)...)
			} else if !s.Turns {
				recorded = append(recorded, itemsOf(s, heading, true)...)
			}
		}
	}
	return append(learned, recorded...)
}

// itemsOf returns the items that a source states and that are grounded in it. If it is no list, it is one item.
func itemsOf(s schema.SourceText, heading string, list bool) []schema.CoreItem {
	said := newGrounds()
	said.add(plainLines(s.Text), false)
	markdown := s.Text
	if !list {
		markdown = RenderCore([]schema.CoreItem{{Text: strings.TrimSpace(plainLines(s.Text))}})
	}
	items, _ := parseItems(markdown, false)
	items = slices.DeleteFunc(items, func(item schema.CoreItem) bool {
		return isTurn(item.Text) || len(said.holds(item.Text)) == 0
	})
	for i := range items {
		items[i].Heading = heading
	}
	return items
}

// isTurn reports whether a text has the form in which the offline summarizer writes a turn of a conversation.
func isTurn(text string) bool {
	return strings.HasPrefix(text, English.User+": ") && strings.Contains(text, "→ "+English.Reply+": ")
}
