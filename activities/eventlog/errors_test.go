package eventlog_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"axiommind/activities/eventlog"
)

// A server that is not there is named with the reason, without the request the driver made.
func TestReadable(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := listener.Addr().String()
	require.NoError(t, listener.Close())
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	_, err = eventlog.Connect(ctx, "http://user:secret@"+address+"/default", eventlog.ConnectOptions{})
	require.ErrorContains(t, err, "reach clickhouse at "+address+": ")
	require.ErrorContains(t, err, "connection refused")
	require.NotContains(t, err.Error(), "client_protocol_version")
	require.NotContains(t, err.Error(), "secret")
	require.True(t, eventlog.Retryable(err))

	refuses := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-ClickHouse-Exception-Code", "516")
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = w.Write([]byte("Code: 516. DB::Exception: wrong password. (AUTHENTICATION_FAILED)"))
	}))
	defer refuses.Close()
	_, err = eventlog.Connect(ctx, refuses.URL+"/default", eventlog.ConnectOptions{})
	require.True(t, eventlog.Refused(err))
	require.ErrorContains(t, err, "wrong password")
	require.NotContains(t, err.Error(), "server hello")
	require.NotContains(t, err.Error(), "sendQuery")
}
