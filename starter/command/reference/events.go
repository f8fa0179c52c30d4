package reference

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"axiommind/schema"
	"axiommind/starter/command"
)

// eventType is a row of the registry.
type eventType struct {
	Type       string   `json:"type"`
	Stream     string   `json:"stream"`
	DedupeKeys []string `json:"dedupe_keys"`
	Payload    string   `json:"payload"`
	Meaning    string   `json:"meaning"`
}

// eventTypesCommand prints the registry of event types.
func eventTypesCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "types", Short: "list the types of events that the log holds",
	}
	f := cmd.Flags()
	a.OutputFlag(f)
	return a.Offline(cmd, func(context.Context, []string) error {
		rows := eventTypes()
		return a.Print(rows, func(b *strings.Builder) {
			command.Table(b, "type, stream, dedupe key, payload, meaning", rows, func(r eventType) []any {
				return []any{r.Type, r.Stream, command.ManyLines(r.DedupeKeys), r.Payload, r.Meaning}
			})
		})
	})
}

func eventTypes() []eventType {
	all := schema.EventTypes()
	rows := make([]eventType, len(all))
	for i, t := range all {
		rows[i] = eventType{t.Name, t.Stream(), t.Keys, t.Payload(), t.Meaning}
	}
	return rows
}
