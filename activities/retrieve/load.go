package retrieve

import (
	"context"

	"golang.org/x/sync/errgroup"

	"axiommind/activities/vector"
)

// found are the claims of each kind, the best first.
type found struct{ entries, tasks, messages, facts []*claim }

// tally counts candidates that are no hits, by why they are none: see [Result].
type tally struct {
	filtered, dropped, unrelated, superseded int
}

// load makes claims of the candidates of each kind, all at once.
func (r *search) load(ctx context.Context, items, messages, stated []vector.Candidate) (found, error) {
	entries, titles := byKind(items)
	var out found
	var tallies [4]tally
	group, ctx := errgroup.WithContext(ctx)
	for i, part := range []struct {
		candidates []vector.Candidate
		into       *[]*claim
		make       func(context.Context, []vector.Candidate, *tally) ([]*claim, error)
	}{
		{entries, &out.entries, r.judge}, {titles, &out.tasks, r.tasks}, {messages, &out.messages, r.messages}, {stated, &out.facts, r.facts},
	} {
		if len(part.candidates) > 0 {
			group.Go(func() (err error) {
				*part.into, err = part.make(ctx, part.candidates, &tallies[i])
				return err
			})
		}
	}
	err := group.Wait()
	result := &r.result
	result.Filtered, result.Dropped, result.Unrelated, result.Superseded = 0, 0, 0, 0
	for _, t := range tallies {
		result.Filtered += t.filtered
		result.Dropped += t.dropped
		result.Unrelated += t.unrelated
		result.Superseded += t.superseded
	}
	return out, err
}
