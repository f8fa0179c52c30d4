package fact

import "axiommind/activities/llm/answer"

// ItemsOf returns the items to import from an update of memory as models write it: the sections to update, and the new
// facts. Its removals are commands of their own.
func ItemsOf(u answer.Update) []Item {
	var items []Item
	for _, s := range u.Sections {
		if s.ShouldUpdate && s.Summary != "" {
			items = append(items, Item{Section: s.Section, Content: s.Summary})
		}
	}
	for _, f := range u.NewFacts {
		items = append(items, Item{Content: f.Content, Category: f.Category, Confidence: &f.Confidence, SourceError: f.SourceError})
	}
	return items
}
