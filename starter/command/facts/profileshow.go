package facts

import (
	"context"
	"fmt"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/spf13/cobra"

	"axiommind/activities/fact"
	"axiommind/starter/command"
)

// shownProfile is the profile, with the version of the whole memory.
type shownProfile struct {
	Sections []fact.Section `json:"sections"`
	Version  uint64         `json:"version"`
}

func profileShowCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "show", Short: "show the profile of a user",
	}
	o := &command.Owner{}
	o.Add(cmd.Flags())
	a.Answers(cmd, shownProfile{})
	return a.Reads(cmd, func(ctx context.Context, conn driver.Conn, _ []string) error {
		t := fact.NewTables(conn)
		// The version is read first: a stale version is refused later, a version newer than the rows would not be.
		version, err := t.Version(ctx, o.User, o.Agent)
		if err != nil {
			return err
		}
		sections, err := t.Profile(ctx, o.User, o.Agent)
		if err != nil {
			return err
		}
		if sections == nil {
			sections = []fact.Section{}
		}
		return a.Print(shownProfile{sections, version}, func(b *strings.Builder) { printProfile(b, o, sections) })
	})
}

func printProfile(b *strings.Builder, o *command.Owner, sections []fact.Section) {
	if len(sections) == 0 {
		command.Say(b, "the profile of %s is empty\n", o)
	}
	for i, s := range sections {
		if i > 0 {
			b.WriteString("\n")
		}
		from := "by " + s.Actor
		if s.EntryID != "" {
			from = fmt.Sprintf("from session %s, entry %s", s.SessionID, command.ShortID(s.EntryID))
		}
		command.Say(b, "%s, %s, version %d, %s%s\n", s.Name, command.When(s.UpdatedAt), s.Version, from, factText(s.Entry))
		command.Block(b, "  │ ", s.Summary)
	}
}
