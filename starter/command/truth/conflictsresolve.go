package truth

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"axiommind/activities/entry"
	"axiommind/activities/graduate"
	"axiommind/starter/command"
	"axiommind/starter/command/recall"
)

func conflictsResolveCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "resolve [CONFLICT…]", Short: "say which side of conflicts is right, or that both are",
		Example: "starter conflicts resolve 0a1b2c3d --keep 04a5ad1b --because 'measured again in May'\n" +
			"starter conflicts resolve --keep 04a5ad1b\n" +
			"starter conflicts resolve 0a1b2c3d --keep both",
	}
	f := cmd.Flags()
	c := graduate.Command{Op: graduate.OpResolve}
	f.StringVar(&c.Project, "project", "default", "project of the memories")
	f.StringVar(&c.Because, "because", "", "why, for the history")
	keep := f.String("keep", "", "the entry that is right, or both if they do not contradict each other (needed)")
	a.Complete(cmd, "keep", command.EntryIDs)
	a.Answers(cmd, graduate.CommandResult{})
	return a.Online(cmd, func(ctx context.Context, args []string) error {
		switch {
		case *keep == "":
			return command.Usagef("give the entry that is right with --keep, or --keep %s", keepBoth)
		case *keep == keepBoth && len(args) == 0:
			return command.Usagef("name the conflicts in which both sides are right; starter conflicts lists them")
		}
		conn, err := a.ClickHouse(ctx)
		if err != nil {
			return err
		}
		if *keep != keepBoth {
			row, err := entry.NewReader(conn).Get(ctx, c.Project, *keep)
			if err != nil {
				return err
			}
			c.Keep = row.ID
		}
		conflicts, err := conflictsToResolve(ctx, graduate.NewLedgers(conn), c, args)
		if err != nil {
			return err
		}
		for _, each := range conflicts {
			c.ConflictIDs = append(c.ConflictIDs, each.ID)
		}
		return recall.Rule(ctx, a, c)
	})
}

// conflictsToResolve reads the conflicts with the given ids or beginnings of ids. Without ids it reads all open conflicts of
// the entry to keep. The entry must be a side of each.
func conflictsToResolve(ctx context.Context, l *graduate.Ledgers, c graduate.Command, given []string) ([]graduate.Conflict, error) {
	if len(given) == 0 {
		found, err := l.Conflicts(ctx, graduate.ConflictQuery{Project: c.Project, EntryID: c.Keep})
		if err == nil && len(found) == 0 {
			err = command.Usagef("no open conflict has entry %q of project %q as a side", c.Keep, c.Project)
		}
		return found, err
	}
	var out []graduate.Conflict
	for _, id := range given {
		one, err := l.Conflict(ctx, c.Project, id)
		if err != nil {
			return nil, err
		}
		if c.Keep != "" && c.Keep != one.Older.EntryID && c.Keep != one.Newer.EntryID {
			return nil, command.Usagef("entry %q is no side of conflict %q, which is between %q and %q", c.Keep, one.ID, one.Older.EntryID, one.Newer.EntryID)
		}
		if !slices.ContainsFunc(out, func(had graduate.Conflict) bool { return had.ID == one.ID }) {
			out = append(out, one)
		}
	}
	return out, nil
}
