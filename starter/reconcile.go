package main

import (
	"context"
	"fmt"
	"io"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"axiommind/activities/boundary"
	"axiommind/activities/llm"
	"axiommind/activities/vector"
	"axiommind/schema"
)

// reconciled is the result of comparing a collection with the log.
type reconciled struct {
	Collection string `json:"collection"`
	vector.Report
}

func (a *app) reconcileCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "reconcile", Short: "compare Weaviate with the log, and repair differences",
	}
	return a.online(cmd, func(ctx context.Context, _ []string) error {
		own, err := llm.NewEmbedder(ctx, a.cfg.Embedder)
		if err != nil {
			return badUsage(err)
		}
		conn, err := a.clickHouse(ctx)
		if err != nil {
			return err
		}
		defer func() { _ = conn.Close() }()
		temporalClient, err := a.temporal(ctx)
		if err != nil {
			return err
		}
		defer temporalClient.Close()
		versions, err := a.indexes(conn, nil, own).Versions(ctx)
		if err != nil {
			return err
		}
		var reports []reconciled
		for _, version := range versions {
			for _, index := range schema.Indexes(version) {
				r := reconciled{Collection: schema.VectorCollection(index)}
				update := boundary.Update{
					Name: schema.UpdateReconcile, ID: uuid.NewString(), Arg: vector.ReconcileInput{Collection: r.Collection},
				}
				if err := update.Send(ctx, temporalClient, &r.Report); err != nil {
					return fmt.Errorf("reconcile %s: %s", r.Collection, failureText(err))
				}
				reports = append(reports, r)
			}
		}
		return a.print(reports, func(w io.Writer) error { return printReconciled(w, reports) })
	})
}

func printReconciled(w io.Writer, reports []reconciled) error {
	for _, r := range reports {
		_, err := fmt.Fprintf(w, "%s: %s compared; "+
			"%d to rewrite (%d missing, %d changed, %d stale, %d never enqueued, %d failed before); %s unknown to the log\n",
			r.Collection, plural(r.Checked, "item", "items"), r.Repaired(), r.Missing, r.Changed, r.Stale,
			r.NotEnqueued, r.Failed, plural(r.Extra, "object", "objects"))
		if err != nil {
			return err
		}
	}
	return nil
}
