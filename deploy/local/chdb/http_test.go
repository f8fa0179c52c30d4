package chdb_test

import (
	"bufio"
	"compress/gzip"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"axiommind/deploy/local/stacktest"

	"github.com/stretchr/testify/require"
)

type reply struct {
	status int
	header http.Header
	body   string
}

func send(t *testing.T, method, base, query, body string, header ...string) reply {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, base+query, strings.NewReader(body))
	require.NoError(t, err)
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return reply{resp.StatusCode, resp.Header, string(text)}
}

// base is the URL of a fresh database, to which further parameters are added.
func base(t *testing.T) string {
	t.Helper()
	dsn, err := url.Parse(stacktest.Database(t))
	require.NoError(t, err)
	return fmt.Sprintf("http://%s@%s/?database=%s", dsn.User, dsn.Host, strings.TrimPrefix(dsn.Path, "/"))
}

func TestPing(t *testing.T) {
	t.Parallel()
	dsn, err := url.Parse(stacktest.ClickHouse(t))
	require.NoError(t, err)
	for _, path := range []string{"/ping", "/", "/replicas_status"} {
		require.Equal(t, "Ok.\n", send(t, "GET", "http://"+dsn.Host, path, "").body)
	}
	require.Equal(t, http.StatusNotFound, send(t, "GET", "http://"+dsn.Host, "/absent", "").status)
}

func TestPlainHTTP(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, method, query, body string
		status                    int
		want                      string
	}{
		{"query in the body", "POST", "", "SELECT 1, 'a'", 200, "1\ta\n"},
		{"query in the address", "GET", "&query=SELECT+2", "", 200, "2\n"},
		{"split between them", "POST", "&query=SELECT+3%2B", "4", 200, "7\n"},
		{"a format", "POST", "", "SELECT 1 AS x FORMAT JSONEachRow", 200, "{\"x\":1}\n"},
		{"a format and settings", "POST", "", "SELECT 1 AS x FORMAT CSVWithNames SETTINGS max_threads = 1;", 200, "\"x\"\n1\n"},
		{"the default format", "POST", "&default_format=CSV", "SELECT 1, 'a'", 200, "1,\"a\"\n"},
		{"a parameter", "POST", "&param_x=a%5Ctb", "SELECT {x:String}", 200, "a\\tb\n"},
		{"a setting", "POST", "&max_block_size=9", "SELECT getSetting('max_block_size')", 200, "9\n"},
		{"a comment first", "POST", "", "-- why\nSELECT /* ; */ ';' # end", 200, ";\n"},
		{"rows in the text", "POST", "", "INSERT INTO t (n, s) VALUES (1, 'a;b'), (2, ')')", 200, ""},
		{"rows in the body", "POST", "&query=INSERT+INTO+t+FORMAT+TSV", "3\tc\n4\td\n", 200, ""},
		{"rows after a line end", "POST", "", "INSERT INTO t FORMAT JSONEachRow\n{\"n\":5,\"s\":\"e\"}", 200, ""},
		{"rows from a query", "POST", "", "INSERT INTO t SELECT 6, 'f' FORMAT Null", 200, ""},
		{"a broken row", "POST", "&query=INSERT+INTO+t+FORMAT+TSV", "seven\tg\n", 400, ""},
		{"a write by GET", "GET", "&query=INSERT+INTO+t+VALUES+(9,'')", "", 500, ""},
		{"no query", "POST", "", "  ", 400, ""},
		{"external tables", "POST", "", "SELECT 1", 501, ""},
	}
	url := base(t)
	require.Equal(t, 200, send(t, "POST", url, "", "CREATE TABLE t (n UInt64, s String) ENGINE = MergeTree ORDER BY n").status)
	for _, tt := range tests {
		var header []string
		if tt.name == "external tables" {
			header = []string{"Content-Type", "multipart/form-data; boundary=x"}
		}
		got := send(t, tt.method, url, tt.query, tt.body, header...)
		require.Equal(t, tt.status, got.status, "%s: %s", tt.name, got.body)
		if tt.status == 200 {
			require.Equal(t, tt.want, got.body, tt.name)
		} else {
			require.NotEmpty(t, got.header.Get("X-ClickHouse-Exception-Code"), tt.name)
		}
	}
	require.Equal(t, "6\t21\n", send(t, "POST", url, "", "SELECT count(), sum(n) FROM t").body)
}

func TestHeaders(t *testing.T) {
	t.Parallel()
	url := base(t)
	got := send(t, "POST", url, "&query_id=q-1", "SELECT number FROM numbers(3) FORMAT JSONCompact")
	require.Equal(t, "q-1", got.header.Get("X-ClickHouse-Query-Id"))
	require.Equal(t, "JSONCompact", got.header.Get("X-ClickHouse-Format"))
	require.Equal(t, "UTC", got.header.Get("X-ClickHouse-Timezone"))
	require.Contains(t, got.header.Get("X-ClickHouse-Summary"), `"read_rows":"3"`)
	require.Equal(t, "application/json; charset=UTF-8", got.header.Get("Content-Type"))
	failed := send(t, "POST", url, "", "SELECT * FROM absent")
	require.Equal(t, "60", failed.header.Get("X-ClickHouse-Exception-Code"))
	require.Regexp(t, `^Code: 60\. DB::Exception: .*\(UNKNOWN_TABLE\)`, failed.body)

	send(t, "POST", url, "", "CREATE TABLE t (n UInt64) ENGINE = MergeTree ORDER BY n")
	written := send(t, "POST", url, "&query=INSERT+INTO+t+FORMAT+TSV", "1\n2\n3\n")
	require.Contains(t, written.header.Get("X-ClickHouse-Summary"), `"written_rows":"3"`)
}

func TestBodyEncoding(t *testing.T) {
	t.Parallel()
	var packed strings.Builder
	z := gzip.NewWriter(&packed)
	_, err := io.WriteString(z, "SELECT 'packed'")
	require.NoError(t, err)
	require.NoError(t, z.Close())
	url := base(t)
	require.Equal(t, "packed\n", send(t, "POST", url, "", packed.String(), "Content-Encoding", "gzip").body)
	require.Equal(t, 500, send(t, "POST", url, "", "x", "Content-Encoding", "rot13").status)
	got := send(t, "POST", url, "&enable_http_compression=1", "SELECT 1", "Accept-Encoding", "zstd;q=1, gzip")
	require.Equal(t, "zstd", got.header.Get("Content-Encoding"))
}

// A client that dies in the middle of its rows must leave none of them.
func TestInsertCutShort(t *testing.T) {
	t.Parallel()
	address := base(t)
	require.Equal(t, 200, send(t, "POST", address, "", "CREATE TABLE t (n UInt64) ENGINE = MergeTree ORDER BY n").status)
	u, err := url.Parse(address)
	require.NoError(t, err)
	conn, err := net.Dial("tcp", u.Host)
	require.NoError(t, err)
	token, _ := u.User.Password()
	_, _ = fmt.Fprintf(conn, "POST /?%s&query=INSERT+INTO+t+FORMAT+TSV HTTP/1.1\r\nHost: %s\r\nX-ClickHouse-Key: %s\r\n"+
		"Content-Length: 1000\r\n\r\n1\n2\n3\n", u.RawQuery, u.Host, token)
	require.NoError(t, conn.(*net.TCPConn).CloseWrite())
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err == nil {
		require.Equal(t, 500, resp.StatusCode)
		_ = resp.Body.Close()
	}
	require.NoError(t, conn.Close())
	require.Equal(t, "0\n", send(t, "POST", address, "", "SELECT count() FROM t").body)
}
