package main

import (
	"context"
	"io"

	"github.com/spf13/pflag"
)

var configShowCommand = command{
	name: "config show", flags: (*app).configShowCommand,
	summary:  "print the settings, with the source of each",
	examples: "starter config show\nstarter config show --clickhouse-dsn http://db.example.com:8123/memory -o json",
}

// configShowCommand prints the settings with their sources. It asks no server.
func (a *app) configShowCommand(*pflag.FlagSet) func(context.Context, []string) error {
	return func(context.Context, []string) error {
		rows := a.cfg.Show()
		return a.print(rows, func(w io.Writer) error {
			t := newTable(w, "setting", "value", "source")
			for _, r := range rows {
				t.AppendRow([]any{r.Name, r.Text(), r.Source})
			}
			t.Render()
			return nil
		})
	}
}
