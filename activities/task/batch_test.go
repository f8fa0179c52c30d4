package task

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestSessionsAtOnce: the plan for several sessions has the events of planning one after the other, each in its
// session's part.
func TestSessionsAtOnce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		apart, together := newProject(t, "alpha"), newProject(t, "alpha")
		for range rapid.IntRange(0, 3).Draw(t, "before") {
			e := apart.drawEntry(t)
			apart.say(e)
			together.say(e)
		}
		var batches []Batch
		for i := range rapid.IntRange(1, 4).Draw(t, "sessions") {
			batch := Batch{Project: "alpha", SessionID: fmt.Sprint("s", i), BuildID: fmt.Sprint("b", i)}
			for range rapid.IntRange(0, 4).Draw(t, "entries") {
				batch.Entries = append(batch.Entries, apart.drawEntry(t))
			}
			if i > 0 && rapid.Bool().Draw(t, "says the same") {
				batch.Entries = append(batch.Entries, batches[i-1].Entries...)
			}
			batches = append(batches, batch)
		}
		planned, err := Plan(context.Background(), together.memory, together.rules, batches)
		require.NoError(t, err)
		for i, batch := range batches {
			one, err := Plan(context.Background(), apart.memory, apart.rules, []Batch{batch})
			require.NoError(t, err)
			require.Equal(t, one.Skipped[0], planned.Skipped[i])
			require.Equal(t, len(one.Events), len(planned.Of[i]))
			for k, event := range planned.Of[i] {
				require.Equal(t, one.Events[k], event)
			}
			apart.append(one.Events)
		}
		together.append(planned.Events)
		require.Equal(t, apart.memory.view(), together.memory.view())
	})
}
