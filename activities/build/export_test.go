package build

import (
	"context"

	"axiommind/activities/batch"
	"axiommind/schema"
)

// Paged returns the selection with pages of n builds.
func (s Selection) Paged(n int) Selection {
	s.page = n
	return s
}

// BackfillOfPages returns the backfill with another size of its pages.
func BackfillOfPages(b Backfill, page int) Backfill {
	b.page = page
	return b
}

// ListRetriesWhile lists as ListRetries does, while these sessions run.
func (a *Activities) ListRetriesWhile(
	ctx context.Context, in batch.ListInput[schema.RetryBuildsInput], running Running,
) (batch.Listed, error) {
	return a.listSelected(ctx, in, running)
}
