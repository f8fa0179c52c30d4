package operation

import (
	"context"
	"fmt"
	"strings"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"axiommind/activities/boundary"
	"axiommind/activities/llm"
	"axiommind/activities/vector"
	"axiommind/schema"
	"axiommind/starter/command"
)

// Reconciled is the result of comparing a collection with the log.
type Reconciled struct {
	Collection string `json:"collection"`
	vector.Report
}

func reconcileCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "reconcile", Short: "compare Weaviate with the log, and repair differences",
	}
	return a.Online(cmd, func(ctx context.Context, _ []string) error {
		reports, err := Reconcile(ctx, a)
		if err != nil {
			return err
		}
		return a.Print(reports, func(b *strings.Builder) { printReconciled(b, reports) })
	})
}

// Reconcile compares each collection in use with the log, and has a worker repair the differences.
func Reconcile(ctx context.Context, a *command.App) (reports []Reconciled, err error) {
	own, err := llm.NewEmbedder(ctx, a.Cfg.Embedder)
	if err != nil {
		return nil, command.BadUsage(err)
	}
	conn, err := a.ClickHouse(ctx)
	if err != nil {
		return nil, err
	}
	temporalClient, err := a.Temporal(ctx)
	if err != nil {
		return nil, err
	}
	versions, err := Indexes(a, conn, nil, own).Versions(ctx)
	if err != nil {
		return nil, err
	}
	for _, version := range versions {
		for _, index := range schema.Indexes(version) {
			r := Reconciled{Collection: schema.VectorCollection(index)}
			update := boundary.Update{
				Name: schema.UpdateReconcile, ID: uuid.NewString(), Arg: vector.ReconcileInput{Collection: r.Collection},
			}
			if err := update.Send(ctx, temporalClient, &r.Report); err != nil {
				return nil, fmt.Errorf("reconcile %s: %s", r.Collection, command.FailureText(err))
			}
			reports = append(reports, r)
		}
	}
	return reports, nil
}

func printReconciled(b *strings.Builder, reports []Reconciled) {
	for _, r := range reports {
		fmt.Fprintf(b, "%s: %s compared; "+
			"%d to rewrite (%d missing, %d changed, %d stale, %d never enqueued, %d failed before); %s unknown to the log\n",
			r.Collection, command.Plural(r.Checked, "item", "items"), r.Repaired(), r.Missing, r.Changed, r.Stale,
			r.NotEnqueued, r.Failed, command.Plural(r.Extra, "object", "objects"))
	}
}
