package stack

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
)

// The ports Weaviate's REST and gRPC interfaces listen on when they are free.
const (
	WeaviatePort     = 8080
	WeaviateGRPCPort = 50051
)

func (s *Stack) startWeaviate(ctx context.Context) error {
	binary, found := s.installed("weaviate")
	if !found {
		var err error
		if binary, err = s.cache.Weaviate(ctx, s.opts.Progress); err != nil {
			return err
		}
	}
	data := filepath.Join(s.opts.Dir, "weaviate")
	if err := os.MkdirAll(data, 0o700); err != nil {
		return fmt.Errorf("make weaviate's directory: %w", err)
	}
	return s.launch(ctx, "weaviate", []int{s.opts.WeaviatePort, s.opts.WeaviateGRPCPort, 0, 0, 0, 0}, func(ports []int) (launch, error) {
		rest, grpc := hostPort(ports[0]), hostPort(ports[1])
		return launch{
			command: command{
				name: "weaviate", path: binary, log: s.logFile("weaviate"), env: weaviateEnv(data, s.secret, ports),
				args: []string{"--scheme", "http", "--host", loopback, "--port", strconv.Itoa(ports[0])},
			},
			check: func(ctx context.Context) error {
				return errors.Join(checkWeaviate(ctx, rest, s.secret), dial(ctx, grpc))
			},
			apply: func(a *Addresses) string {
				a.WeaviateHost, a.WeaviateGRPC, a.WeaviateKey = rest, grpc, s.secret
				return "on " + rest
			},
			// Its log of vectors is written 4 KiB at a time, so acknowledged vectors may be in its memory only.
			caution: "vectors of the last minute may be lost, and their memories are then found by words alone: " +
				"go run ./starter rebuild vectors rebuilds all vectors",
		}, nil
	})
}

func weaviateEnv(data, key string, ports []int) []string {
	return []string{
		"PERSISTENCE_DATA_PATH=" + data,
		"AUTHENTICATION_ANONYMOUS_ACCESS_ENABLED=false",
		"AUTHENTICATION_APIKEY_ENABLED=true",
		"AUTHENTICATION_APIKEY_ALLOWED_KEYS=" + key,
		"AUTHENTICATION_APIKEY_USERS=axiommind",
		// The interface between nodes knows no API key.
		"CLUSTER_BASIC_AUTH_USERNAME=axiommind",
		"CLUSTER_BASIC_AUTH_PASSWORD=" + key,
		// By default every web page may read the answers.
		"CORS_ALLOW_ORIGIN=http://" + hostPort(ports[0]),
		"DEFAULT_VECTORIZER_MODULE=none",
		"ENABLE_MODULES=",
		"GRPC_PORT=" + strconv.Itoa(ports[1]),
		"CLUSTER_HOSTNAME=axiommind",
		// Not CLUSTER_IN_LOCALHOST: with it a node looks for itself at the raft
		// port plus one and waits in vain.
		"CLUSTER_BIND_ADDR=" + loopback,
		"CLUSTER_ADVERTISE_ADDR=" + loopback,
		"CLUSTER_GOSSIP_BIND_PORT=" + strconv.Itoa(ports[2]),
		"CLUSTER_DATA_BIND_PORT=" + strconv.Itoa(ports[3]),
		"RAFT_PORT=" + strconv.Itoa(ports[4]),
		"RAFT_INTERNAL_RPC_PORT=" + strconv.Itoa(ports[5]),
		"RAFT_BOOTSTRAP_EXPECT=1",
		// One node waits for no other: its first election need not be patient.
		"RAFT_TIMEOUTS_MULTIPLIER=1",
		// With the default, keyword search misses recent writes.
		"USE_INVERTED_SEARCHABLE=false",
		// Classes are made by the program that owns them, never by a misspelled name.
		"AUTOSCHEMA_ENABLED=false",
		"DISABLE_TELEMETRY=true",
		"GO_PROFILING_DISABLE=true",
		"PROMETHEUS_MONITORING_ENABLED=false",
		"LOG_LEVEL=warning",
		"GOMEMLIMIT=1GiB",
		"PERSISTENCE_MEMTABLES_MAX_SIZE_MB=64",
		"HNSW_STARTUP_WAIT_FOR_VECTOR_CACHE=false",
	}
}

func hostPort(port int) string { return net.JoinHostPort(loopback, strconv.Itoa(port)) }
