package dreams

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"axiommind/activities/tier"
	"axiommind/starter/command"
)

// shownSources is core memory with the sources of its items, by their texts.
type shownSources struct {
	tier.Core
	Origins map[string]source `json:"origins"`
}

func memoryShowCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "show", Short: "print core memory, which is MEMORY.md, or the sources of its items",
		Example: "starter memory show --user ann > prompt.md\n" +
			"starter memory show --version 3 --sources",
	}
	f := cmd.Flags()
	o := &command.Owner{}
	o.Add(f)
	version := f.Int("version", 0, "version to print, as memory history lists it (default: the current one)")
	sources := f.Bool("sources", false, "list the items instead, each with its source")
	a.Complete(cmd, "version", command.VersionNumbers)
	a.Answers(cmd, tier.Core{}, shownSources{})
	return a.Online(cmd, func(ctx context.Context, _ []string) error {
		if f.Changed("version") && *version < 1 {
			return command.Usagef("--version %d: want 1 or more", *version)
		}
		conn, err := a.ClickHouse(ctx)
		if err != nil {
			return err
		}
		core, err := readCore(ctx, tier.NewTables(conn), o, *version)
		if err != nil {
			return err
		}
		if core.Version == 0 {
			_, _ = fmt.Fprintln(a.ErrOut, noCore(o))
		}
		if *sources {
			found, err := findSources(ctx, conn, o, core.Items)
			if err != nil {
				return err
			}
			shown := shownSources{core, found}
			return a.Print(command.OrNull(shown, core.Version > 0), func(b *strings.Builder) { printSources(b, core.Items, found) })
		}
		return a.Print(command.OrNull(core, core.Version > 0), func(b *strings.Builder) { b.WriteString(endLine(core.Text)) })
	})
}

// readCore reads a version of core memory, the current one if the version is 0.
func readCore(ctx context.Context, t *tier.Tables, o *command.Owner, version int) (tier.Core, error) {
	if version == 0 {
		return t.Current(ctx, o.User, o.Agent)
	}
	return t.Version(ctx, o.User, o.Agent, version)
}
