package main

import (
	"context"
	"fmt"
	"io"

	"github.com/google/uuid"
	"github.com/spf13/pflag"

	"axiommind/activities/boundary"
	"axiommind/activities/llm"
	"axiommind/activities/vector"
	"axiommind/schema"
)

func (a *app) reconcileCommand(*pflag.FlagSet) func(context.Context, []string) error {
	return func(ctx context.Context, _ []string) error {
		embedder, err := llm.NewEmbedder(ctx, a.cfg.Embedder)
		if err != nil {
			return usageError{err}
		}
		temporalClient, err := a.temporal(ctx)
		if err != nil {
			return err
		}
		defer temporalClient.Close()
		collection := schema.VectorCollection(embedder.Version())
		var report vector.Report
		update := boundary.Update{
			Name: schema.UpdateReconcile, ID: uuid.NewString(), Arg: vector.ReconcileInput{Collection: collection},
		}
		err = update.Send(ctx, temporalClient, &report)
		if err != nil {
			return fmt.Errorf("reconcile %s: %s", collection, failureText(err))
		}
		return a.print(report, func(w io.Writer) error {
			_, err := fmt.Fprintf(w, "%s: %s compared; %d to be written anew (%d missing, %d changed, %d stale, %d never enqueued, %d failed before); %s not known to the log\n",
				collection, plural(report.Checked, "item", "items"), report.Repaired(), report.Missing, report.Changed, report.Stale,
				report.NotEnqueued, report.Failed, plural(report.Extra, "object", "objects"))
			return err
		})
	}
}
