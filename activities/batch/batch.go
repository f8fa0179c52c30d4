// Package batch stores lists of sessions to process together, with the outcome of each. A batch is a stream of the
// event log: its items are listed once, page by page, and its outcomes are added as the items end.
package batch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"axiommind/activities/boundary"
	"axiommind/activities/eventlog"
	"axiommind/schema"
)

// Report is a batch as recorded in the log.
type Report struct {
	Items      []schema.BatchItem          `json:"items"`
	PassedOver []schema.PassedOver         `json:"passed_over"`
	Outcomes   map[int]schema.BatchOutcome `json:"outcomes"`
}

// Read reads the batch with the id. Of several outcomes of an item it takes the last one.
func Read(ctx context.Context, log *eventlog.Store, batch string) (Report, error) {
	r := Report{Outcomes: map[int]schema.BatchOutcome{}}
	for e, err := range log.Stream(ctx, schema.BatchStream(batch), eventlog.StreamOptions{}) {
		if err == nil {
			err = r.add(e)
		}
		if err != nil {
			return Report{}, fmt.Errorf("read batch %q: %w", batch, err)
		}
	}
	return r, nil
}

func (r *Report) add(e schema.Event) error {
	switch e.Type {
	case schema.BatchListed:
		p, err := schema.Decode[schema.BatchListedPayload](e)
		if err != nil {
			return err
		}
		r.Items, r.PassedOver = append(r.Items, p.Items...), append(r.PassedOver, p.PassedOver...)
	case schema.BatchReported:
		p, err := schema.Decode[schema.BatchReportedPayload](e)
		if err != nil {
			return err
		}
		for _, o := range p.Outcomes {
			r.Outcomes[o.Index] = o
		}
	}
	return nil
}

// Activities reads the items of batches and records their outcomes.
type Activities struct{ log *eventlog.Store }

// NewActivities returns the activities of this package.
func NewActivities(log *eventlog.Store) (*Activities, error) {
	if log == nil {
		return nil, errors.New("batch activities: no event log")
	}
	return &Activities{log}, nil
}

// NextInput asks for items of a batch.
type NextInput struct {
	Batch string `json:"batch"`
	// From is the index of the first, and Most how many are wanted.
	From int `json:"from"`
	Most int `json:"most"`
	// Page is a page that is not after the one with the first item: nothing before it is read.
	Page int `json:"page,omitempty"`
}

// Next contains the next items, in order, as many as fit a small payload. More is true if others follow.
type Next struct {
	Items []schema.BatchItem `json:"items"`
	More  bool               `json:"more"`
	// Page is the page of the item after these, or an earlier one.
	Page int `json:"page,omitempty"`
}

// NextItems returns items of a batch. It returns none only after the last one.
func (a *Activities) NextItems(ctx context.Context, in NextInput) (Next, error) {
	return boundary.Run(ctx, in, a.next)
}

func (a *Activities) next(ctx context.Context, in NextInput) (Next, error) {
	next := Next{Items: []schema.BatchItem{}, More: true, Page: in.Page}
	for len(next.Items) == 0 && next.More {
		page, err := a.page(ctx, in.Batch, next.Page)
		if err != nil || page == nil {
			next.More = false
			return next, err
		}
		if err := next.take(in, page); err != nil {
			return Next{}, err
		}
	}
	return next, nil
}

// page returns a page of the list, or nil if there is none. The pages are the first events of the stream.
func (a *Activities) page(ctx context.Context, batch string, page int) (*schema.BatchListedPayload, error) {
	for e, err := range a.log.Stream(ctx, schema.BatchStream(batch), eventlog.StreamOptions{
		After: uint64(page), Types: []string{schema.BatchListed}, Limit: 1,
	}) {
		if err != nil {
			return nil, fmt.Errorf("read page %d of batch %q: %w", page, batch, err)
		}
		p, err := schema.Decode[schema.BatchListedPayload](e)
		return &p, err
	}
	return nil, nil
}

// take takes the items of the page that are asked for.
func (n *Next) take(in NextInput, page *schema.BatchListedPayload) error {
	size := 0
	for _, item := range page.Items {
		if item.Index < in.From {
			continue
		}
		bytes, err := sizeOf(item)
		if err != nil {
			return err
		}
		if len(n.Items) > 0 && (len(n.Items) >= in.Most || size+bytes > maxPageBytes) {
			return nil
		}
		n.Items, size = append(n.Items, item), size+bytes
	}
	n.Page, n.More = page.Page+1, !page.Last
	return nil
}

func sizeOf(item schema.BatchItem) (int, error) {
	data, err := json.Marshal(item)
	if err != nil {
		return 0, fmt.Errorf("encode item %q: %w", item.Name, err)
	}
	return len(data), nil
}

// ReportInput contains outcomes of items.
type ReportInput struct {
	Batch    string                `json:"batch"`
	At       time.Time             `json:"at"`
	Outcomes []schema.BatchOutcome `json:"outcomes"`
	Head     schema.StreamHead     `json:"head,omitzero"`
}

// ReportOutcomes records outcomes.
func (a *Activities) ReportOutcomes(ctx context.Context, in ReportInput) (schema.StreamHead, error) {
	return boundary.Run(eventlog.WithHead(ctx, schema.BatchStream(in.Batch), in.Head), in, a.report)
}

func (a *Activities) report(ctx context.Context, in ReportInput) (schema.StreamHead, error) {
	e, err := schema.NewEvent(schema.BatchReportedPayload{Batch: in.Batch, Outcomes: in.Outcomes}, schema.Event{
		TS: in.At, Actor: actor, DedupeKey: schema.BatchReportedKey(in.Batch, in.Outcomes),
	})
	if err != nil {
		return schema.StreamHead{}, err
	}
	stream := schema.BatchStream(in.Batch)
	_, err = a.log.Append(ctx, stream, []schema.Event{e})
	return a.log.Head(stream), err
}
