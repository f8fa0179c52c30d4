package tracing_test

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"axiommind/activities/spans"
	"axiommind/deploy/local/stacktest"
	"axiommind/starter/command/commandtest"
	"axiommind/worker/runner/runnertest"
	"axiommind/worker/tracing"
)

func TestMain(m *testing.M) { stacktest.Main(m) }

// spanOf is a span with the name of its program.
type spanOf struct {
	*tracepb.Span
	service string
}

func (s spanOf) attribute(key string) string {
	for _, a := range s.Attributes {
		if a.Key == key {
			return plain(a.Value)
		}
	}
	return ""
}

func plain(v *common.AnyValue) string {
	if n, is := v.Value.(*common.AnyValue_IntValue); is {
		return fmt.Sprint(n.IntValue)
	}
	return v.GetStringValue()
}

// sink is a collector of traces and metrics over HTTP.
type sink struct {
	*httptest.Server
	mu    sync.Mutex
	spans []spanOf
	// raw has the bodies with traces, and metrics those with metrics.
	raw, metrics strings.Builder
}

func newSink(t *testing.T) *sink {
	s := &sink{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if r.URL.Path == "/v1/metrics" {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.metrics.Write(body)
			return
		}
		var in collector.ExportTraceServiceRequest
		if err != nil || r.URL.Path != "/v1/traces" || proto.Unmarshal(body, &in) != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.raw.Write(body)
		for _, of := range in.ResourceSpans {
			service := ""
			for _, a := range of.Resource.Attributes {
				if a.Key == "service.name" {
					service = plain(a.Value)
				}
			}
			for _, scope := range of.ScopeSpans {
				for _, span := range scope.Spans {
					s.spans = append(s.spans, spanOf{span, service})
				}
			}
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// of returns the spans of the trace, the earliest first.
func (s *sink) of(trace string) []spanOf {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := slices.DeleteFunc(slices.Clone(s.spans), func(span spanOf) bool { return hex.EncodeToString(span.TraceId) != trace })
	slices.SortStableFunc(out, func(a, b spanOf) int { return cmp.Compare(a.StartTimeUnixNano, b.StartTimeUnixNano) })
	return out
}

// root returns the trace of the command.
func (s *sink) root(name string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, span := range s.spans {
		if span.Name == name && len(span.ParentSpanId) == 0 {
			return hex.EncodeToString(span.TraceId)
		}
	}
	return ""
}

// tree draws the spans below the parent.
func tree(b *strings.Builder, spans []spanOf, parent []byte, depth int, began uint64) {
	children := slices.DeleteFunc(slices.Clone(spans), func(s spanOf) bool { return string(s.ParentSpanId) != string(parent) })
	for _, s := range children {
		fmt.Fprintf(b, "%8.1f ms %8.1f ms  %s%s\n", float64(s.StartTimeUnixNano-began)/1e6,
			float64(s.EndTimeUnixNano-s.StartTimeUnixNano)/1e6, strings.Repeat("  ", depth), s.Name)
		tree(b, spans, s.SpanId, depth+1, began)
	}
}

const secretWord = "Zanzibar"

// A session is one trace: the command, the workflow, its activities, and the requests that they make of databases and models.
func TestSessionIsOneTrace(t *testing.T) {
	t.Parallel()
	to := newSink(t)
	c := commandtest.NewCLI(t)
	c.Env["OTEL_EXPORTER_OTLP_ENDPOINT"] = to.URL
	t.Run("run", func(t *testing.T) {
		c.Work(t)
		for range 2 { // The first session starts the writers of the project.
			o := c.Feed(`{"role":"user","content":"I prefer `+secretWord+` for the deploys. We decided to use Postgres for the ledger."}`,
				"process", "-", "--format", "messages", "--project", c.Project)
			require.Zero(t, o.Code, o)
		}
	}) // The worker has ended, and sent its last spans.
	trace := to.root("starter process")
	spans := to.of(trace)
	require.NotEmpty(t, spans, "the trace of the command")
	var drawn strings.Builder
	tree(&drawn, spans, nil, 0, spans[0].StartTimeUnixNano)
	t.Logf("trace %s, %d spans:\n%s", trace, len(spans), drawn.String())

	byID, programs, below := map[string]spanOf{}, map[string]bool{}, map[string][]string{}
	for _, s := range spans {
		byID[string(s.SpanId)], programs[s.service] = s, true
	}
	for _, s := range spans {
		path := s.Name
		for at := s; len(at.ParentSpanId) > 0; {
			above, known := byID[string(at.ParentSpanId)]
			require.True(t, known, "%s has no parent", at.Name)
			path, at = above.Name+" > "+path, above
		}
		require.True(t, strings.HasPrefix(path, "starter process"), path)
		for _, key := range []string{"db.system.name", "gen_ai.operation.name"} {
			if value := s.attribute(key); value != "" {
				below[value] = append(below[value], path)
			}
		}
	}
	require.Equal(t, map[string]bool{"axiommind-starter": true, "axiommind-worker": true}, programs)
	const workflow = "StartWorkflow:process_session > RunWorkflow:process_session > StartActivity:"
	for _, system := range []string{"clickhouse", "weaviate", "chat", "embeddings"} {
		require.NotEmpty(t, below[system], system)
	}
	require.True(t, slices.ContainsFunc(below["clickhouse"], func(path string) bool {
		return strings.Contains(path, workflow) && strings.HasSuffix(path, "INSERT events_raw")
	}), below["clickhouse"])
	require.True(t, slices.ContainsFunc(below["chat"], func(path string) bool {
		return strings.Contains(path, workflow) && strings.Contains(path, "> RunActivity:")
	}), below["chat"])
	to.mu.Lock()
	defer to.mu.Unlock()
	require.NotContains(t, to.raw.String(), secretWord, "no text of a user is in a span")
	require.NotContains(t, to.raw.String(), "INSERT INTO")
	for _, name := range []string{"axiommind_builds", "temporal_worker_task_slots_available"} {
		require.Contains(t, to.metrics.String(), name)
	}
}

// Errors name their trace, and a program without a collector makes none.
func TestErrorsNameTheTrace(t *testing.T) {
	t.Parallel()
	to := newSink(t)
	c := commandtest.NewCLI(t)
	o := c.Run("task", "show", "nothing", "--project", c.Project)
	require.NotZero(t, o.Code)
	require.NotContains(t, o.Err, "trace:")
	c.Env["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"] = to.URL + "/v1/traces"
	o = c.Run("task", "show", "nothing", "--project", c.Project)
	require.NotZero(t, o.Code)
	require.Contains(t, o.Err, "  trace: "+to.root("starter task show"))
	require.NotEmpty(t, to.root("starter task show"))
	n := len(to.spans)
	for variable, value := range map[string]string{"OTEL_TRACES_EXPORTER": "none", "OTEL_SDK_DISABLED": "true", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"} {
		c.Env[variable] = value
		require.NotContains(t, c.Run("task", "show", "nothing", "--project", c.Project).Err, "trace", variable)
		delete(c.Env, variable)
	}
	require.Len(t, to.spans, n)
}

// The log of a worker names the trace of an activity that fails.
func TestLogNamesTheTrace(t *testing.T) {
	t.Parallel()
	to := newSink(t)
	c := commandtest.NewCLI(t)
	c.Env["OTEL_EXPORTER_OTLP_ENDPOINT"] = to.URL
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }))
	t.Cleanup(model.Close)
	cfg := c.Config(t, "--model-provider", "openai", "--model", "m", "--model-url", model.URL+"/v1", "--model-reads", "all")
	said := &runnertest.Log{}
	stop := runnertest.Start(t, cfg, slog.New(spans.Logged(slog.NewTextHandler(said, nil))))
	o := c.Feed(`{"role":"user","content":"We decided to use Postgres for the ledger."}`, "process", "-", "--format", "messages", "--project", c.Project)
	require.NotZero(t, o.Code, o)
	stop()
	trace := to.root("starter process")
	require.NotEmpty(t, trace)
	require.Contains(t, o.Err, "trace: "+trace)
	require.NotContains(t, said.String(), "can't be read")
	require.Regexp(t, `an activity failed.* trace_id=`+trace+` span_id=[0-9a-f]{16}`, said.String())
}

// A collector that is away delays a command by no more than the patience with it.
func TestCollectorIsAway(t *testing.T) {
	t.Parallel()
	to := newSink(t)
	c := commandtest.NewCLI(t)
	c.Env["OTEL_EXPORTER_OTLP_ENDPOINT"] = to.URL
	to.Close()
	began := time.Now()
	o := c.Run("tasks", "--project", c.Project)
	require.Zero(t, o.Code, o)
	require.Empty(t, o.Err)
	require.Less(t, time.Since(began), tracing.DefaultPatience+3*time.Second)
}
