package exchange

import (
	"fmt"
	"strings"

	"axiommind/starter/command"
)

func printImported(b *strings.Builder, x imported) {
	verb := "imported"
	if x.DryRun {
		verb = "nothing was imported; it would be"
	}
	command.Say(b, "%s: %s %d of %s, in %s; the log has the others\n", x.Scope, verb, x.New, command.Plural(x.Events, "event", "events"),
		command.Plural(x.Streams, "stream", "streams"))
	if x.Moved > 0 {
		command.Say(b, "%s at the end of shared streams, because their positions were taken\n", command.Plural(x.Moved, "event", "events"))
	}
	sayForgotten(b, x)
	if !x.DryRun {
		command.Say(b, "%s to index; to see how far: starter embedder status\n", command.Plural(x.Vectors, "item", "items"))
	}
}

// sayForgotten names the streams of events that were left out.
func sayForgotten(b *strings.Builder, x imported) {
	if x.Forgotten == 0 {
		return
	}
	command.Say(b, "left out %s that were forgotten", command.Plural(x.Forgotten, "event", "events"))
	for i, stream := range x.ForgottenStreams {
		if i == maxConflicts {
			command.Say(b, "\n  and %d more streams", len(x.ForgottenStreams)-i)
			break
		}
		command.Say(b, "\n  %s", stream)
	}
	b.WriteByte('\n')
}

func printBackup(b *strings.Builder, x backedUpTo) {
	all := fmt.Sprintf("%s of %s", command.Plural(x.Total.Events, "event", "events"), command.Plural(x.Total.Streams, "stream", "streams"))
	switch {
	case x.Events == 0:
		command.Say(b, "%s: nothing new since part %d, with %s in all\n", x.Place, x.Part, all)
	case x.Full:
		command.Say(b, "%s: part %d, full: %s\n", x.Place, x.Part, all)
	default:
		command.Say(b, "%s: part %d: %s of %s; %s in all\n", x.Place, x.Part,
			command.Plural(x.Events, "event", "events"), command.Plural(x.Streams, "stream", "streams"), all)
	}
	if x.Erased {
		command.Say(b, "it is full: data was forgotten, or admitted again, since the part before\n")
	}
	if x.Removed > 0 {
		command.Say(b, "removed %s\n", command.Plural(x.Removed, "earlier part", "earlier parts"))
	}
}
