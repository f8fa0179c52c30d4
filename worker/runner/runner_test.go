package runner

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/history/v1"
	"google.golang.org/protobuf/encoding/protojson"

	"axiommind/activities/boundary"
	"axiommind/activities/erase"
	"axiommind/schema"
)

// Every activity that a recorded workflow calls is run by the workers of the same task queue. One that no worker runs
// would be retried for an hour.
func TestEveryActivityIsRun(t *testing.T) {
	t.Parallel()
	run := map[string]map[string]bool{}
	for queue, rooms := range (&rooms{erase: &erase.Activities{}}).activities() {
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
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		var h history.History
		require.NoError(t, protojson.Unmarshal(data, &h), file)
		for _, event := range h.Events {
			if event.EventType != enums.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED {
				continue
			}
			a := event.GetActivityTaskScheduledEventAttributes()
			require.Greater(t, a.GetHeartbeatTimeout().AsDuration(), 2*boundary.HeartbeatInterval(schema.Timing{}.WithDefaults().Heartbeat), "%s: %s", file, a.GetActivityType())
			require.Positive(t, a.GetStartToCloseTimeout().AsDuration(), "%s: %s", file, a.GetActivityType())
			require.Positive(t, a.GetScheduleToCloseTimeout().AsDuration(), "%s: %s", file, a.GetActivityType())
			require.Positive(t, a.GetRetryPolicy().GetMaximumAttempts(), "%s: %s", file, a.GetActivityType())
			called[a.GetActivityType().GetName()] = true
			require.True(t, run[a.GetTaskQueue().GetName()][a.GetActivityType().GetName()],
				"%s calls %s on the task queue %q: add its room to activities in runner.go",
				filepath.Base(file), a.GetActivityType().GetName(), a.GetTaskQueue().GetName())
		}
	}
	require.Greater(t, len(called), 12)
}

// withoutHeartbeat are the activities that send no heartbeats, with the reason. The server learns of the death of their
// worker only after their timeout, and they learn of no cancellation.
var withoutHeartbeat = map[string]string{}

// Every activity goes through boundary.Run, as boundary.Submit does, which sends heartbeats and turns its error into a
// failure of a known type.
func TestEveryActivitySendsHeartbeats(t *testing.T) {
	t.Parallel()
	checked := 0
	for _, rooms := range (&rooms{erase: &erase.Activities{}}).activities() {
		for _, room := range rooms {
			kind := reflect.TypeOf(room).Elem()
			runs := runsAtBoundary(t, filepath.Join("..", "..", "activities", path.Base(kind.PkgPath())), kind.Name())
			for i := range reflect.TypeOf(room).NumMethod() {
				name := reflect.TypeOf(room).Method(i).Name
				if checked++; withoutHeartbeat[name] == "" {
					require.True(t, runs[name], "%s of %s does not go through boundary.Run: do so, or say in withoutHeartbeat why not", name, kind.PkgPath())
				}
			}
		}
	}
	require.Greater(t, checked, 20)
}

// runsAtBoundary returns which methods of the type call boundary.Run or boundary.Submit.
func runsAtBoundary(t *testing.T, dir, receiver string) map[string]bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	runs := map[string]bool{}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, decl := range file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok || f.Recv == nil || !strings.HasSuffix(types.ExprString(f.Recv.List[0].Type), receiver) {
				continue
			}
			ast.Inspect(f.Body, func(n ast.Node) bool {
				if call, ok := n.(*ast.CallExpr); ok {
					called, _, _ := strings.Cut(types.ExprString(call.Fun), "[")
					runs[f.Name.Name] = runs[f.Name.Name] || called == "boundary.Run" || called == "boundary.Submit"
				}
				return true
			})
		}
	}
	return runs
}
