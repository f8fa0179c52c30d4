package operation

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"axiommind/starter/command"
	"axiommind/worker/settings"
)

// configShowCommand prints the settings with their sources. It asks no server.
func configShowCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "show", Short: "print the settings, with the source of each",
		Example: "starter config show\nstarter config show --clickhouse-dsn http://db.example.com:8123/memory -o json",
	}
	return a.Online(cmd, func(context.Context, []string) error {
		rows := a.Cfg.Show()
		return a.Print(rows, func(b *strings.Builder) {
			command.Table(b, "setting, value, source", rows, func(r settings.Effective) []any { return []any{r.Name, r.Text(), r.Source} })
		})
	})
}
