// Package help contains the topics that explain AxiomMind. Each is a page in Markdown: read on the web as it is, and in
// a terminal by "starter help TOPIC".
package help

import (
	"embed"
	"slices"
	"strings"
)

//go:embed *.md
var pages embed.FS

// names are the topics in reading order.
var names = []string{
	"getting-started", "agents", "pages", "api", "search", "tasks", "facts", "tiers-and-dreams", "proof", "graduation", "privacy",
	"exchange",
	"builds", "operating", "runbooks", "configuration", "temporal", "events", "internals", "evaluation", "performance", "differences",
}

// Topic is one page.
type Topic struct {
	Name string
	// Title is the page's heading.
	Title string
	// Purpose is the reader's aim, in one sentence.
	Purpose string
	// Text is the whole page in Markdown.
	Text string
}

// Topics returns all topics in reading order.
func Topics() []Topic {
	topics := make([]Topic, 0, len(names))
	for _, name := range names {
		page, err := pages.ReadFile(name + ".md")
		if err != nil {
			panic(err) // The pages are part of the program: a test reads each.
		}
		topics = append(topics, parse(name, string(page)))
	}
	return topics
}

// Find returns the topic with the name, and false if there is none.
func Find(name string) (Topic, bool) {
	topics := Topics()
	i := slices.IndexFunc(topics, func(t Topic) bool { return t.Name == name })
	if i < 0 {
		return Topic{}, false
	}
	return topics[i], true
}

const purpose = "After reading this page you "

func parse(name, page string) Topic {
	title, rest, _ := strings.Cut(page, "\n")
	first, _, _ := strings.Cut(strings.TrimSpace(rest), "\n\n")
	return Topic{
		Name: name, Title: strings.TrimPrefix(title, "# "), Text: page,
		Purpose: strings.TrimPrefix(strings.ReplaceAll(first, "\n", " "), purpose),
	}
}
