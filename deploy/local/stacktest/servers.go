package stacktest

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/protobuf/types/known/durationpb"

	"axiommind/deploy/local/install"
)

// The addresses of servers to use instead of those that the tests share, by environment variable, and the API key of
// that Weaviate.
const (
	EnvClickHouse  = "AXIOMMIND_TEST_CLICKHOUSE"
	EnvTemporal    = "AXIOMMIND_TEST_TEMPORAL"
	EnvWeaviate    = "AXIOMMIND_TEST_WEAVIATE"
	EnvWeaviateKey = "AXIOMMIND_TEST_WEAVIATE_KEY"
)

// oneThread has each query of a test use one thread: the tables of tests are small, and a second thread costs a query a
// fourth more CPU time.
const oneThread = "?max_threads=1"

// ClickHouse returns the DSN of the ClickHouse server, such as
// "http://default:token@127.0.0.1:41234/default?max_threads=1".
func ClickHouse(t testing.TB) string {
	t.Helper()
	if dsn := os.Getenv(EnvClickHouse); dsn != "" {
		return dsn
	}
	return servers(t).Addresses.ClickHouseDSN + oneThread
}

// Temporal returns the address of the Temporal dev server, host:port. Tests keep apart by namespace, see [Namespace].
func Temporal(t testing.TB) string {
	t.Helper()
	if address := os.Getenv(EnvTemporal); address != "" {
		return address
	}
	return servers(t).Addresses.Temporal
}

// TemporalCommand returns the path of Temporal's own command.
func TemporalCommand(t testing.TB) string {
	t.Helper()
	cache, err := install.DefaultCache()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	path, err := cache.Temporal(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// Weaviate returns the address of the REST interface of the Weaviate server, host:port. It wants the key of
// [WeaviateKey]. Tests keep apart by class or tenant, see [Namespace].
func Weaviate(t testing.TB) string {
	t.Helper()
	if host := os.Getenv(EnvWeaviate); host != "" {
		return host
	}
	return servers(t).Addresses.WeaviateHost
}

// WeaviateKey returns the API key that [Weaviate] wants.
func WeaviateKey(t testing.TB) string {
	t.Helper()
	if os.Getenv(EnvWeaviate) != "" {
		return os.Getenv(EnvWeaviateKey)
	}
	return servers(t).Addresses.WeaviateKey
}

// Processes returns the process ids of the servers by name. A server may be a process that supervises the one that does
// the work.
func Processes(t testing.TB) map[string]int {
	t.Helper()
	return maps.Clone(servers(t).Servers)
}

var (
	names   atomic.Int64
	started = time.Now().UnixMicro()
)

// Namespace registers a namespace for the test in the Temporal of [Temporal] and returns its unique name. The name also
// serves as that of a project or a user.
func Namespace(t testing.TB) string {
	t.Helper()
	name := fmt.Sprintf("test-%d-%d-%d", os.Getpid(), started, names.Add(1))
	RegisterNamespace(t, Temporal(t), name)
	return name
}

// RegisterNamespace makes a namespace in the Temporal server at the address, and waits until the server knows it.
func RegisterNamespace(t testing.TB, address, name string) {
	t.Helper()
	namespaces, err := client.NewNamespaceClient(client.Options{HostPort: address, Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	defer namespaces.Close()
	require.NoError(t, namespaces.Register(t.Context(), &workflowservice.RegisterNamespaceRequest{
		Namespace: name, WorkflowExecutionRetentionPeriod: durationpb.New(24 * time.Hour),
	}))
	require.Eventually(t, func() bool {
		_, err := namespaces.Describe(t.Context(), name)
		return err == nil
	}, time.Minute, 20*time.Millisecond)
}
