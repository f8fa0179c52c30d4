package stack_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"axiommind/deploy/local/install"
	"axiommind/deploy/local/stack"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"
)

func dialTemporal(t *testing.T, address string) client.Client {
	t.Helper()
	c, err := client.Dial(client.Options{HostPort: address, Logger: log.NewStructuredLogger(discard())})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return c
}

func requireAttributes(t *testing.T, c client.Client, want map[string]enums.IndexedValueType) {
	t.Helper()
	got, err := c.OperatorService().ListSearchAttributes(t.Context(), &operatorservice.ListSearchAttributesRequest{Namespace: "default"})
	require.NoError(t, err)
	for name, kind := range want {
		require.Equal(t, kind, got.GetCustomAttributes()[name], name)
	}
}

func elevenSteps(ctx workflow.Context) error {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: time.Minute})
	for range 11 {
		if err := workflow.ExecuteActivity(ctx, "Nothing").Get(ctx, nil); err != nil {
			return err
		}
	}
	return nil
}

func TestTemporal(t *testing.T) {
	t.Parallel()
	opts := stack.Options{Dir: t.TempDir(), Temporal: true, SearchAttributes: map[string]string{"ProjectId": "Keyword", "Events": "Int"}}
	s := start(t, opts)
	resp, err := http.Get(s.Addresses().TemporalUI)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Equal(t, http.StatusOK, resp.StatusCode)
	c := dialTemporal(t, s.Addresses().Temporal)
	requireAttributes(t, c, map[string]enums.IndexedValueType{
		"ProjectId": enums.INDEXED_VALUE_TYPE_KEYWORD, "Events": enums.INDEXED_VALUE_TYPE_INT})

	w := worker.New(c, "queue", worker.Options{})
	w.RegisterWorkflow(elevenSteps)
	w.RegisterActivityWithOptions(func() error { return nil }, activityNamed("Nothing"))
	require.NoError(t, w.Start())
	run := func(id string) time.Duration {
		began := time.Now()
		handle, err := c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: id, TaskQueue: "queue"}, elevenSteps)
		require.NoError(t, err)
		require.NoError(t, handle.Get(t.Context(), nil))
		return time.Since(began)
	}
	run("warm")
	t.Logf("a workflow of 11 activities took %v", run("measured"))
	w.Stop()
	s.Stop()

	// A later version of the program may know more attributes.
	opts.SearchAttributes["Tags"] = "KeywordList"
	s = start(t, opts)
	c = dialTemporal(t, s.Addresses().Temporal)
	requireAttributes(t, c, map[string]enums.IndexedValueType{
		"ProjectId": enums.INDEXED_VALUE_TYPE_KEYWORD, "Tags": enums.INDEXED_VALUE_TYPE_KEYWORD_LIST})
	description, err := c.DescribeWorkflowExecution(t.Context(), "measured", "")
	require.NoError(t, err)
	require.Equal(t, enums.WORKFLOW_EXECUTION_STATUS_COMPLETED, description.GetWorkflowExecutionInfo().GetStatus())
}

// The server hands an activity to the worker that asked for it in its answer, and not by way of another poll.
func TestTemporalStartsActivitiesEagerly(t *testing.T) {
	t.Parallel()
	s := start(t, stack.Options{Dir: t.TempDir(), Temporal: true, Ephemeral: true})
	var handed atomic.Int64
	c, err := client.Dial(client.Options{
		HostPort: s.Addresses().Temporal, Logger: log.NewStructuredLogger(discard()),
		ConnectionOptions: client.ConnectionOptions{DialOptions: []grpc.DialOption{grpc.WithChainUnaryInterceptor(
			func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
				err := invoke(ctx, method, req, reply, cc, opts...)
				if answer, ok := reply.(*workflowservice.RespondWorkflowTaskCompletedResponse); ok {
					handed.Add(int64(len(answer.GetActivityTasks())))
				}
				return err
			})}},
	})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	w := worker.New(c, "queue", worker.Options{})
	w.RegisterWorkflow(elevenSteps)
	w.RegisterActivityWithOptions(func() error { return nil }, activityNamed("Nothing"))
	require.NoError(t, w.Start())
	t.Cleanup(w.Stop)
	handle, err := c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{TaskQueue: "queue"}, elevenSteps)
	require.NoError(t, err)
	require.NoError(t, handle.Get(t.Context(), nil))
	require.Positive(t, handed.Load())
}

// Clients that give up in the middle of a request don't break the server for the others. Its database did with SQLite's
// driver before v1.51: each later request was "interrupted", or found no tables (temporalio/temporal#8017).
func TestTemporalSurvivesCanceledRequests(t *testing.T) {
	t.Parallel()
	temporalSurvivesCanceledRequests(t, 16, 100)
}

func temporalSurvivesCanceledRequests(t *testing.T, clients, requests int) {
	t.Helper()
	c := dialTemporal(t, start(t, stack.Options{Temporal: true, Ephemeral: true}).Addresses().Temporal)
	var group errgroup.Group
	for number := range clients {
		group.Go(func() error {
			for i := range requests {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i%100)*time.Millisecond/2)
				_, _ = c.SignalWithStartWorkflow(ctx, fmt.Sprint(number, i%7), "signal", nil, client.StartWorkflowOptions{TaskQueue: "queue"}, elevenSteps)
				cancel()
			}
			return nil
		})
	}
	require.NoError(t, group.Wait())
	list, err := c.WorkflowService().ListNamespaces(t.Context(), &workflowservice.ListNamespacesRequest{})
	require.NoError(t, err)
	require.NotEmpty(t, list.GetNamespaces())
	_, err = c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{TaskQueue: "queue"}, elevenSteps)
	require.NoError(t, err)
}

// A web page can send a POST as plain text to any port of this machine, and Temporal's HTTP interface
// starts workflows by it.
func TestTemporalHTTPIsClosed(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("reads /proc")
	}
	s := start(t, stack.Options{Temporal: true, Ephemeral: true})
	start := `{"workflowType": {"name": "process_session"}, "taskQueue": {"name": "axiommind"}}`
	found := false
	for _, port := range listeningPorts(t, s.Servers()["temporal"]) {
		base := fmt.Sprintf("http://127.0.0.1:%d", port)
		for _, host := range []string{"", "localhost", "evil.example"} {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+"/api/v1/namespaces/default/workflows/stranger", strings.NewReader(start))
			require.NoError(t, err)
			req.Header.Set("Content-Type", "text/plain")
			req.Header.Set("Origin", "https://evil.example")
			if host != "" {
				req.Host = host
			}
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				continue // Not HTTP.
			}
			text, err := io.ReadAll(resp.Body)
			require.NoError(t, err)
			require.NoError(t, resp.Body.Close())
			require.GreaterOrEqual(t, resp.StatusCode, 400, "%s as %q: %s", base, host, text)
			require.Empty(t, resp.Header.Get("Access-Control-Allow-Origin"))
			found = found || strings.Contains(string(text), "Host not allowed")
		}
	}
	require.True(t, found, "the HTTP interface was not found")
	c := dialTemporal(t, s.Addresses().Temporal)
	_, err := c.DescribeWorkflowExecution(t.Context(), "stranger", "")
	require.Error(t, err)
}

// The web interface is for its own pages alone, under this machine's name.
func TestTemporalUIRefusesOtherPages(t *testing.T) {
	t.Parallel()
	s := start(t, stack.Options{Temporal: true, Ephemeral: true})
	path := s.Addresses().TemporalUI + "/api/v1/namespaces/default/workflows"
	for name, edit := range map[string]func(*http.Request){
		"a name turned to this machine": func(r *http.Request) { r.Host = "evil.example" },
		"another page":                  func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") },
		"an image on another page":      func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") },
	} {
		status, header := ask(t, http.MethodGet, path, "", edit)
		require.GreaterOrEqual(t, status, 403, name)
		require.Empty(t, header.Get("Access-Control-Allow-Origin"), name)
	}
	require.Eventually(t, func() bool {
		status, _ := ask(t, http.MethodGet, path, "", func(r *http.Request) {
			r.Header.Set("Origin", s.Addresses().TemporalUI)
			r.Header.Set("Sec-Fetch-Site", "same-origin")
		})
		return status == http.StatusOK
	}, 30*time.Second, 20*time.Millisecond, "its own page is not served")
	require.NoError(t, syscall.Kill(s.Servers()["temporal"], syscall.SIGKILL))
	require.Eventually(t, func() bool {
		status, _ := ask(t, http.MethodGet, path, "", nil)
		return status == http.StatusBadGateway
	}, 10*time.Second, 5*time.Millisecond)
}

// listeningPorts are the ports a process accepts TCP connections on.
func listeningPorts(t *testing.T, pid int) (ports []uint64) {
	t.Helper()
	for _, address := range listeners(t, pid) {
		_, hex, _ := strings.Cut(address, ":")
		port, err := strconv.ParseUint(hex, 16, 16)
		require.NoError(t, err)
		ports = append(ports, port)
	}
	return ports
}

// installOnPath puts a script in front of PATH that notes its arguments in the
// returned file before it runs its last line.
func installOnPath(t *testing.T, name, lastLine string) (noted string) {
	t.Helper()
	bin := t.TempDir()
	noted = filepath.Join(bin, "noted")
	script := fmt.Sprintf("#!/bin/sh\necho \"$@\" > %s\n%s\n", noted, lastLine)
	require.NoError(t, os.WriteFile(filepath.Join(bin, name), []byte(script), 0o755))
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	return noted
}

func TestTemporalOnPathIsUsed(t *testing.T) {
	cache, err := install.DefaultCache()
	require.NoError(t, err)
	pinned, err := cache.Temporal(t.Context(), nil)
	require.NoError(t, err)
	noted := installOnPath(t, "temporal", fmt.Sprintf("exec %q \"$@\"", pinned))

	start(t, stack.Options{Temporal: true, Ephemeral: true}).Stop()
	require.NoFileExists(t, noted)
	s := start(t, stack.Options{Temporal: true, Ephemeral: true, Installed: true})
	require.FileExists(t, noted)
	dialTemporal(t, s.Addresses().Temporal)
}

func TestClickHouseOnPathIsUsed(t *testing.T) {
	cache, err := install.DefaultCache()
	require.NoError(t, err)
	server, err := cache.ClickHouseServer(t.Context(), nil)
	require.NoError(t, err)
	library, err := cache.Library(t.Context(), nil)
	require.NoError(t, err)
	noted := installOnPath(t, "clickhouse", fmt.Sprintf(`config=${2#--config-file=}
port=$(sed -n 's:.*<http_port>\(.*\)</http_port>.*:\1:p' "$config")
data=$(sed -n 's:^	<path>\(.*\)</path>.*:\1:p' "$config")
users=$(sed -n 's:.*<users_xml><path>\(.*\)</path>.*:\1:p' "$config")
AXIOMMIND_CHDB_TOKEN=$(sed -n 's:.*<password>\(.*\)</password>.*:\1:p' "$users") \
exec %q --library %q --dir "$data" --listen 127.0.0.1:$port`, server, library))
	s := start(t, stack.Options{ClickHouse: true, Installed: true})
	args, err := os.ReadFile(noted)
	require.NoError(t, err)
	require.Regexp(t, `^server --config-file=.*/clickhouse-server/config\.xml\n$`, string(args))
	require.NoError(t, connect(t, s.Addresses().ClickHouseDSN).Ping(t.Context()))
}
