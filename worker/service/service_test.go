package service

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/history/v1"
	"google.golang.org/protobuf/encoding/protojson"
)

// Every activity that a recorded workflow calls is one that the workers of the same task queue run. One
// that nobody runs would be tried again for an hour.
func TestEveryActivityIsRun(t *testing.T) {
	t.Parallel()
	run := map[string]map[string]bool{}
	for queue, rooms := range (&rooms{}).activities() {
		run[queue] = map[string]bool{}
		for _, room := range rooms {
			for i := range reflect.TypeOf(room).NumMethod() {
				run[queue][reflect.TypeOf(room).Method(i).Name] = true
			}
		}
	}
	files, err := filepath.Glob("../../workflows/testdata/histories/*.json")
	require.NoError(t, err)
	called := map[string]bool{}
	for _, path := range files {
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		var h history.History
		require.NoError(t, protojson.Unmarshal(data, &h), path)
		for _, event := range h.Events {
			if event.EventType != enums.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED {
				continue
			}
			a := event.GetActivityTaskScheduledEventAttributes()
			called[a.GetActivityType().GetName()] = true
			require.True(t, run[a.GetTaskQueue().GetName()][a.GetActivityType().GetName()],
				"%s calls %s on the task queue %q: add its room to activities in service.go",
				filepath.Base(path), a.GetActivityType().GetName(), a.GetTaskQueue().GetName())
		}
	}
	require.Greater(t, len(called), 12)
}
