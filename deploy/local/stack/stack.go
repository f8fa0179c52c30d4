// Package stack starts the servers AxiomMind needs on this machine: Temporal's
// dev server, ClickHouse and Weaviate, each real and pinned, on loopback. The
// servers end with the process that started them.
package stack

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"axiommind/deploy/local/install"

	"golang.org/x/sync/errgroup"
)

// Options selects the servers to start, and how.
type Options struct {
	// Dir holds the data and logs of the servers. Required.
	Dir string
	// Temporal, ClickHouse and Weaviate select the servers.
	Temporal, ClickHouse, Weaviate bool
	// Embedder selects the local embedder. If it is not available, the stack starts all the same.
	Embedder bool
	// Given are the addresses of servers that run already; one given is used
	// and not started.
	Given Addresses
	// Ports to listen on when they are free; any free port is taken when not,
	// or when 0.
	TemporalPort, TemporalUIPort, ClickHousePort, WeaviatePort, WeaviateGRPCPort int
	// SearchAttributes are registered with Temporal, name to type ("Keyword",
	// "Int", "Datetime", "KeywordList", ...).
	SearchAttributes map[string]string
	// DynamicConfig are further settings of Temporal, name to JSON value.
	DynamicConfig map[string]string
	// Codec returns the handler that decrypts for Temporal's web interface at the given origins. Without it the
	// interface shows payloads as Temporal stores them.
	Codec func(origins []string) http.Handler `json:"-"`
	// ClickHouseGrants are the rights of ClickHouse's user, as GRANT SELECT ON db.*. Default: all that reach nothing
	// outside the server's directory.
	ClickHouseGrants []string
	// ClickHouseCluster is the name of a cluster of one shard, for tests. Only the engine as a library has it.
	ClickHouseCluster string
	// Installed lets servers found on PATH replace the pinned ones.
	Installed bool
	// Ephemeral keeps no data: Temporal stays in memory, and ClickHouse removes
	// its directory when it ends.
	Ephemeral bool
	// Progress receives the state of each server. It may be nil, and is called from several goroutines.
	Progress install.Progress `json:"-"`
	// Measured receives how many of how many steps of a server's installation are done: see [install.Cache].
	Measured func(name string, done, total int) `json:"-"`
}

// Addresses are where the servers answer.
type Addresses struct {
	// ClickHouseDSN is for clickhouse-go, such as "http://default:token@127.0.0.1:8123/default". It contains the token
	// that a server started by the stack requires.
	ClickHouseDSN string `json:"clickhouse_dsn,omitempty"`
	// Temporal is the gRPC frontend, such as "127.0.0.1:7233".
	Temporal string `json:"temporal,omitempty"`
	// TemporalUI is the base URL of Temporal's web interface.
	TemporalUI string `json:"temporal_ui,omitempty"`
	// WeaviateHost is the REST interface, such as "127.0.0.1:8080".
	WeaviateHost string `json:"weaviate,omitempty"`
	// WeaviateGRPC is the gRPC interface.
	WeaviateGRPC string `json:"weaviate_grpc,omitempty"`
	// WeaviateKey is the API key that Weaviate wants; empty when it wants none.
	WeaviateKey string `json:"weaviate_key,omitempty"`
	// PayloadKeyFile holds the keys of the payloads in Temporal, and is empty without encryption. The stack does not
	// read it.
	PayloadKeyFile string `json:"payload_key_file,omitempty"`
	// EmbedderDir is the directory of the local embedder's library; empty when there is none.
	EmbedderDir string `json:"embedder_dir,omitempty"`
}

// Stack is a set of running servers.
type Stack struct {
	opts      Options
	cache     install.Cache
	addresses Addresses

	mu      sync.Mutex
	servers []*server
	// ui is the proxy in front of Temporal's web interface; nil without Temporal.
	ui *uiProxy
	// secret is ClickHouse's password and Weaviate's key. Whoever can read the stack's files knows it.
	secret string
	// temporalHost is the only host name that Temporal's HTTP interface accepts. Temporal takes it as an argument,
	// which every user of the machine can see. So no other server has it for a secret.
	temporalHost string
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
	cache, err := install.DefaultCache()
	if err != nil {
		return nil, err
	}
	cache.Measured = opts.Measured
	s := &Stack{opts: opts, cache: cache, addresses: opts.Given, secret: newSecret(), temporalHost: newSecret()}
	if err := MakePrivate(dir); err != nil {
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
	group.Go(func() error {
		s.findEmbedder(ctx)
		return nil
	})
	if err := group.Wait(); err != nil {
		s.Stop()
		return nil, err
	}
	return s, nil
}

// findEmbedder sets the directory of the local embedder, if it is wanted. The progress reports why it is not
// available.
func (s *Stack) findEmbedder(ctx context.Context) {
	if !s.opts.Embedder {
		return
	}
	dir, err := s.cache.Embedder(ctx, s.opts.Progress)
	if err != nil {
		s.LeaveEmbedder(err)
		return
	}
	s.setEmbedder(dir)
	s.report("embedder", "ready "+dir)
}

// LeaveEmbedder goes on without the local embedder, for a reason that the progress reports.
func (s *Stack) LeaveEmbedder(reason error) {
	s.setEmbedder("")
	s.report("embedder", "not there, so search goes by words and not by meaning: "+reason.Error())
}

func (s *Stack) setEmbedder(dir string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.addresses.EmbedderDir = dir
}

func newSecret() string { return strings.ToLower(rand.Text()) }

// Addresses returns where the servers of the stack answer.
func (s *Stack) Addresses() Addresses {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.addresses
}

// Servers returns the process ids of the servers that the stack started, by name, with 0 for one that does not run.
func (s *Stack) Servers() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	pids := map[string]int{}
	for _, sv := range s.servers {
		pids[sv.process.name] = 0
		if !sv.process.ended() {
			pids[sv.process.name] = sv.process.cmd.Process.Pid
		}
	}
	return pids
}

// Stop ends the programs and then the servers that the stack started, but no given server. Call it after
// [Stack.Supervise] has returned; it can be called more than once.
func (s *Stack) Stop() {
	s.mu.Lock()
	servers, ui := slices.Clone(s.servers), s.ui
	s.mu.Unlock()
	if ui != nil {
		_ = ui.close()
	}
	// Programs finish their work, and need the servers for it.
	for _, programs := range []bool{true, false} {
		var wait sync.WaitGroup
		for _, sv := range servers {
			if sv.launch.command.program == programs {
				wait.Go(sv.process.stop)
			}
		}
		wait.Wait()
	}
}

func (s *Stack) add(sv *server) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.servers = append(s.servers, sv)
}

func (s *Stack) remove(sv *server) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.servers = slices.DeleteFunc(s.servers, func(other *server) bool { return other == sv })
}

func (s *Stack) report(name, state string) {
	if s.opts.Progress != nil {
		s.opts.Progress(name, state)
	}
}

func (s *Stack) logFile(name string) string {
	return filepath.Join(s.opts.Dir, "logs", name+".log")
}
