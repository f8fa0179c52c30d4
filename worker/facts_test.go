package main_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"axiommind/activities/boundary"
	"axiommind/activities/fact"
	"axiommind/schema"
)

// command has the memory's writer run a person's command.
func (b *bench) command(ctx context.Context, c fact.Command) (result fact.Result, err error) {
	c.User, c.RequestID, c.Actor, c.At = "u", uuid.NewString(), "ann", time.Now().UTC()
	err = boundary.Update{Name: schema.UpdateCommand, ID: c.RequestID, Arg: c}.Send(ctx, b.Temporal, &result)
	return result, err
}

// Many people change one memory at once, and then all change one fact, each having seen the same version of it. Nothing
// is lost, and of the changes that would overwrite each other one succeeds.
func concurrentFactCommands(t *testing.T, people int) {
	t.Helper()
	b := newBench(t)
	b.start(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	tables := fact.NewTables(b.ClickHouse)
	atOnce := func(do func(i int) error) []error {
		errs := make([]error, people)
		var wg sync.WaitGroup
		for i := range errs {
			wg.Add(1)
			go func() { defer wg.Done(); errs[i] = do(i) }()
		}
		wg.Wait()
		return errs
	}
	content := func(i int, version string) *string { s := fmt.Sprintf("Fact %d, %s 판", i, version); return &s }
	for _, err := range atOnce(func(i int) error {
		_, err := b.command(ctx, fact.Command{Op: fact.OpCreate, Content: content(i, "first")})
		return err
	}) {
		require.NoError(t, err)
	}
	facts, err := tables.List(ctx, "u", "")
	require.NoError(t, err)
	require.Len(t, facts, people)
	for _, err := range atOnce(func(i int) error {
		_, err := b.command(ctx, fact.Command{Op: fact.OpUpdate, FactID: facts[i].ID, Content: content(i, "second"), ExpectVersion: facts[i].Version})
		return err
	}) {
		require.NoError(t, err)
	}
	changed, err := tables.List(ctx, "u", "")
	require.NoError(t, err)
	for i, f := range changed {
		require.Equal(t, *content(i, "second"), f.Content)
	}
	done := 0
	for _, err := range atOnce(func(i int) error {
		_, err := b.command(ctx, fact.Command{Op: fact.OpUpdate, FactID: facts[0].ID, Content: content(i, "third"), ExpectVersion: changed[0].Version})
		return err
	}) {
		if err == nil {
			done++
			continue
		}
		requireFailure(t, err, schema.ErrorFactStale, "look at it again")
	}
	require.Equal(t, 1, done)
	t.Logf("survived: %d people who change one memory at once", people)
}

// Facts deleted or cleared while the model is asked stay away, although the model then states them.
func factsDeletedDuringExtraction(t *testing.T) {
	t.Helper()
	m := newModel(t)
	m.get(true)
	b := m.use(newBench(t))
	b.start(t)
	tables := fact.NewTables(b.ClickHouse)
	session := func(name, said string) schema.ProcessSessionInput {
		path := filepath.Join(t.TempDir(), name+".jsonl")
		line := fmt.Sprintf(`{"role":"user","content":%q,"timestamp":%q}`+"\n", said, time.Now().UTC().Format(time.RFC3339Nano))
		require.NoError(t, os.WriteFile(path, []byte(line), 0o600))
		return b.input(name, path)
	}
	contents := func() (out []string) {
		facts, err := tables.List(t.Context(), "u", "")
		require.NoError(t, err)
		for _, f := range facts {
			out = append(out, f.Content)
		}
		return out
	}
	during := func(in schema.ProcessSessionInput, do func()) {
		calls := m.calls()
		m.hold()
		run, err := b.submit(t.Context(), in)
		require.NoError(t, err)
		eventually(t, func() bool { return m.calls() > calls })
		do()
		m.release()
		require.NoError(t, run.Get(t.Context(), nil))
	}
	b.process(t, session("first", "I prefer tabs."))
	facts, err := tables.List(t.Context(), "u", "")
	require.NoError(t, err)
	require.Len(t, facts, 1)
	during(session("second", facts[0].Content+"\nAs I said."), func() {
		_, err := b.command(t.Context(), fact.Command{Op: fact.OpDelete, FactID: facts[0].ID})
		require.NoError(t, err)
	})
	require.Empty(t, contents())

	b.process(t, session("third", "I prefer tea."))
	require.Len(t, contents(), 1)
	during(session("fourth", "I prefer coffee."), func() {
		_, err := b.command(t.Context(), fact.Command{Op: fact.OpClear})
		require.NoError(t, err)
	})
	require.Empty(t, contents())
	b.process(t, session("fifth", "I prefer water."))
	require.Len(t, contents(), 1)
}
