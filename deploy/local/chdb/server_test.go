package chdb_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"axiommind/deploy/local/stacktest"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
)

func TestMain(m *testing.M) { stacktest.Main(m) }

func open(t *testing.T, change ...func(*clickhouse.Options)) driver.Conn {
	t.Helper()
	opts, err := clickhouse.ParseDSN(stacktest.Database(t))
	require.NoError(t, err)
	for _, c := range change {
		c(opts)
	}
	conn, err := clickhouse.Open(opts)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

type everyType struct {
	ID      uint64            `ch:"id"`
	Text    string            `ch:"text"`
	Kind    string            `ch:"kind"`
	Milli   time.Time         `ch:"milli"`
	Micro   time.Time         `ch:"micro"`
	Signed  int64             `ch:"signed"`
	Float   float64           `ch:"float"`
	Flag    bool              `ch:"flag"`
	UUID    uuid.UUID         `ch:"uuid"`
	List    []string          `ch:"list"`
	Labels  []string          `ch:"labels"`
	Maybe   *string           `ch:"maybe"`
	MaybeLC *string           `ch:"maybe_lc"`
	Map     map[string]string `ch:"map"`
	Vector  []float32         `ch:"vector"`
}

const everyTypeDDL = `CREATE TABLE every_type (
	id UInt64, text String, kind LowCardinality(String), milli DateTime64(3, 'UTC'), micro DateTime64(6, 'UTC'),
	signed Int64, float Float64, flag Bool, uuid UUID, list Array(String), labels Array(LowCardinality(String)),
	maybe Nullable(String), maybe_lc LowCardinality(Nullable(String)), map Map(String, String), vector Array(Float32)
) ENGINE = MergeTree ORDER BY id`

func TestTypes(t *testing.T) {
	t.Parallel()
	conn := open(t)
	ctx := t.Context()
	require.NoError(t, conn.Exec(ctx, everyTypeDDL))
	word := "단어 \x00\t'\\"
	want := []everyType{
		{ID: 1, Text: "", Kind: "", Milli: time.UnixMilli(0).UTC(), Micro: time.UnixMicro(1).UTC(), List: []string{},
			Labels: []string{}, Map: map[string]string{}, Vector: []float32{}},
		{ID: 1<<64 - 1, Text: word, Kind: "中文", Milli: time.UnixMilli(1_700_000_000_123).UTC(),
			Micro: time.UnixMicro(1_700_000_000_123_456).UTC(), Signed: -1 << 63, Float: -0.1, Flag: true,
			UUID: uuid.New(), List: []string{"", word}, Labels: []string{"a", "b", "a"}, Maybe: &word, MaybeLC: &word,
			Map: map[string]string{"k": word, "": ""}, Vector: []float32{1.5, -2}},
	}
	batch, err := conn.PrepareBatch(ctx, "INSERT INTO every_type")
	require.NoError(t, err)
	defer func() { _ = batch.Close() }()
	for _, row := range want {
		require.NoError(t, batch.AppendStruct(&row))
	}
	require.NoError(t, batch.Send())
	var got []everyType
	require.NoError(t, conn.Select(ctx, &got, "SELECT * FROM every_type ORDER BY id"))
	require.Equal(t, want, got)
	got = nil
	require.NoError(t, conn.Select(ctx, &got, "SELECT * FROM every_type WHERE id = 7"))
	require.Empty(t, got)
}

func TestParameters(t *testing.T) {
	t.Parallel()
	conn := open(t)
	for _, text := range []string{"", "plain", "tab\tnewline\nquote'back\\slash", "한국어 {x:String}", "-- ; /*", "\x01"} {
		ctx := clickhouse.Context(t.Context(), clickhouse.WithParameters(clickhouse.Parameters{"a": escaped(text), "n": "42"}))
		var got string
		var n uint64
		require.NoError(t, conn.QueryRow(ctx, "SELECT {a:String}, {n:UInt64}").Scan(&got, &n))
		require.Equal(t, text, got)
		require.EqualValues(t, 42, n)

		require.NoError(t, conn.QueryRow(t.Context(), "SELECT ?, ?", text, []string{text, "x"}).Scan(&got, new([]string)))
		require.Equal(t, text, got)
	}
	var list []string
	ctx := clickhouse.Context(t.Context(), clickhouse.WithParameters(clickhouse.Parameters{"ids": `['a','b\'c']`}))
	require.NoError(t, conn.QueryRow(ctx, "SELECT {ids:Array(String)}").Scan(&list))
	require.Equal(t, []string{"a", "b'c"}, list)
}

// escaped is how the HTTP interface wants the value of a parameter.
func escaped(s string) string {
	return strings.NewReplacer(`\`, `\\`, "\t", `\t`, "\n", `\n`).Replace(s)
}

func TestSettingsStayWithTheirRequest(t *testing.T) {
	t.Parallel()
	conn := open(t)
	read := func(ctx context.Context) (n uint64) {
		require.NoError(t, conn.QueryRow(ctx, "SELECT toUInt64(getSetting('max_block_size'))").Scan(&n))
		return n
	}
	normal := read(t.Context())
	ctx := clickhouse.Context(t.Context(), clickhouse.WithSettings(clickhouse.Settings{"max_block_size": 77}))
	require.EqualValues(t, 77, read(ctx))
	require.Equal(t, normal, read(t.Context()))
}

func TestErrors(t *testing.T) {
	t.Parallel()
	conn := open(t)
	require.NoError(t, conn.Exec(t.Context(), "CREATE TABLE numbers (n UInt8) ENGINE = MergeTree ORDER BY n"))
	tests := []struct {
		sql    string
		code   int32
		status int
	}{
		{"SELECT * FROM absent", 60, http.StatusNotFound},
		{"SELEC 1", 62, http.StatusBadRequest},
		{"SELECT absent FROM numbers", 47, http.StatusNotFound},
		{"SELECT 1 SETTINGS absent = 1", 115, http.StatusNotFound},
		{"SELECT * FROM absent.absent", 81, http.StatusNotFound},
		{"SELECT absent()", 46, http.StatusNotFound},
		{"SELECT 1; SELECT 2", 62, http.StatusBadRequest},
		{"SELECT toUInt8('x')", 6, http.StatusBadRequest},
		{"INSERT INTO absent VALUES (1)", 60, http.StatusNotFound},
		{"CREATE TABLE numbers (n UInt8) ENGINE = Memory", 57, http.StatusInternalServerError},
		{"SELECT throwIf(1)", 395, http.StatusInternalServerError},
		{"SELECT sleepEachRow(1) FROM numbers(5) SETTINGS max_execution_time = 0.2, max_block_size = 1", 159, http.StatusRequestTimeout},
		{"DROP DATABASE default", 48, http.StatusNotImplemented},
	}
	for _, tt := range tests {
		t.Run(tt.sql, func(t *testing.T) {
			t.Parallel()
			rows, err := conn.Query(t.Context(), tt.sql)
			if err == nil {
				rows.Next()
				err = rows.Err()
				require.NoError(t, rows.Close())
			}
			var exception *clickhouse.Exception
			require.ErrorAs(t, err, &exception)
			require.Equal(t, tt.code, exception.Code, "%v", err)
			if status := new(clickhouse.HTTPError); errors.As(err, &status) {
				require.Equal(t, tt.status, status.StatusCode)
			}
		})
	}
}

func TestErrorAfterRowsWereSent(t *testing.T) {
	t.Parallel()
	rows, err := open(t).Query(t.Context(), "SELECT number, throwIf(number = 500000) FROM numbers(1000000) SETTINGS max_block_size = 1000")
	require.NoError(t, err)
	defer func() { _ = rows.Close() }()
	seen := 0
	for rows.Next() {
		seen++
	}
	var exception *clickhouse.Exception
	require.ErrorAs(t, rows.Err(), &exception)
	require.EqualValues(t, 395, exception.Code)
	require.Greater(t, seen, 100_000)
}

func TestAnswerWithoutEndIsStreamed(t *testing.T) {
	t.Parallel()
	conn := open(t)
	ctx, cancel := context.WithCancel(t.Context())
	rows, err := conn.Query(ctx, "SELECT number FROM system.numbers")
	require.NoError(t, err)
	for i := range uint64(1_000_000) {
		require.True(t, rows.Next())
		var n uint64
		require.NoError(t, rows.Scan(&n))
		require.Equal(t, i, n)
	}
	cancel()
	_ = rows.Close()
	require.Eventually(t, func() bool { return running(t, conn, "FROM system.numbers") == 0 }, 10*time.Second, 20*time.Millisecond)
}

func TestAbandonedQueryEnds(t *testing.T) {
	t.Parallel()
	conn := open(t)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- conn.Exec(ctx, "SELECT count() FROM system.numbers_mt WHERE number % 7 = 8") }()
	require.Eventually(t, func() bool { return running(t, conn, "numbers_mt WHERE") == 1 }, 10*time.Second, 10*time.Millisecond)
	cancel()
	require.ErrorIs(t, <-done, context.Canceled)
	require.Eventually(t, func() bool { return running(t, conn, "numbers_mt WHERE") == 0 }, 10*time.Second, 20*time.Millisecond)
}

func running(t *testing.T, conn driver.Conn, part string) (n uint64) {
	t.Helper()
	sql := "SELECT count() FROM system.processes WHERE position(query, ?) > 0 AND position(query, 'system.processes') = 0"
	require.NoError(t, conn.QueryRow(t.Context(), sql, part).Scan(&n))
	return n
}

func TestHundredThousandRows(t *testing.T) {
	t.Parallel()
	const rows = 100_000
	conn := open(t)
	ctx := t.Context()
	require.NoError(t, conn.Exec(ctx, `CREATE TABLE events (seq UInt64, kind LowCardinality(String), payload String,
		at DateTime64(3, 'UTC')) ENGINE = MergeTree ORDER BY seq`))
	batch, err := conn.PrepareBatch(ctx, "INSERT INTO events")
	require.NoError(t, err)
	defer func() { _ = batch.Close() }()
	at := time.UnixMilli(1_700_000_000_000)
	for i := range uint64(rows) {
		require.NoError(t, batch.Append(i, fmt.Sprintf("kind%d", i%20), fmt.Sprintf(`{"n":%d,"text":"%064d"}`, i, i), at))
	}
	start := time.Now()
	require.NoError(t, batch.Send())
	sent := time.Since(start)
	start = time.Now()
	answer, err := conn.Query(ctx, "SELECT seq, kind, payload, at FROM events ORDER BY seq")
	require.NoError(t, err)
	defer func() { _ = answer.Close() }()
	var next uint64
	for answer.Next() {
		var seq uint64
		var kind, payload string
		var when time.Time
		require.NoError(t, answer.Scan(&seq, &kind, &payload, &when))
		require.Equal(t, next, seq)
		next++
	}
	require.NoError(t, answer.Err())
	require.EqualValues(t, rows, next)
	t.Logf("inserted %d rows in %v, read them in %v", rows, sent, time.Since(start))
}

// Names that contain the name of a forbidden function are allowed, also where rows are inserted.
func TestInsertIntoHarmlessName(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	conn := open(t)
	require.NoError(t, conn.Exec(ctx, "CREATE TABLE memory_files_raw (file_name String) ENGINE = Memory"))
	batch, err := conn.PrepareBatch(ctx, "INSERT INTO memory_files_raw (file_name)")
	require.NoError(t, err)
	require.NoError(t, batch.Append("a"))
	require.NoError(t, batch.Send())
	var name string
	require.NoError(t, conn.QueryRow(ctx, "SELECT file_name FROM memory_files_raw").Scan(&name))
	require.Equal(t, "a", name)
}

func TestConcurrentQueriesAndInserts(t *testing.T) {
	t.Parallel()
	conn := open(t, func(o *clickhouse.Options) { o.MaxOpenConns, o.MaxIdleConns = 50, 50 })
	require.NoError(t, conn.Exec(t.Context(), "CREATE TABLE mixed (worker UInt64, n UInt64) ENGINE = MergeTree ORDER BY (worker, n)"))
	group, ctx := errgroup.WithContext(t.Context())
	for worker := range uint64(50) {
		group.Go(func() error {
			for n := range uint64(4) {
				batch, err := conn.PrepareBatch(ctx, "INSERT INTO mixed")
				if err != nil {
					return err
				}
				if err := errors.Join(batch.Append(worker, n), batch.Send(), batch.Close()); err != nil {
					return err
				}
				var got, echo uint64
				own := clickhouse.Context(ctx, clickhouse.WithParameters(clickhouse.Parameters{"w": fmt.Sprint(worker)}))
				if err := conn.QueryRow(own, "SELECT count(), {w:UInt64} FROM mixed WHERE worker = {w:UInt64}").Scan(&got, &echo); err != nil {
					return err
				}
				if got != n+1 || echo != worker {
					return fmt.Errorf("worker %d reads %d rows of worker %d after %d inserts", worker, got, echo, n+1)
				}
			}
			return nil
		})
	}
	require.NoError(t, group.Wait())
}

func TestCompression(t *testing.T) {
	t.Parallel()
	for _, method := range []clickhouse.CompressionMethod{clickhouse.CompressionLZ4, clickhouse.CompressionZSTD,
		clickhouse.CompressionGZIP, clickhouse.CompressionDeflate, clickhouse.CompressionBrotli} {
		t.Run(method.String(), func(t *testing.T) {
			t.Parallel()
			conn := open(t, func(o *clickhouse.Options) {
				o.Compression = &clickhouse.Compression{Method: method, Level: 3}
				o.Settings = clickhouse.Settings{"enable_http_compression": 1}
			})
			ctx := t.Context()
			require.NoError(t, conn.Exec(ctx, "CREATE TABLE packed (n UInt64, s String) ENGINE = MergeTree ORDER BY n"))
			batch, err := conn.PrepareBatch(ctx, "INSERT INTO packed")
			require.NoError(t, err)
			defer func() { _ = batch.Close() }()
			for i := range uint64(30_000) {
				require.NoError(t, batch.Append(i, strings.Repeat("x", int(i%50))))
			}
			require.NoError(t, batch.Send())
			var got []struct {
				N uint64 `ch:"n"`
				S string `ch:"s"`
			}
			require.NoError(t, conn.Select(ctx, &got, "SELECT n, s FROM packed ORDER BY n"))
			require.Len(t, got, 30_000)
			require.Len(t, got[29_999].S, 49)
			err = conn.Exec(ctx, "SELECT * FROM absent")
			var exception *clickhouse.Exception
			require.ErrorAs(t, err, &exception)
			require.EqualValues(t, 60, exception.Code)
		})
	}
}

// The engine works on every thread it may be called on.
func TestManyStatementsAtOnce(t *testing.T) {
	t.Parallel()
	conn := open(t)
	var group errgroup.Group
	for n := range uint64(16) {
		group.Go(func() error {
			for range 20 {
				var got uint64
				if err := conn.QueryRow(t.Context(), "SELECT toUInt64(?) + count() FROM numbers(1000)", n).Scan(&got); err != nil {
					return err
				}
			}
			return nil
		})
	}
	require.NoError(t, group.Wait())
}
