package dreams

import (
	"slices"
	"strconv"
	"strings"

	"axiommind/activities/tier"
	"axiommind/schema"
	"axiommind/starter/command"
)

// noCore is the text for a core memory without any version.
func noCore(o *command.Owner) string {
	return "nothing is remembered in core memory of " + command.Unbroken(o.String())
}

// number parses the number of a version or a dream.
func number(what, text string, least int) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < least {
		return 0, command.Usagef("%s %q: want a whole number from %d on", what, text, least)
	}
	return n, nil
}

// endLine adds a line break to a text that lacks one, unless it is empty.
func endLine(text string) string {
	if text == "" || strings.HasSuffix(text, "\n") {
		return text
	}
	return text + "\n"
}

// sayDropped lists dropped items with their reasons: those of the memory, then those of the answer.
func sayDropped(b *strings.Builder, all []schema.DroppedItem) {
	sayDroppedFrom(b, schema.FromMemory, "no longer in memory", all)
	sayDroppedFrom(b, schema.FromAnswer, "not taken from the answer", all)
}

func sayDroppedFrom(b *strings.Builder, from, what string, all []schema.DroppedItem) {
	items := slices.DeleteFunc(slices.Clone(all), func(item schema.DroppedItem) bool { return item.From != from })
	if len(items) == 0 {
		return
	}
	if b.Len() > 0 {
		b.WriteString("\n")
	}
	command.Say(b, "%s, %s:\n", command.Plural(len(items), "item", "items"), what)
	for _, item := range items {
		text := item.Text
		if item.Reason == schema.DroppedHeading {
			text = tier.HeadingLine(text)
		}
		command.Block(b, "  │ ", text)
		command.Say(b, "    %s", item.Reason)
		if item.Detail != "" {
			command.Say(b, ": %s", item.Detail)
		}
		if item.By != "" {
			command.Say(b, "; see “%s”", command.OneLine(item.By, 120))
		}
		b.WriteString("\n")
	}
}
