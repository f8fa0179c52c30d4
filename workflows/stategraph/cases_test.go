package stategraph_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"axiommind/deploy/local/sharedtest"
	"axiommind/workflows/durable"
	sg "axiommind/workflows/stategraph"
)

// TestCases runs every case file of the graph DSL on every runner.
func TestCases(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob(filepath.Join("testdata", "cases", "*.json"))
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	runCaseFiles(t, paths)
	paths, err = filepath.Glob(filepath.Join(sharedtest.Cases.Path(t), "*.json"))
	require.NoError(t, err)
	runCaseFiles(t, paths)
}

func runCaseFiles(t *testing.T, paths []string) {
	data, err := os.ReadFile(filepath.Join("testdata", "cases-listed.json"))
	require.NoError(t, err)
	var listed map[string]string
	require.NoError(t, json.Unmarshal(data, &listed))
	for _, path := range paths {
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		var file caseFile
		if json.Unmarshal(data, &file) != nil || file.DSL["graph.build"] == nil {
			continue // another room's cases
		}
		tally := map[string]*[3]int{}
		for _, raw := range file.Cases {
			var c graphCase
			err := json.Unmarshal(raw, &c)
			if err == nil {
				err = runEverywhere(&c)
			}
			if tally[c.Group] == nil {
				tally[c.Group] = new([3]int)
			}
			reason, skip := listed[c.ID]
			switch {
			case skip && err == nil:
				t.Errorf("%s: listed as %q but passes", c.ID, reason)
				tally[c.Group][2]++
			case skip:
				tally[c.Group][1]++
			case err != nil:
				t.Errorf("%s: %v", c.ID, err)
				tally[c.Group][2]++
			default:
				tally[c.Group][0]++
			}
		}
		for _, group := range slices.Sorted(maps.Keys(tally)) {
			n := tally[group]
			fmt.Printf("cases %s %s: %d pass, %d listed, %d fail\n", filepath.Base(path), group, n[0], n[1], n[2])
		}
	}
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

func workflowEnvironment() *testsuite.TestWorkflowEnvironment {
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(slog.New(slog.DiscardHandler))
	return suite.NewTestWorkflowEnvironment()
}

func runInWorkflow(c *graphCase) error {
	env := workflowEnvironment()
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
