package eval

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

// Bounds of a run.
const (
	MaxLimit       = 1000
	MaxConcurrency = 64
)

// Options configures [Run]. Zero values mean the defaults.
type Options struct {
	// Limit is how many results are asked for, [Deepest] at least, which is the default. MRR looks at all of them.
	Limit int
	// Concurrency is how many questions are asked at a time. Default: 1, because questions that wait for each other do
	// not show the latency.
	Concurrency int
	// Half is the part of the questions to ask. Default: all.
	Half Half
	// Settings and Embedder are written into the result: how the retriever is configured, and the version of its vectors.
	Settings map[string]string
	Embedder string
	// Progress, if set, is called after each question. Calls do not overlap.
	Progress func(done, total int)
}

func (o Options) withDefaults() Options {
	o.Limit = cmp.Or(o.Limit, Deepest)
	o.Concurrency = cmp.Or(o.Concurrency, 1)
	o.Half = cmp.Or(o.Half, HalfAll)
	return o
}

func (o Options) validate() error {
	switch {
	case o.Limit < Deepest || o.Limit > MaxLimit:
		return fmt.Errorf("limit %d: want %d to %d", o.Limit, Deepest, MaxLimit)
	case o.Concurrency < 1 || o.Concurrency > MaxConcurrency:
		return fmt.Errorf("concurrency %d: want 1 to %d", o.Concurrency, MaxConcurrency)
	case !slices.Contains(Halves(), o.Half):
		return fmt.Errorf("half %q: want one of %v", o.Half, Halves())
	}
	return nil
}

// Run asks the retriever every question and measures the results. A question that fails ends the run: counted as not
// found it would look like a worse retriever. The first question is asked once before the others and not counted, so that
// latencies hold no connecting.
func Run(ctx context.Context, questions []Question, r Retriever, opts Options) (Result, error) {
	opts = opts.withDefaults()
	if err := opts.validate(); err != nil {
		return Result{}, err
	}
	asked := opts.Half.Of(questions)
	if len(asked) == 0 {
		return Result{}, fmt.Errorf("none of %d questions is in the half %q", len(questions), opts.Half)
	}
	seen := map[string]bool{}
	for _, q := range asked {
		if err := q.validate(); err != nil {
			return Result{}, fmt.Errorf("question %q: %w", q.ID, err)
		}
		if seen[q.ID] {
			return Result{}, fmt.Errorf("two questions have the id %q", q.ID)
		}
		seen[q.ID] = true
	}
	if _, err := ask(ctx, r, asked[0], opts.Limit); err != nil {
		return Result{}, err
	}
	answers, err := askAll(ctx, r, asked, opts)
	if err != nil {
		return Result{}, err
	}
	slices.SortFunc(answers, func(a, b Answer) int { return cmp.Compare(a.ID, b.ID) })
	result := Result{
		Version: resultVersion, GoldSet: GoldSet{Hash: Hash(asked), Questions: len(asked)},
		Settings: maps.Clone(opts.Settings), Embedder: opts.Embedder,
		Limit: opts.Limit, Concurrency: opts.Concurrency, Half: opts.Half, Overall: summarize(answers),
		Categories: summarizeBy(answers, func(a Answer) string { return a.Category }),
		Languages:  summarizeBy(answers, func(a Answer) string { return a.Language }),
		Questions:  answers,
	}
	return result, nil
}

func askAll(ctx context.Context, r Retriever, questions []Question, opts Options) ([]Answer, error) {
	answers := make([]Answer, len(questions))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(opts.Concurrency)
	var mu sync.Mutex
	done := 0
	for i, q := range questions {
		group.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			var err error
			if answers[i], err = ask(ctx, r, q, opts.Limit); err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			if done++; opts.Progress != nil {
				opts.Progress(done, len(questions))
			}
			return nil
		})
	}
	return answers, group.Wait()
}

func ask(ctx context.Context, r Retriever, q Question, limit int) (Answer, error) {
	started := time.Now()
	found, err := r.Retrieve(ctx, q, limit)
	took := time.Since(started)
	if err == nil && len(found) > limit {
		err = errors.New("the retriever returned more than was asked for")
	}
	if err != nil {
		return Answer{}, fmt.Errorf("question %q: %w", q.ID, err)
	}
	sure := 0
	for _, f := range found {
		if !f.Weak {
			sure++
		}
	}
	return Answer{
		ID: q.ID, Category: q.Category, Language: q.Language, Abstain: q.Abstain,
		Ranks: ranksOf(q.Relevant, found), Returned: len(found), Sure: sure, Took: took,
	}, nil
}

// summarizeBy averages the answers with the same key. Those without one are left out.
func summarizeBy(answers []Answer, key func(Answer) string) map[string]Summary {
	groups := map[string][]Answer{}
	for _, a := range answers {
		if k := key(a); k != "" {
			groups[k] = append(groups[k], a)
		}
	}
	out := make(map[string]Summary, len(groups))
	for k, group := range groups {
		out[k] = summarize(group)
	}
	return out
}
