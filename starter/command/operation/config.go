package operation

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"axiommind/starter/command"
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
			t := command.NewTable(b, "setting", "value", "source")
			for _, r := range rows {
				t.AppendRow([]any{r.Name, r.Text(), r.Source})
			}
			t.Render()
		})
	})
}
