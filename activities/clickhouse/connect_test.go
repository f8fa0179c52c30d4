package clickhouse_test

import (
	"context"
	"crypto/x509"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"axiommind/activities/clickhouse"
)

// No error of a connection contains a password, whatever is wrong: the address, the network, the certificate, the
// password.
func TestConnectTellsNoPassword(t *testing.T) {
	t.Parallel()
	refuses := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-ClickHouse-Exception-Code", "516")
		w.WriteHeader(http.StatusForbidden)
		_, _ = io.WriteString(w, "Code: 516. DB::Exception: bob: Authentication failed: password is incorrect")
	}))
	defer refuses.Close()
	breaks := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	defer breaks.Close()
	untrusted := quietTLS(http.NotFoundHandler())
	defer untrusted.Close()
	closed := httptest.NewServer(nil)
	closed.Close()
	host := func(s *httptest.Server) string { return s.Listener.Addr().String() }
	for _, password := range []string{"sesame77", "ses/ame77", "ses?ame77", "ses#ame77", "77/ses@ame77", "77/ses@ame77:1", "%zzsesame77", "ses ame77", "ses:ame77", "ses[ame77"} {
		for _, written := range []string{password, url.QueryEscape(password), url.PathEscape(password)} {
			for _, dsn := range []string{
				"http://bob:" + written + "@" + host(refuses) + "/default",
				"http://bob:" + written + "@" + host(breaks) + "/default",
				"http://bob:" + written + "@" + host(closed) + "/default",
				"https://bob:" + written + "@" + host(untrusted) + "/default",
				"http://bob:" + written + "@host:port/default",
				"http://bob:" + written + "@" + host(closed) + "/default?dial_timeout=soon",
				"http://bob:" + written + "@" + host(closed) + "/default?secure=" + written,
				"http://" + host(refuses) + "/default?username=bob&password=" + url.QueryEscape(password),
				"http://" + host(refuses) + "/default?username=bob&read_timeout=soon&password=" + url.QueryEscape(password),
				"clickhouse://bob:" + written + "@host:9000/default",
				"bob:" + written + "@host:8123/default",
				"://bob:" + written + "@host",
			} {
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				_, err := clickhouse.Connect(ctx, dsn, clickhouse.ConnectOptions{})
				require.NoError(t, ctx.Err(), dsn)
				cancel()
				require.Error(t, err, dsn)
				require.NotContains(t, err.Error(), "ame77", dsn)
				require.NotContains(t, fmt.Sprintf("%+v", err), "ame77", dsn)
				require.NotContains(t, clickhouse.Address(dsn), "ame77", dsn)
				require.NotContains(t, clickhouse.Address(dsn), "bob", dsn)
			}
		}
	}
	require.Equal(t, "https://host:8443/db", clickhouse.Address("https://bob:sesame@host:8443/db?secure=true"))
}

// https needs no other setting, and a certificate of an authority in the options is trusted.
func TestConnectTrusts(t *testing.T) {
	t.Parallel()
	var asked http.Header
	server := quietTLS(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = r.Header
		http.Error(w, "closed for today", http.StatusServiceUnavailable)
	}))
	defer server.Close()
	address := "https://bob:sesame@" + server.Listener.Addr().String() + "/default"
	for _, dsn := range []string{address, address + "?secure=true"} {
		_, err := clickhouse.Connect(t.Context(), dsn, clickhouse.ConnectOptions{})
		require.ErrorContains(t, err, "certificate")
		require.True(t, clickhouse.Refused(err))
		require.Nil(t, asked, "a server that is not trusted is told no password")
	}
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	_, err := clickhouse.Connect(t.Context(), address, clickhouse.ConnectOptions{RootCAs: roots})
	require.ErrorContains(t, err, "closed for today")
	require.Equal(t, "sesame", asked.Get("X-Clickhouse-Key"))
}

// quietTLS serves with a certificate of its own, and says nothing of clients that do not trust it.
func quietTLS(h http.Handler) *httptest.Server {
	s := httptest.NewUnstartedServer(h)
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	return s
}

func TestAddress(t *testing.T) {
	t.Parallel()
	for dsn, want := range map[string]string{
		"http://127.0.0.1:8123/default":             "http://127.0.0.1:8123/default",
		"http://u:p@h:8123/d?max_threads=1":         "http://h:8123/d",
		"http://h:8123/d?comment=a@b":               "an address that can't be read",
		"http://u:1/2@h:8123/d":                     "an address that can't be read",
		"http://u:p@h1:8123,h2:8123/d":              "http://h1:8123,h2:8123/d",
		"http://u:" + strings.Repeat("%", 3) + "@h": "an address that can't be read",
	} {
		require.Equal(t, want, clickhouse.Address(dsn), dsn)
	}
}
