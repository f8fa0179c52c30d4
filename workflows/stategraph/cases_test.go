package stategraph_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"go.temporal.io/sdk/workflow"

	"axiommind/deploy/local/sharedtest"
	"axiommind/workflows/durable"
	sg "axiommind/workflows/stategraph"
	"axiommind/workflows/workflowtest"
)

// TestCases runs every case file of the graph DSL on every runner.
func TestCases(t *testing.T) {
	t.Parallel()
	holds := func(file caseFile) bool { return file.DSL["graph.build"] != nil }
	judge := func(_ *testing.T, v *sharedtest.Verdicts, file caseFile) {
		for _, raw := range file.Cases {
			var c graphCase
			err := json.Unmarshal(raw, &c)
			if err == nil {
				err = runEverywhere(&c)
			}
			problem := ""
			if err != nil {
				problem = err.Error()
			}
			v.Count(c.Group, c.ID, problem)
		}
	}
	sharedtest.RunCasesIn(t, filepath.Join("testdata", "cases"), holds, judge)
	sharedtest.RunCases(t, holds, judge)
}

func runEverywhere(c *graphCase) error {
	ctx := context.Background()
	sleep := func(_ context.Context, ms int) { time.Sleep(time.Duration(ms) * time.Millisecond) }
	none := func(context.Context, int) {}
	if err := runCase(ctx, c, sg.InOrder[context.Context]{}, none); err != nil {
		return fmt.Errorf("in order: %w", err)
	}
	if err := runCase(ctx, c, sg.Goroutines{}, sleep); err != nil {
		return fmt.Errorf("on goroutines: %w", err)
	}
	if err := runInWorkflow(c); err != nil {
		return fmt.Errorf("in a workflow: %w", err)
	}
	return nil
}

func runInWorkflow(c *graphCase) error {
	env := workflowtest.New()
	sleep := func(ctx workflow.Context, ms int) {
		if err := workflow.Sleep(ctx, time.Duration(ms)*time.Millisecond); err != nil {
			panic(err)
		}
	}
	var failure error
	env.ExecuteWorkflow(func(ctx workflow.Context) error {
		failure = runCase(ctx, c, durable.Runner{}, sleep)
		return nil
	})
	return errors.Join(failure, env.GetWorkflowError())
}
