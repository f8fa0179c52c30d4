package service

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"axiommind/worker/settings"
)

// refusing is a Temporal that refuses what only operators may do, and the description of its namespace with the error, if there is one.
type refusing struct {
	workflowservice.UnimplementedWorkflowServiceServer
	operatorservice.UnimplementedOperatorServiceServer
	described error
}

func (*refusing) GetSystemInfo(context.Context, *workflowservice.GetSystemInfoRequest) (*workflowservice.GetSystemInfoResponse, error) {
	return &workflowservice.GetSystemInfoResponse{}, nil
}

func (r *refusing) DescribeNamespace(context.Context, *workflowservice.DescribeNamespaceRequest) (*workflowservice.DescribeNamespaceResponse, error) {
	return &workflowservice.DescribeNamespaceResponse{}, r.described
}

func (*refusing) RegisterNamespace(context.Context, *workflowservice.RegisterNamespaceRequest) (*workflowservice.RegisterNamespaceResponse, error) {
	return nil, serviceerror.ToStatus(serviceerror.NewNamespaceAlreadyExists("it exists")).Err()
}

func (*refusing) ListSearchAttributes(context.Context, *operatorservice.ListSearchAttributesRequest) (*operatorservice.ListSearchAttributesResponse, error) {
	return nil, status.Error(codes.PermissionDenied, "no operator")
}

// The setup ends at once where Temporal refuses the key, and with a warning if only the search attributes are refused. It does not
// turn in circles over a namespace that exists and can't be seen.
func TestSetupRefused(t *testing.T) {
	t.Parallel()
	missing := serviceerror.ToStatus(serviceerror.NewNamespaceNotFound("n")).Err()
	for _, c := range []struct {
		described error
		timeout   time.Duration
		prints    string
		err       string
		refused   bool
	}{
		{nil, time.Minute, "warning: the search attributes are not registered: ", "", false},
		{status.Error(codes.PermissionDenied, "no"), time.Minute, "", "TEMPORAL_API_KEY", true},
		{status.Error(codes.Unauthenticated, "no"), time.Minute, "", "TEMPORAL_API_KEY", true},
		{missing, 5 * time.Second, "", "is made and not seen yet", false}, // A busy machine takes a second to connect.
	} {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		server, fake := grpc.NewServer(), &refusing{described: c.described}
		workflowservice.RegisterWorkflowServiceServer(server, fake)
		operatorservice.RegisterOperatorServiceServer(server, fake)
		go func() { _ = server.Serve(listener) }()
		t.Cleanup(server.Stop)
		var cfg Config
		cfg.TemporalAddress, cfg.TemporalNamespace, cfg.ConnectTimeout = listener.Addr().String(), "n", c.timeout
		var out strings.Builder
		begun := time.Now()
		err = (&Setup{}).Run(t.Context(), cfg, slog.New(slog.DiscardHandler), &out)
		require.Contains(t, out.String(), c.prints)
		require.Less(t, time.Since(begun), 30*time.Second)
		if c.err == "" {
			require.NoError(t, err)
			continue
		}
		require.ErrorContains(t, err, c.err)
		require.Equal(t, c.refused, errors.Is(err, settings.ErrRefused))
	}
}

func TestHours(t *testing.T) {
	t.Parallel()
	for d, text := range map[time.Duration]string{
		720 * time.Hour: "720h", 24*time.Hour + 30*time.Minute: "24h30m", 100*time.Hour + 10*time.Second: "100h0m10s",
		30 * time.Second: "30s", 10 * time.Minute: "10m", 0: "0s", 24*time.Hour + 20*time.Second: "24h0m20s",
	} {
		require.Equal(t, text, hours(d))
	}
}
