package build

import (
	"context"
	"fmt"
	"strings"

	"go.temporal.io/sdk/activity"

	"axiommind/activities/batch"
	"axiommind/activities/boundary"
	"axiommind/schema"
)

// ListRetries lists the builds to try again as the items of a batch. A build that could only fail again is passed over,
// with the reason.
func (a *Activities) ListRetries(ctx context.Context, in batch.ListInput[schema.RetryBuildsInput]) (batch.Listed, error) {
	return boundary.Run(ctx, in, a.listRetries)
}

func (a *Activities) listRetries(ctx context.Context, in batch.ListInput[schema.RetryBuildsInput]) (batch.Listed, error) {
	return a.listSelected(ctx, in, RunningSessions(activity.GetClient(ctx)))
}

// listSelected lists the builds that the input selects. It is an error if builds are named and none of them can be
// retried.
func (a *Activities) listSelected(ctx context.Context, in batch.ListInput[schema.RetryBuildsInput], running Running) (batch.Listed, error) {
	if err := in.By.Validate(); err != nil {
		return batch.Listed{}, boundary.Invalid(schema.ErrorInvalidInput, err)
	}
	list, err := batch.List(ctx, a.log.Store, in.Batch, in.At)
	if err != nil {
		return batch.Listed{}, err
	}
	if !list.Done() {
		if err := a.listTo(ctx, list, Selection{Conn: a.conn, Running: running, By: in.By, At: in.At}); err != nil {
			return batch.Listed{}, err
		}
	}
	listed, err := list.Close(ctx)
	if err != nil || listed.Items > 0 || len(in.By.Builds) == 0 {
		return listed, err
	}
	return batch.Listed{}, a.nothingToRetry(ctx, in.Batch)
}

func (a *Activities) listTo(ctx context.Context, list *batch.Lister, selection Selection) error {
	for c, err := range selection.Each(ctx, list.Cursor()) {
		if err != nil {
			return err
		}
		if c.LeftAlone != "" {
			err = list.PassOver(ctx, schema.PassedOver{Name: c.BuildID, Reason: c.LeftAlone, Class: c.Class}, c.Cursor)
		} else {
			err = list.Add(ctx, c.Item(), c.Cursor)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// nothingToRetry says why none of the builds of the batch is tried again.
func (a *Activities) nothingToRetry(ctx context.Context, id string) error {
	const most = 5
	report, err := batch.Read(ctx, a.log.Store, id)
	if err != nil {
		return err
	}
	var reasons []string
	for _, p := range report.PassedOver[:min(most, len(report.PassedOver))] {
		reasons = append(reasons, fmt.Sprintf("build %q: %s", p.Name, p.Reason))
	}
	if more := len(report.PassedOver) - most; more > 0 {
		reasons = append(reasons, fmt.Sprintf("and %d more", more))
	}
	return boundary.Invalid(schema.ErrorInvalidInput, fmt.Errorf("nothing to retry: %s", strings.Join(reasons, "; ")))
}
