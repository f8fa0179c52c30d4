package clickhouse_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/stretchr/testify/require"

	"axiommind/activities/clickhouse"
	"axiommind/deploy/local/stacktest"
)

func TestRetryable(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		err  error
		want bool
	}{
		{nil, false},
		{errors.New("other"), false},
		{context.Canceled, false},
		{context.DeadlineExceeded, true},
		{io.ErrUnexpectedEOF, true},
		{&net.OpError{Op: "dial", Err: errors.New("refused")}, true},
		{&clickhouse.Exception{Code: 252}, true},
		{&clickhouse.Exception{Code: 319}, true},
		{&clickhouse.Exception{Code: 241}, true},
		{&clickhouse.Exception{Code: 62}, false},
		{&clickhouse.Exception{Code: 516}, false},
		{&clickhouse.HTTPError{StatusCode: 500, Err: &clickhouse.Exception{Code: 60}}, false},
		{&clickhouse.HTTPError{StatusCode: 503, Err: errors.New("proxy")}, true},
		{&clickhouse.HTTPError{StatusCode: 429, Err: errors.New("proxy")}, true},
		{&clickhouse.HTTPError{StatusCode: 401, Err: errors.New("proxy")}, false},
		{clickhouse.Temporary("passes"), true},
	} {
		require.Equal(t, test.want, clickhouse.Retryable(test.err), "%v", test.err)
		if test.err != nil {
			require.Equal(t, test.want, clickhouse.Retryable(fmt.Errorf("outer: %w", test.err)), "%v", test.err)
		}
	}
}

// TestRetryableNames asks the server for the names of the codes.
func TestRetryableNames(t *testing.T) {
	t.Parallel()
	conn := connect(t, stacktest.ClickHouse(t))
	for code, comment := range clickhouse.RetryableCodes {
		var name string
		require.NoError(t, conn.QueryRow(t.Context(), `SELECT errorCodeToName(?)`, code).Scan(&name))
		require.Equal(t, name, regexp.MustCompile(`^\w+`).FindString(comment), "code %d", code)
	}
}

func TestConnect(t *testing.T) {
	t.Parallel()
	for _, dsn := range []string{"tcp://localhost:9000/default", "localhost:8123"} {
		_, err := clickhouse.Connect(t.Context(), dsn, clickhouse.ConnectOptions{})
		require.ErrorContains(t, err, "want http://")
	}
	_, err := clickhouse.Connect(t.Context(), "http://localhost:8123/default", clickhouse.ConnectOptions{Cluster: "a' b"})
	require.ErrorContains(t, err, "want letters, digits")
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := listener.Addr().String()
	require.NoError(t, listener.Close())
	_, err = clickhouse.Connect(t.Context(), "http://user:topsecret@"+address+"/default", clickhouse.ConnectOptions{})
	require.ErrorContains(t, err, address)
	require.NotContains(t, err.Error(), "topsecret")
	require.True(t, clickhouse.Retryable(err), "%v", err)

	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "starting", http.StatusServiceUnavailable)
	}))
	defer server.Close()
	_, err = clickhouse.Connect(t.Context(), server.URL+"/default", clickhouse.ConnectOptions{})
	require.Error(t, err)
	require.True(t, clickhouse.Retryable(err), "%v", err)
}

// An insert into a table on which another one waits for its quorum is sent again.
func TestTurns(t *testing.T) {
	t.Parallel()
	tries := 0
	require.NoError(t, clickhouse.Taking(t.Context(), func() error {
		if tries++; tries < 3 {
			return clickhouse.QuorumBusy
		}
		return nil
	}))
	require.Equal(t, 3, tries)
	require.ErrorIs(t, clickhouse.Taking(t.Context(), func() error { return io.EOF }), io.EOF)
}

func connect(t testing.TB, dsn string) driver.Conn {
	t.Helper()
	conn, err := clickhouse.Connect(t.Context(), dsn, clickhouse.ConnectOptions{MaxOpenConns: 16})
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}
