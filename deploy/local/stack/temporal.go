package stack

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
)

// The ports Temporal's frontend and web interface listen on when they are free.
const (
	TemporalPort   = 7233
	TemporalUIPort = 8233
)

// temporalTuning lifts the dev server's limit of 20 task loads a second on its one history shard, which
// costs every activity 100 ms. The server hands an activity to the worker that asks for it in the answer
// to that worker, which saves a quarter of the CPU time of a workflow. More than the usual ten sessions
// may wait for one writer, which does them at once. Its caches hold the 500 most recently used
// workflows, far more than run at a time on one machine. With the default sizes they grow by a gigabyte
// during all tests, until the server only collects garbage. Its queues save their positions every two
// seconds, not every thirty: a run that has just ended is deleted no sooner than that.
var temporalTuning = []string{
	"--dynamic-config-value", "system.enableActivityEagerExecution=true",
	"--dynamic-config-value", "history.maxInFlightUpdates=100",
	"--dynamic-config-value", "history.transferProcessorMaxPollRPS=2000",
	"--dynamic-config-value", "history.timerProcessorMaxPollRPS=2000",
	"--dynamic-config-value", "history.visibilityProcessorMaxPollRPS=2000",
	"--dynamic-config-value", "history.hostLevelCacheMaxSize=500",
	"--dynamic-config-value", "history.eventsHostLevelCacheMaxSizeBytes=33554432",
	"--dynamic-config-value", "history.transferProcessorUpdateAckInterval=\"2s\"",
	"--dynamic-config-value", "history.visibilityProcessorUpdateAckInterval=\"2s\"",
}

// temporalOnDisk keeps SQLite safe against the death of the process at a fraction of the default's cost.
// Deleted data is overwritten, and not kept in the log of writes.
var temporalOnDisk = []string{
	"--sqlite-pragma", "journal_mode=wal",
	"--sqlite-pragma", "synchronous=normal",
	"--sqlite-pragma", "secure_delete=on",
	"--sqlite-pragma", "journal_size_limit=0",
}

func (s *Stack) startTemporal(ctx context.Context) error {
	binary, found := s.installed("temporal")
	if !found {
		var err error
		if binary, err = s.cache.Temporal(ctx, s.opts.Progress); err != nil {
			return err
		}
	}
	ui, err := newUIProxy(s.opts.TemporalUIPort, s.opts.Codec)
	if err != nil {
		return fmt.Errorf("listen for temporal's web interface: %w", err)
	}
	s.mu.Lock()
	s.ui = ui
	s.mu.Unlock()
	var api string
	err = s.launch(ctx, "temporal", []int{s.opts.TemporalPort, 0, 0}, func(ports []int) (launch, error) {
		args := []string{"server", "start-dev", "--ip", loopback, "--log-level", "warn",
			"--port", strconv.Itoa(ports[0]), "--ui-port", strconv.Itoa(ports[1]),
			"--http-port", strconv.Itoa(ports[2])}
		args = append(args, temporalTuning...)
		args = append(args, ui.arguments()...)
		// The HTTP interface takes a POST from any web page and can't be turned off. It answers under
		// this name alone, which a page can neither know nor send.
		args = append(args, "--dynamic-config-value", fmt.Sprintf("frontend.httpAllowedHosts=[%q]", s.temporalHost))
		for _, name := range sortedNames(s.opts.DynamicConfig) {
			args = append(args, "--dynamic-config-value", name+"="+s.opts.DynamicConfig[name])
		}
		if !s.opts.Ephemeral {
			args = append(args, "--db-filename", filepath.Join(s.opts.Dir, "temporal.db"))
			args = append(args, temporalOnDisk...)
		}
		for _, name := range sortedNames(s.opts.SearchAttributes) {
			args = append(args, "--search-attribute", name+"="+s.opts.SearchAttributes[name])
		}
		api = "http://" + hostPort(ports[2])
		return launch{
			command: command{name: "temporal", path: binary, args: args, log: s.logFile("temporal")},
			check:   func(ctx context.Context) error { return getOK(ctx, api+"/api/v1/namespaces/default", s.asHost) },
			apply: func(a *Addresses) string {
				a.Temporal = hostPort(ports[0])
				a.TemporalUI = ui.url()
				ui.serve(hostPort(ports[1]))
				return "on " + a.Temporal
			},
		}, nil
	})
	if err != nil {
		return err
	}
	return s.addSearchAttributes(ctx, binary, api)
}

// asHost names the only host that Temporal's HTTP interface answers as.
func (s *Stack) asHost(r *http.Request) { r.Host = s.temporalHost }

// addSearchAttributes registers the search attributes that a database of an earlier start lacks: the dev
// server registers its arguments only in a new one.
func (s *Stack) addSearchAttributes(ctx context.Context, binary, api string) error {
	var known struct {
		CustomAttributes map[string]string `json:"customAttributes"`
	}
	if err := getJSON(ctx, api+"/cluster/namespaces/default/search-attributes", &known, s.asHost); err != nil {
		return fmt.Errorf("list search attributes: %w", err)
	}
	args := []string{"operator", "search-attribute", "create", "--address", s.Addresses().Temporal}
	missing := 0
	for _, name := range sortedNames(s.opts.SearchAttributes) {
		if _, ok := known.CustomAttributes[name]; !ok {
			args = append(args, "--name", name, "--type", s.opts.SearchAttributes[name])
			missing++
		}
	}
	if missing == 0 {
		return nil
	}
	if out, err := exec.CommandContext(ctx, binary, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("add search attributes: %w: %s", err, bytes.TrimSpace(out))
	}
	return nil
}

func sortedNames(m map[string]string) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
