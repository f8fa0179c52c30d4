package main

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"axiommind/activities/entry"
	"axiommind/activities/graduate"
	"axiommind/activities/table"
	"axiommind/schema"
)

func (a *app) entryConfirmCommand() *cobra.Command {
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
	return a.online(cmd, func(ctx context.Context, args []string) error {
		if err := m.check(args); err != nil {
			return err
		}
		if m.byModel {
			return a.confirmByModel(ctx, c.Project, args, m)
		}
		return a.confirmEntries(ctx, c, args)
	})
}

// confirmEntries confirms the entries. Those that an agent stated are first restated by the person.
func (a *app) confirmEntries(ctx context.Context, c graduate.Command, given []string) error {
	rows, err := a.namedEntries(ctx, c.Project, given)
	if err != nil {
		return err
	}
	for _, row := range rows {
		if schema.SaidByAgent(row.Evidence) == "" || row.Status != schema.StatusActive {
			continue
		}
		in := graduate.ConfirmationInput(row, time.Now())
		if err := in.CheckStatement(); err != nil {
			return badUsage(err)
		}
		if err := a.state(ctx, in); err != nil {
			return err
		}
	}
	c.EntryIDs = idsOfRows(rows)
	return a.rule(ctx, c)
}

func (a *app) state(ctx context.Context, in schema.ProcessSessionInput) error {
	temporalClient, err := a.temporal(ctx)
	if err != nil {
		return err
	}
	defer temporalClient.Close()
	_, err = stateEntry(ctx, temporalClient, in)
	return err
}

// ruleOnEntries sends a command about the entries with the given ids or beginnings of ids.
func (a *app) ruleOnEntries(ctx context.Context, c graduate.Command, given []string) error {
	rows, err := a.namedEntries(ctx, c.Project, given)
	if err != nil {
		return err
	}
	c.EntryIDs = idsOfRows(rows)
	return a.rule(ctx, c)
}

// namedEntries reads the entries with the given ids or beginnings of ids, each once, in the given order.
func (a *app) namedEntries(ctx context.Context, project string, given []string) ([]entry.Row, error) {
	conn, err := a.clickHouse(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close() }()
	reader := entry.NewReader(conn)
	var rows []entry.Row
	for _, id := range given {
		row, err := reader.Get(ctx, project, id)
		if errors.Is(err, entry.ErrNotFound) || errors.Is(err, table.ErrAmbiguous) {
			return nil, badUsage(err)
		}
		if err != nil {
			return nil, err
		}
		if !slices.Contains(idsOfRows(rows), row.ID) {
			rows = append(rows, row)
		}
	}
	return rows, nil
}

// idsOfRows returns the ids of the entries.
func idsOfRows(rows []entry.Row) []string {
	ids := make([]string, len(rows))
	for i, row := range rows {
		ids[i] = row.ID
	}
	return ids
}
