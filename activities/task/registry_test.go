package task

import (
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/schema"
)

// An event type of project streams without a rule in the fold would stop every project with such an event.
func TestFoldKnowsEveryTaskEvent(t *testing.T) {
	t.Parallel()
	for _, name := range EventTypes() {
		event := schema.Event{ID: "e", Type: name, Seq: 2, Payload: []byte(`{}`)}
		o, err := readEvent(event)
		require.NoError(t, err, "%s: give its payload the methods of schema.EntityChange", name)
		require.NotEmpty(t, o.payload.Entities(), "%s: its method Entities names what it changes", name)
		kind, _ := o.subjects()
		before := Entity{EntityRef: schema.EntityRef{Type: kind, ID: "x"}, Version: 1, TaskStatus: schema.TaskPending}
		if o.creates() {
			before = Entity{}
		}
		require.NotPanics(t, func() {
			after, err := Fold(before, "x", event)
			require.NoError(t, err)
			require.Equal(t, uint64(2), after.Version)
		}, "%s: add its rule to Entity.after", name)
	}
}
