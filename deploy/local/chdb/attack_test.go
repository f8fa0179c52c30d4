package chdb_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"axiommind/deploy/local/stacktest"

	"github.com/stretchr/testify/require"
)

// server is the address of the server without the token, and the token.
func server(t *testing.T) (address, token string) {
	t.Helper()
	dsn, err := url.Parse(stacktest.ClickHouse(t))
	require.NoError(t, err)
	token, _ = dsn.User.Password()
	return "http://" + dsn.Host, token
}

// from sends a query as a browser or another program would.
func from(t *testing.T, method, address, host, query string, header ...string) reply {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(query))
	require.NoError(t, err)
	if host != "" {
		req.Host = host
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer func() { _ = resp.Body.Close() }()
	var body strings.Builder
	require.NoError(t, resp.Write(&body))
	return reply{resp.StatusCode, resp.Header, body.String()}
}

func TestWebPagesAndStrangersAreRefused(t *testing.T) {
	t.Parallel()
	address, token := server(t)
	_, port, err := net.SplitHostPort(strings.TrimPrefix(address, "http://"))
	require.NoError(t, err)
	plain := []string{"Content-Type", "text/plain"}
	wrong := "x" + token[1:]
	if wrong == token {
		wrong = "y" + token[1:]
	}
	for name, tt := range map[string]struct {
		path, host string
		header     []string
		status     int
	}{
		"a page's POST as plain text":    {"/", "", append(plain, "Origin", "https://evil.example"), 403},
		"the same with the token":        {"/", "", append(plain, "Origin", "https://evil.example", "X-ClickHouse-Key", token), 403},
		"a sandboxed page":               {"/", "", append(plain, "Origin", "null", "X-ClickHouse-Key", token), 403},
		"a page of another local server": {"/", "", append(plain, "Origin", "http://127.0.0.1:1", "X-ClickHouse-Key", token), 403},
		"a page over TLS":                {"/", "", append(plain, "Origin", "https://127.0.0.1:"+port, "X-ClickHouse-Key", token), 403},
		"an image of another site":       {"/?query=SELECT+1", "", []string{"Sec-Fetch-Site", "cross-site", "X-ClickHouse-Key", token}, 403},
		"an image of a neighbor":         {"/?query=SELECT+1", "", []string{"Sec-Fetch-Site", "same-site", "X-ClickHouse-Key", token}, 403},
		"a name turned to this machine":  {"/", "evil.example:" + port, []string{"X-ClickHouse-Key", token}, 421},
		"a name that begins like it":     {"/", "127.0.0.1.evil.example:" + port, []string{"X-ClickHouse-Key", token}, 421},
		"a name that ends like it":       {"/", "evil.localhost:" + port, []string{"X-ClickHouse-Key", token}, 421},
		"another address":                {"/", "0.0.0.0:" + port, []string{"X-ClickHouse-Key", token}, 421},
		"a ping of a page":               {"/ping", "evil.example", nil, 421},
		"no token":                       {"/", "", nil, 401},
		"an empty token":                 {"/", "", []string{"X-ClickHouse-User", "default", "X-ClickHouse-Key", ""}, 401},
		"a wrong token":                  {"/", "", []string{"X-ClickHouse-User", "default", "X-ClickHouse-Key", wrong}, 403},
		"the beginning of the token":     {"/", "", []string{"X-ClickHouse-Key", token[:len(token)-1]}, 403},
		"the token and more":             {"/", "", []string{"X-ClickHouse-Key", token + "x"}, 403},
		"the token as the user":          {"/", "", []string{"X-ClickHouse-User", token, "X-ClickHouse-Key", "x"}, 403},
		"the token in the address":       {"/?password=" + token, "", nil, 401},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := from(t, http.MethodPost, address+tt.path, tt.host, "SELECT 'r'||'an'", tt.header...)
			require.Equal(t, tt.status, got.status, got.body)
			require.NotContains(t, got.body, "ran")
			require.NotContains(t, got.body, token)
			require.Empty(t, got.header.Get("Access-Control-Allow-Origin"))
		})
	}
	// A browser asks first whether a page may send a header of its own.
	preflight := from(t, http.MethodOptions, address+"/", "", "", "Origin", "https://evil.example",
		"Access-Control-Request-Method", "POST", "Access-Control-Request-Headers", "x-clickhouse-key")
	require.Equal(t, 403, preflight.status)
	require.Empty(t, preflight.header.Get("Access-Control-Allow-Origin"))
}

func TestWhoKnowsTheTokenIsServed(t *testing.T) {
	t.Parallel()
	address, token := server(t)
	for name, tt := range map[string]struct{ host, header, value string }{
		"in ClickHouse's header": {"", "X-ClickHouse-Key", token},
		"through a proxy":        {"localhost:8124", "X-ClickHouse-Key", token},
		"over IPv6":              {"[::1]:8123", "X-ClickHouse-Key", token},
	} {
		got := from(t, http.MethodPost, address+"/", tt.host, "SELECT 'r'||'an'", tt.header, tt.value)
		require.Equal(t, 200, got.status, "%s: %s", name, got.body)
		require.Contains(t, got.body, "ran", name)
	}
	require.Equal(t, 200, from(t, http.MethodPost, strings.Replace(address, "://", "://default:"+token+"@", 1)+"/", "", "SELECT 1").status)
	require.Equal(t, 200, from(t, http.MethodGet, address+"/ping", "", "").status, "readiness is no secret")
}

// outward are statements that read or write a file, run a program, connect to the listener or get
// more rights, on an engine that allows it.
var outward = []string{
	// Table functions.
	"SELECT * FROM file('FILE', 'LineAsString')", "SELECT * FROM url('HTTP/x', 'LineAsString')",
	"SELECT * FROM fileCluster('default', 'FILE', 'LineAsString')", "SELECT * FROM urlCluster('default', 'HTTP/x', 'LineAsString')",
	"SELECT * FROM s3('HTTP/bucket/x', 'LineAsString')", "SELECT * FROM gcs('HTTP/bucket/x', 'LineAsString')",
	"SELECT * FROM azureBlobStorage('DefaultEndpointsProtocol=http;AccountName=a;AccountKey=aaaa;BlobEndpoint=HTTP/', 'c', 'x')",
	"SELECT * FROM hdfs('hdfs://HOST/x', 'LineAsString')", "SELECT * FROM remote('HOST', 'system', 'one')",
	"SELECT * FROM remoteSecure('HOST', 'system', 'one')", "SELECT * FROM cluster('default', 'system', 'one')",
	"SELECT * FROM mysql('HOST', 'a', 'b', 'c', 'd')", "SELECT * FROM postgresql('HOST', 'a', 'b', 'c', 'd')",
	"SELECT * FROM mongodb('HOST', 'a', 'b', 'c', 'd', 'x String')", "SELECT * FROM redis('HOST', 'k', 'k String, v String')",
	"SELECT * FROM sqlite('OUT.db', 't')", "SELECT * FROM odbc('DSN=x', 'a', 'b')", "SELECT * FROM jdbc('jdbc:x://HOST', 'a', 'b')",
	"SELECT * FROM executable('id', 'LineAsString', 'x String')", "SELECT * FROM filesystem('DIR')",
	"SELECT * FROM iceberg('HTTP/bucket/x', 'a', 'b')", "SELECT * FROM icebergLocal('DIR')", "SELECT * FROM deltaLake('HTTP/bucket/x', 'a', 'b')",
	"SELECT * FROM deltaLakeLocal('DIR')", "SELECT * FROM hudi('HTTP/bucket/x', 'a', 'b')", "SELECT * FROM paimonLocal('DIR')",
	"SELECT * FROM ytsaurus('HTTP', '//x', 'y', 'a String')",
	"SELECT * FROM view(SELECT * FROM file('FILE', 'LineAsString'))", "SELECT * FROM loop(file('FILE', 'LineAsString')) LIMIT 1",
	"SELECT * FROM eval('SELECT fi'||'le(\\'FILE\\')')", "SELECT * FROM eval('SELECT 1') SETTINGS allow_experimental_eval_table_function = 1",
	"DESCRIBE TABLE file('FILE', 'CSV')", "EXPLAIN SELECT * FROM file('FILE', 'LineAsString')",
	"INSERT INTO FUNCTION file('OUT', 'TSV', 'x String') SELECT 'x'", "INSERT INTO FUNCTION url('HTTP/', 'TSV', 'x String') SELECT 'x'",
	// A file's name is a table's name in the database default.
	"SELECT * FROM default.`FILE`", "SELECT * FROM default.\"FILE\"", "INSERT INTO default.`FILE` SELECT 'x'", "TRUNCATE TABLE default.`FILE`",
	"DROP TABLE default.`FILE`", "DESCRIBE TABLE default.`FILE`", "CREATE VIEW v AS SELECT * FROM default.`FILE`",
	// The function, by its name in whatever form.
	"SELECT file('FILE')", "SELECT `file`('FILE')", "SELECT \"file\"('FILE')", "SELECT `fi\\x6ce`('FILE')", "SELECT “file”('FILE')",
	"SELECT /* ' */ file('FILE') -- '", "SELECT ‘'’, file('FILE'), ‘'’", "SELECT file\u00a0('FILE')", "SELECT file\n(\t'FILE')",
	// Strings that end elsewhere than they seem to.
	`SELECT x'\', file('FILE'), ''`, `SELECT X'\', file('FILE'), ''`, `SELECT b'\', file('FILE'), ''`, `SELECT 'a\\', file('FILE'), ''`,
	`SELECT \'\'\', file('FILE'), ''`, `SELECT '''', file('FILE'), ''`, `SELECT 'a''\\', file('FILE'), ''`, `SELECT 'é', file('FILE'), 'é'`,
	`SELECT $$'$$, file('FILE'), '$$'`, "SELECT '1'--'\n, file('FILE'), ''", "SELECT '1' # '\n, file('FILE'), ''",
	`SELECT "'", file('FILE'), "'" FROM (SELECT 1 AS "'")`, "SELECT `'`, file('FILE'), `'` FROM (SELECT 1 AS `'`)",
	"SELECT arrayMap(file, ['FILE'])", "SELECT arrayMap(x -> file(x), ['FILE'])", "SELECT * APPLY(file) FROM (SELECT 'FILE')",
	"SELECT * APPLY file FROM (SELECT 'FILE')", "WITH (x -> file(x)) AS f SELECT f('FILE')", "EXPLAIN SELECT file('FILE')",
	"CREATE TABLE d (x String DEFAULT file('FILE')) ENGINE = Memory", "ALTER TABLE t ADD COLUMN y String DEFAULT file('FILE')",
	"CREATE VIEW v AS SELECT file('FILE')", "INSERT INTO t VALUES (file('FILE'))", "INSERT INTO t SELECT file('FILE')",
	"SELECT * FROM format(Values, 'x String', $$(file('FILE'))$$)", "ALTER TABLE t UPDATE x = file('FILE') WHERE 1",
	// Files named by the query itself.
	"SELECT 'x' INTO OUTFILE 'OUT'", "SELECT 'x' INTO/**/OUTFILE 'OUT' FORMAT TSV", "SELECT 'x' INTO\u00a0OUTFILE 'OUT'",
	"SELECT ‘'’ INTO OUTFILE 'OUT' -- '", "INSERT INTO t FROM INFILE 'FILE' FORMAT LineAsString",
	"INSERT INTO t(x) FROM/**/INFILE 'FILE' FORMAT LineAsString", "INSERT INTO t FROM\u2003INFILE 'FILE' FORMAT LineAsString",
	// Engines of tables and databases.
	"CREATE TABLE e (x String) ENGINE = File(LineAsString, 'FILE')", "CREATE TABLE e (x String) ENGINE File(LineAsString, 'FILE')",
	"CREATE TABLE e (x String) ENGINE = URL('HTTP/x', LineAsString)", "CREATE TABLE e (x String) ENGINE = S3('HTTP/bucket/x', LineAsString)",
	"CREATE TABLE e (x String) ENGINE = SQLite('OUT.db', 't')", "CREATE TABLE e (x String) ENGINE = Executable('id', LineAsString)",
	"CREATE TABLE e (x String) ENGINE = ExecutablePool('id', LineAsString)", "CREATE TABLE e (x String) ENGINE = FileLog('FILE', 'LineAsString')",
	"CREATE TABLE e (x String) ENGINE = EmbeddedRocksDB(0, 'OUT') PRIMARY KEY x", "CREATE TABLE e (x String) ENGINE = `EmbeddedRocksDB`(0, 'OUT') PRIMARY KEY x",
	"CREATE TABLE e (x String) ENGINE = Distributed('default', 'system', 'one')", "CREATE TABLE e (x String) ENGINE = MySQL('HOST', 'a', 'b', 'c', 'd')",
	"CREATE TABLE e (x String) ENGINE = Kafka('HOST', 'a', 'b', 'TSV')", "CREATE TABLE e (x String) ENGINE = Redis('HOST') PRIMARY KEY x",
	"CREATE TABLE e (x String) ENGINE = IcebergLocal('DIR')", "CREATE TABLE e AS file('FILE', 'LineAsString')", "CREATE TABLE e AS url('HTTP/x', 'LineAsString')",
	"CREATE TEMPORARY TABLE e (x String) ENGINE = File(LineAsString, 'FILE')", "CREATE MATERIALIZED VIEW e ENGINE = FileLog('DIR', 'TSV') AS SELECT 1 AS x",
	"ATTACH TABLE e UUID '00000000-0000-4000-8000-000000000001' (x String) ENGINE = File(LineAsString, 'FILE')",
	"ATTACH TABLE e FROM 'DIR/' (x String) ENGINE = MergeTree ORDER BY x",
	"CREATE TABLE e (x String) ENGINE = MergeTree ORDER BY x SETTINGS disk = disk(type = 'web', endpoint = 'HTTP/')",
	"CREATE TABLE e (x String) ENGINE = MergeTree ORDER BY x SETTINGS disk = disk(type = 'local', path = 'OUT/')",
	"ALTER TABLE t MODIFY SETTING disk = disk(type = 'web', endpoint = 'HTTP/')",
	"CREATE DATABASE e ENGINE = Filesystem('DIR')", "CREATE DATABASE e ENGINE = SQLite('OUT.db')", "CREATE DATABASE e ENGINE = S3('HTTP/')",
	"CREATE DATABASE e ENGINE = MySQL('HOST', 'a', 'b', 'c')", "CREATE DATABASE e ENGINE = PostgreSQL('HOST', 'a', 'b', 'c')",
	"CREATE DATABASE e ENGINE = HDFS('hdfs://HOST')", "CREATE DATABASE e ENGINE = DataLakeCatalog('HTTP/v1') SETTINGS catalog_type = 'rest', warehouse = 'x'",
	"CREATE DATABASE e ENGINE = Backup('default', File('OUT'))",
	// Dictionaries, backups, and attempts to get more rights.
	"CREATE DICTIONARY e (id UInt64, x String) PRIMARY KEY id SOURCE(FILE(path 'FILE' format 'TSV')) LAYOUT(FLAT()) LIFETIME(0)",
	"CREATE DICTIONARY e (id UInt64, x String) PRIMARY KEY id SOURCE(HTTP(url 'HTTP/' format 'TSV')) LAYOUT(FLAT()) LIFETIME(0)",
	"CREATE DICTIONARY e (id UInt64, x String) PRIMARY KEY id SOURCE(EXECUTABLE(command 'id' format 'TSV')) LAYOUT(FLAT()) LIFETIME(0)",
	"BACKUP TABLE t TO File('OUT')", "BACKUP TABLE t TO Disk('default', 'OUT')", "BACKUP TABLE t TO S3('HTTP/bucket/x')",
	"RESTORE TABLE t FROM File('FILE')", "CREATE NAMED COLLECTION e AS url = 'HTTP/'", "CREATE FUNCTION e AS (x) -> x", "CREATE USER e",
	"GRANT READ ON FILE TO default", "GRANT ALL ON *.* TO default", "SYSTEM SHUTDOWN", "EXECUTE AS default SELECT 1",
	"CREATE VIEW v DEFINER = default SQL SECURITY NONE AS SELECT 1",
	// Settings that name files or turn the rest on.
	"SELECT 1 FORMAT Template SETTINGS format_template_resultset = 'FILE'", "SELECT 1 FORMAT Template SETTINGS format_template_row = 'FILE'",
	"SELECT 1 FORMAT Protobuf SETTINGS format_schema = 'FILE:Message'", "SET format_schema = 'FILE:Message'", "SET implicit_select = 1",
	"SET allow_experimental_ai_functions = 1", "SET input_format_values_interpret_expressions = 1",
}

func TestQueriesStayInside(t *testing.T) {
	t.Parallel()
	var reached atomic.Int64
	listener := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Add(1) }))
	t.Cleanup(listener.Close)
	dir := t.TempDir()
	secret, out := filepath.Join(dir, "secret.csv"), filepath.Join(dir, "out")
	require.NoError(t, os.WriteFile(secret, []byte("hidden\n"), 0o600))
	at := base(t)
	run := func(sql string, more ...string) reply { return send(t, "POST", at, strings.Join(more, ""), sql) }
	require.Equal(t, 200, run("CREATE TABLE t (x String) ENGINE = MergeTree ORDER BY x").status)
	fill := strings.NewReplacer("FILE", secret, "DIR", dir, "OUT", out, "HTTP", listener.URL, "HOST", strings.TrimPrefix(listener.URL, "http://")).Replace
	for _, sql := range outward {
		got := run(fill(sql))
		require.NotEqual(t, 200, got.status, "%s\n%s", sql, got.body)
		require.NotContains(t, got.body, "hidden", sql)
	}
	for _, more := range []string{"&format_template_resultset=" + secret, "&input_format_values_interpret_expressions=1", "&allow_experimental_eval_table_function=1"} {
		require.NotEqual(t, 200, run("SELECT 1", more).status, more)
	}
	for _, name := range []string{"file", "fi%5Cx6ce", "FILE"} {
		got := run(fill("SELECT arrayMap({f:Identifier}, ['FILE'])"), "&param_f="+name)
		require.NotEqual(t, 200, got.status, name)
		require.NotContains(t, got.body, "hidden", name)
	}
	require.Zero(t, reached.Load(), "a query reached the listener")
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, left, 1, "a query left a file")
	text, err := os.ReadFile(secret)
	require.NoError(t, err)
	require.Equal(t, "hidden\n", string(text))
	require.Equal(t, "0\n", run("SELECT count() FROM t").body)
}

// Queries that only look like attacks are served.
func TestHarmlessQueriesAreServed(t *testing.T) {
	t.Parallel()
	at := base(t)
	for _, tt := range []struct{ sql, want string }{
		{"SELECT 'INTO OUTFILE', 'file(1)', 'ENGINE = File'", "INTO OUTFILE\tfile(1)\tENGINE = File\n"},
		{"SELECT 'it\\'s a file', \"dummy\" FROM system.one", "it\\'s a file\t0\n"},
		{"SELECT count() FROM system.tables WHERE engine = 'File'", "0\n"},
		{"SELECT 1 AS profile, 2 AS file_name, 3 AS disk_name", "1\t2\t3\n"},
		{"SELECT {p:String}", "file\n"},
		{"SELECT number FROM numbers(1)", "0\n"},
		{"SELECT * FROM values('x Int8', -1)", "-1\n"},
		{"CREATE TABLE m (engine String, outfile String) ENGINE Memory", ""},
		{"INSERT INTO m VALUES ('file', 'SELECT file(1)'), ('it\\'s', '\\x41')", ""},
		{"SELECT engine, outfile FROM m WHERE engine IN ('file', 'disk')", "file\tSELECT file(1)\n"},
	} {
		got := send(t, "POST", at, "&param_p=file", tt.sql)
		require.Equal(t, 200, got.status, "%s\n%s", tt.sql, got.body)
		require.Equal(t, tt.want, got.body, tt.sql)
	}
}
