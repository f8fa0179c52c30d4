package recall

import (
	"context"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"axiommind/activities/entry"
	"axiommind/activities/graduate"
	"axiommind/schema"
	"axiommind/starter/command"
)

func entryConfirmCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "confirm [ENTRY…]", Short: "confirm memories: they become certified",
		Example: "starter entry confirm 04a5ad1b 7c20e9f4 --project demo\n" +
			"starter entry confirm --by-model --project demo",
	}
	f := cmd.Flags()
	c := graduate.Command{Op: graduate.OpConfirm}
	f.StringVar(&c.Project, "project", "default", "project of the entries")
	var m modelFlags
	m.add(f)
	a.Answers(cmd, graduate.CommandResult{})
	return a.Online(cmd, func(ctx context.Context, args []string) error {
		if err := m.check(args); err != nil {
			return err
		}
		if m.byModel {
			return confirmByModel(ctx, a, c.Project, args, m)
		}
		return confirmEntries(ctx, a, c, args)
	})
}

// confirmEntries confirms the entries. Those that an agent stated are first restated by the person.
func confirmEntries(ctx context.Context, a *command.App, c graduate.Command, given []string) error {
	rows, err := NamedEntries(ctx, a, c.Project, given)
	if err != nil {
		return err
	}
	for _, row := range rows {
		if schema.SaidByAgent(row.Evidence) == "" || row.Status != schema.StatusActive {
			continue
		}
		in := graduate.ConfirmationInput(row, time.Now())
		if err := in.CheckStatement(); err != nil {
			return command.BadUsage(err)
		}
		if err := state(ctx, a, in); err != nil {
			return err
		}
	}
	c.EntryIDs = IDsOfRows(rows)
	return Rule(ctx, a, c)
}

func state(ctx context.Context, a *command.App, in schema.ProcessSessionInput) error {
	temporalClient, err := a.Temporal(ctx)
	if err != nil {
		return err
	}
	_, err = stateEntry(ctx, temporalClient, in)
	return err
}

// ruleOnEntries sends a command about the entries with the given ids or beginnings of ids.
func ruleOnEntries(ctx context.Context, a *command.App, c graduate.Command, given []string) error {
	rows, err := NamedEntries(ctx, a, c.Project, given)
	if err != nil {
		return err
	}
	c.EntryIDs = IDsOfRows(rows)
	return Rule(ctx, a, c)
}

// NamedEntries reads the entries with the given ids or beginnings of ids, each once, in the given order.
func NamedEntries(ctx context.Context, a *command.App, project string, given []string) ([]entry.Row, error) {
	conn, err := a.ClickHouse(ctx)
	if err != nil {
		return nil, err
	}
	reader := entry.NewReader(conn)
	var rows []entry.Row
	for _, id := range given {
		row, err := reader.Get(ctx, project, id)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(IDsOfRows(rows), row.ID) {
			rows = append(rows, row)
		}
	}
	return rows, nil
}

// IDsOfRows returns the ids of the entries.
func IDsOfRows(rows []entry.Row) []string {
	ids := make([]string, len(rows))
	for i, row := range rows {
		ids[i] = row.ID
	}
	return ids
}
