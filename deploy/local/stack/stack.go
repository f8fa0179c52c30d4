// Package stack starts the servers AxiomMind needs on this machine: Temporal's
// dev server, ClickHouse and Weaviate, each real and pinned, on loopback. The
// servers end with the process that started them.
package stack

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"axiommind/deploy/local/install"

	"golang.org/x/sync/errgroup"
)

// Options say which servers to start and how.
type Options struct {
	// Dir holds the data and logs of the servers. Required.
	Dir string
	// Temporal, ClickHouse and Weaviate say which servers are wanted.
	Temporal, ClickHouse, Weaviate bool
	// Given are the addresses of servers that run already; one given is used
	// and not started.
	Given Addresses
	// Ports to listen on when they are free; any free port is taken when not,
	// or when 0.
	TemporalPort, TemporalUIPort, ClickHousePort, WeaviatePort, WeaviateGRPCPort int
	// SearchAttributes are registered with Temporal, name to type ("Keyword",
	// "Int", "Datetime", "KeywordList", ...).
	SearchAttributes map[string]string
	// Installed lets servers found on PATH take the place of the pinned ones.
	Installed bool
	// Ephemeral keeps no data: Temporal stays in memory, and ClickHouse removes
	// its directory when it ends.
	Ephemeral bool
	// Cache is where servers are kept; the user's cache directory when empty.
	Cache install.Cache
	// Progress is told what happens to each server. It may be nil, and is called
	// from several goroutines.
	Progress install.Progress `json:"-"`
}

// Addresses are where the servers answer.
type Addresses struct {
	// ClickHouseDSN is for clickhouse-go, such as "http://127.0.0.1:8123/default".
	ClickHouseDSN string `json:"clickhouse_dsn,omitempty"`
	// Temporal is the gRPC frontend, such as "127.0.0.1:7233".
	Temporal string `json:"temporal,omitempty"`
	// TemporalUI is the base URL of Temporal's web interface.
	TemporalUI string `json:"temporal_ui,omitempty"`
	// WeaviateHost is the REST interface, such as "127.0.0.1:8080".
	WeaviateHost string `json:"weaviate,omitempty"`
	// WeaviateGRPC is the gRPC interface.
	WeaviateGRPC string `json:"weaviate_grpc,omitempty"`
}

// Stack is a set of running servers.
type Stack struct {
	opts      Options
	cache     install.Cache
	addresses Addresses

	mu        sync.Mutex
	processes []*process
}

// Start starts the wanted servers side by side and returns when all answer.
// On an error nothing is left running.
func Start(ctx context.Context, opts Options) (*Stack, error) {
	if opts.Dir == "" {
		return nil, errors.New("start the stack: no directory given")
	}
	dir, err := filepath.Abs(opts.Dir)
	if err != nil {
		return nil, fmt.Errorf("start the stack: %w", err)
	}
	opts.Dir = dir
	s := &Stack{opts: opts, cache: opts.Cache, addresses: opts.Given}
	if s.cache.Dir == "" {
		if s.cache, err = install.DefaultCache(); err != nil {
			return nil, err
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("start the stack: %w", err)
	}
	if err := Check(ctx, opts.Given); err != nil {
		return nil, err
	}
	group, ctx := errgroup.WithContext(ctx)
	if opts.Temporal && opts.Given.Temporal == "" {
		group.Go(func() error { return s.startTemporal(ctx) })
	}
	if opts.Weaviate && opts.Given.WeaviateHost == "" {
		group.Go(func() error { return s.startWeaviate(ctx) })
	}
	if opts.ClickHouse && opts.Given.ClickHouseDSN == "" {
		group.Go(func() error { return s.startClickHouse(ctx) })
	}
	if err := group.Wait(); err != nil {
		s.Stop()
		return nil, err
	}
	return s, nil
}

// Addresses are where the servers of the stack answer.
func (s *Stack) Addresses() Addresses { return s.addresses }

// ClickHouseDSN is the address of ClickHouse for clickhouse-go.
func (s *Stack) ClickHouseDSN() string { return s.addresses.ClickHouseDSN }

// TemporalAddress is Temporal's gRPC frontend, host:port.
func (s *Stack) TemporalAddress() string { return s.addresses.Temporal }

// TemporalUI is the URL of Temporal's web interface.
func (s *Stack) TemporalUI() string { return s.addresses.TemporalUI }

// WeaviateHost is Weaviate's REST interface, host:port.
func (s *Stack) WeaviateHost() string { return s.addresses.WeaviateHost }

// WeaviateGRPC is Weaviate's gRPC interface, host:port.
func (s *Stack) WeaviateGRPC() string { return s.addresses.WeaviateGRPC }

// Servers are the process ids of the servers the stack started, by name.
func (s *Stack) Servers() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	pids := map[string]int{}
	for _, p := range s.processes {
		pids[p.name] = p.cmd.Process.Pid
	}
	return pids
}

// Wait returns nil when ctx ends, or the reason when a server of the stack ends
// before that.
func (s *Stack) Wait(ctx context.Context) error {
	s.mu.Lock()
	processes := slices.Clone(s.processes)
	s.mu.Unlock()
	ended := make(chan *process, len(processes))
	for _, p := range processes {
		go func() {
			select {
			case <-p.done:
				ended <- p
			case <-ctx.Done():
			}
		}()
	}
	select {
	case p := <-ended:
		return p.failure()
	case <-ctx.Done():
		return nil
	}
}

// Stop ends the servers the stack started, the last one first. It can be
// called more than once, and leaves servers that were given alone.
func (s *Stack) Stop() {
	s.mu.Lock()
	processes := slices.Clone(s.processes)
	s.mu.Unlock()
	var wait sync.WaitGroup
	for _, p := range slices.Backward(processes) {
		wait.Go(p.stop)
	}
	wait.Wait()
}

func (s *Stack) add(p *process) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.processes = append(s.processes, p)
}

func (s *Stack) remove(p *process) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.processes = slices.DeleteFunc(s.processes, func(other *process) bool { return other == p })
}

func (s *Stack) report(name, state string) {
	if s.opts.Progress != nil {
		s.opts.Progress(name, state)
	}
}

func (s *Stack) logFile(name string) string {
	return filepath.Join(s.opts.Dir, "logs", name+".log")
}
