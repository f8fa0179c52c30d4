package workflows_test

import (
	"context"
	"fmt"

	"axiommind/activities/tier"
	"axiommind/schema"
)

// dreamRoom contains the results of the activities of dreams.
type dreamRoom struct {
	// gathered, committed and files are by call. The last one counts for all calls after it.
	gathered  []tier.Gathered
	committed []tier.CommitResult
	files     []error
	// levels are the numbers of questions, level by level.
	levels []int
	// asked answers the questions, and judged returns the reason why the answers of the last level are unusable.
	asked  func(in tier.AskInput) tier.Asked
	judged func(in tier.PlanInput) string

	calls map[string]int
}

// newDreamRoom returns a dream that reads something, asks one question and makes version 3 of version 2.
func newDreamRoom() dreamRoom {
	return dreamRoom{
		gathered:  []tier.Gathered{{Date: "2026-06-07", EventID: "gathered", Ordinal: 5, Version: 2, Model: "openai/gpt"}},
		committed: []tier.CommitResult{{DeepDreamResult: committedDream()}},
		files:     []error{nil},
		levels:    []int{1},
		asked: func(in tier.AskInput) tier.Asked {
			return tier.Asked{Key: fmt.Sprintf("%d%s%v", in.Window, in.Again, in.Answers), Usage: schema.Usage{Calls: 1, InputTokens: 10}}
		},
		judged: func(tier.PlanInput) string { return "" },
		calls:  map[string]int{},
	}
}

func committedDream() schema.DeepDreamResult {
	return schema.DeepDreamResult{
		User: "default", Date: "2026-06-07", Status: schema.DreamCommitted, Ordinal: 5, Parent: 2, Version: 3,
		Items: 4, Added: 1, Dropped: 2, Carried: 3, Gathered: "gathered",
	}
}

// nth returns the result of the next call of the activity.
func nth[T any](d *dreamRoom, name string, all []T) T {
	d.calls[name]++
	return all[min(d.calls[name], len(all))-1]
}

func (r *rooms) SubmitFiles(ctx context.Context, in tier.FilesInput) (tier.FilesResult, error) {
	return called(ctx, r, "SubmitFiles", in, func() (tier.FilesResult, error) {
		return tier.FilesResult{}, nth(&r.dream, "SubmitFiles", r.dream.files)
	})
}

func (r *rooms) GatherDream(ctx context.Context, in tier.GatherInput) (tier.Gathered, error) {
	return called(ctx, r, "GatherDream", in, func() (tier.Gathered, error) { return nth(&r.dream, "GatherDream", r.dream.gathered), nil })
}

func (r *rooms) PlanDream(ctx context.Context, in tier.PlanInput) (tier.Plan, error) {
	return called(ctx, r, "PlanDream", in, func() (tier.Plan, error) {
		if in.Last {
			return tier.Plan{Done: true, Refused: r.dream.judged(in)}, nil
		}
		return tier.Plan{Windows: r.dream.levels[in.Level], Last: in.Level == len(r.dream.levels)-1}, nil
	})
}

func (r *rooms) AskDream(ctx context.Context, in tier.AskInput) (tier.Asked, error) {
	return called(ctx, r, "AskDream", in, func() (tier.Asked, error) { return r.dream.asked(in), nil })
}

func (r *rooms) SubmitDream(ctx context.Context, in tier.CommitInput) (tier.CommitResult, error) {
	return called(ctx, r, "SubmitDream", in, func() (tier.CommitResult, error) { return r.dream.commit("SubmitDream", in), nil })
}

// commit returns the result with the fields that the real activity copies from its input.
func (d *dreamRoom) commit(name string, in tier.CommitInput) tier.CommitResult {
	result := nth(d, name, d.committed)
	result.Usage, result.Responses = in.Usage, in.Responses
	if in.Refused != "" {
		result.Status, result.Reason = schema.DreamIsRefused, in.Refused
	}
	return result
}
