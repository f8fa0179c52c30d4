package main

import (
	"context"

	"github.com/spf13/pflag"

	"axiommind/activities/graduate"
)

var entryRetireCommand = command{
	name: "entry retire", arguments: "ENTRY…", flags: (*app).entryRetireCommand,
	summary:  "retire memories, with a reason",
	examples: "starter entry retire 04a5ad1b --because 'the service was switched off'",
}

func (a *app) entryRetireCommand(f *pflag.FlagSet) func(context.Context, []string) error {
	c := graduate.Command{Op: graduate.OpRetire}
	f.StringVar(&c.Project, "project", "default", "project of the entries")
	f.StringVar(&c.Because, "because", "", "why they are not believed any longer (needed)")
	return func(ctx context.Context, args []string) error {
		if err := needsText("because", c.Because); err != nil {
			return err
		}
		return a.ruleOnEntries(ctx, c, args)
	}
}

var entryRestoreCommand = command{
	name: "entry restore", arguments: "ENTRY…", flags: (*app).entryRestoreCommand,
	summary: "restore retired memories",
}

func (a *app) entryRestoreCommand(f *pflag.FlagSet) func(context.Context, []string) error {
	c := graduate.Command{Op: graduate.OpRestore}
	f.StringVar(&c.Project, "project", "default", "project of the entries")
	f.StringVar(&c.Because, "because", "", "why they are believed again, for the history")
	return func(ctx context.Context, args []string) error { return a.ruleOnEntries(ctx, c, args) }
}
