package workflows_test

import (
	"context"
	"fmt"

	"axiommind/activities/batch"
	"axiommind/schema"
)

// batchRoom is the log of a batch: its list and the recorded outcomes.
type batchRoom struct {
	items      []schema.BatchItem
	passedOver int
	// pageSize is the number of items on a page of the list.
	pageSize int
	reported []schema.BatchOutcome
}

// itemsOf returns items of the sessions with the ids.
func itemsOf(ids ...string) (items []schema.BatchItem) {
	for i, id := range ids {
		items = append(items, schema.BatchItem{Index: i, Name: id + ".jsonl", Input: schema.ProcessSessionInput{
			URI: "file:///" + id, Project: "p", User: "u", SessionID: id,
		}})
	}
	return items
}

// numbered returns n numbered ids.
func numbered(n int) (ids []string) {
	for i := range n {
		ids = append(ids, fmt.Sprintf("세션/%d", i))
	}
	return ids
}

func (r *rooms) listed() (batch.Listed, error) {
	return batch.Listed{Items: len(r.batch.items), PassedOver: r.batch.passedOver, Head: at(1)}, nil
}

func (r *rooms) ListSessions(ctx context.Context, in batch.ListInput[schema.ImportSessionsInput]) (batch.Listed, error) {
	return called(ctx, r, "ListSessions", in, r.listed)
}

func (r *rooms) ListRetries(ctx context.Context, in batch.ListInput[schema.RetryBuildsInput]) (batch.Listed, error) {
	return called(ctx, r, "ListRetries", in, r.listed)
}

func (r *rooms) ListBackfill(ctx context.Context, in batch.ListInput[schema.BackfillSessionsInput]) (batch.Listed, error) {
	return called(ctx, r, "ListBackfill", in, r.listed)
}

// NextItems returns the items of one page.
func (r *rooms) NextItems(ctx context.Context, in batch.NextInput) (batch.Next, error) {
	return called(ctx, r, "NextItems", in, func() (batch.Next, error) {
		size := max(r.batch.pageSize, 1)
		last := min(in.From+in.Most, in.From-in.From%size+size, len(r.batch.items))
		return batch.Next{Items: r.batch.items[in.From:last], More: last < len(r.batch.items), Page: last / size}, nil
	})
}

func (r *rooms) ReportOutcomes(ctx context.Context, in batch.ReportInput) (schema.StreamHead, error) {
	return called(ctx, r, "ReportOutcomes", in, func() (schema.StreamHead, error) {
		r.batch.reported = append(r.batch.reported, in.Outcomes...)
		return at(in.Head.Seq + 1), nil
	})
}
