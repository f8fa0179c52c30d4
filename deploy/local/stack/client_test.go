package stack_test

import (
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"axiommind/deploy/local/stack"

	"github.com/stretchr/testify/require"
)

// The check accepts every address that the client accepts. A wrong password is refused and never
// printed.
func TestCheckTakesWhatTheClientTakes(t *testing.T) {
	t.Parallel()
	s := start(t, stack.Options{ClickHouse: true, Ephemeral: true})
	dsn, err := url.Parse(s.Addresses().ClickHouseDSN)
	require.NoError(t, err)
	user, host := dsn.User.Username(), dsn.Host
	password, _ := dsn.User.Password()
	secure := httptest.NewTLSServer(httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: host}))
	t.Cleanup(secure.Close)
	for _, given := range []string{
		s.Addresses().ClickHouseDSN,
		"http://" + host + "/default?username=" + user + "&password=" + password,
		"http://" + user + "@" + host + "?password=" + password,
		"http://" + host + "?password=" + password,
		strings.Replace(secure.URL, "//", "//"+dsn.User.String()+"@", 1) + "?secure=true&skip_verify=true",
	} {
		require.NoError(t, stack.Check(t.Context(), stack.Addresses{ClickHouseDSN: given}), given)
	}
	for _, given := range []string{
		"http://me:s3cr%et@" + host + "/default",
		"http://me:s3cr/et@" + host + "/default",
		"http://me:s3cr#et@" + host + "/default",
		"http://me:s3cret@" + host + "/default",
		"http://" + host + "/default?username=" + user + "&password=s3cret",
		"http://" + host + "/default?username=" + user + "&password=s3cr%et",
		"http://[::1?password=s3cret",
		"http://" + user + "@" + host,
		"clickhouse://" + user + ":" + password + "@" + host,
		strings.Replace(secure.URL, "//", "//"+dsn.User.String()+"@", 1) + "?secure=true",
	} {
		a := stack.Addresses{ClickHouseDSN: given}
		err := stack.Check(t.Context(), a)
		require.Error(t, err, given)
		for _, secret := range []string{"s3cr", password} {
			require.NotContains(t, err.Error(), secret)
			require.NotContains(t, a.ClickHouseURL(), secret)
		}
	}
}

// People see the address alone.
func TestClickHouseURL(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		"":                                    "",
		"http://u:p@h:8123/default":           "http://h:8123/default",
		"http://h:8123?username=u&password=p": "http://h:8123/",
		"https://u@h:8443/db?secure=true&limit=1": "https://h:8443/db",
		"http://h:8123/db?database=other":         "http://h:8123/other",
		"http://u:12/34@h:8123/db":                "http://u:12/",
		"http://u:p%@h:8123/db":                   "",
	} {
		require.Equal(t, want, stack.Addresses{ClickHouseDSN: given}.ClickHouseURL(), given)
	}
}
