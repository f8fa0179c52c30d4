package install

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// One build compiles at a time, and the heaviest of those that wait is next. One that gives up takes no turn.
func TestTurns(t *testing.T) {
	t.Parallel()
	var compiling turns
	leave, err := compiling.enter(t.Context(), 1)
	require.NoError(t, err)
	order := make(chan int, 3)
	waiting := func(n int) func() bool {
		return func() bool {
			compiling.mu.Lock()
			defer compiling.mu.Unlock()
			return len(compiling.waiting) == n
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	gaveUp := make(chan error, 1)
	go func() {
		_, err := compiling.enter(ctx, 9)
		gaveUp <- err
	}()
	require.Eventually(t, waiting(1), 10*time.Second, time.Millisecond)
	for i, weight := range []int{2, 4, 3} {
		go func() {
			leave, err := compiling.enter(t.Context(), weight)
			if err != nil {
				return
			}
			order <- weight
			leave()
			leave()
		}()
		require.Eventually(t, waiting(i+2), 10*time.Second, time.Millisecond)
	}
	cancel()
	require.ErrorIs(t, <-gaveUp, context.Canceled)
	leave()
	require.Equal(t, []int{4, 3, 2}, []int{<-order, <-order, <-order})
}

func TestEdit(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "a.go")
	for _, c := range []struct {
		edit          edit
		want, problem string
	}{
		{edit{from: "two"}, "one  three one", ""},
		{edit{from: "two", with: "2"}, "one 2 three one", ""},
		{edit{from: "two", upTo: "one", with: "2 "}, "one 2 one", ""},
		{edit{from: "one"}, "", `"one" is there 2 times, want once`},
		{edit{from: "four"}, "", `"four" is there 0 times, want once`},
		{edit{from: "three", upTo: "two"}, "", `"two" does not follow "three"`},
	} {
		require.NoError(t, os.WriteFile(path, []byte("one two three one"), 0o600))
		c.edit.file = "a.go"
		err := c.edit.apply(dir)
		if c.problem != "" {
			require.ErrorContains(t, err, c.problem)
			continue
		}
		require.NoError(t, err)
		got, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, c.want, string(got))
	}
}

func TestLines(t *testing.T) {
	t.Parallel()
	var got []string
	l := &lines{each: func(line string) { got = append(got, line) }}
	for _, text := range []string{"a", "b\nc\n\nd", "\n", "rest"} {
		_, err := fmt.Fprint(l, text)
		require.NoError(t, err)
	}
	require.Equal(t, []string{"ab", "c", "", "d"}, got)
}

// The plan names the parts that are in the cache.
func TestPlan(t *testing.T) {
	t.Parallel()
	cache, bin := Cache{Dir: t.TempDir()}, t.TempDir()
	for _, p := range cache.Plan(bin) {
		require.Positive(t, p.Needs, p.Name)
	}
	for _, dir := range []string{embedderDir, runtimeDir} {
		require.NoError(t, os.Mkdir(filepath.Join(cache.Dir, dir), 0o700))
	}
	require.NoError(t, os.WriteFile(filepath.Join(bin, "starter"), nil, 0o600))
	for _, p := range cache.Plan(bin) {
		require.Equal(t, p.Name == "embedder" || p.Name == "programs", p.Needs == 0, p.Name)
	}
}
