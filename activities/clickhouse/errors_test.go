package clickhouse_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"axiommind/activities/clickhouse"
	"axiommind/deploy/local/stacktest"
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
	_, err = clickhouse.Connect(ctx, "http://user:secret@"+address+"/default", clickhouse.ConnectOptions{})
	require.ErrorContains(t, err, "reach clickhouse at "+address+": ")
	require.ErrorContains(t, err, "connection refused")
	require.NotContains(t, err.Error(), "client_protocol_version")
	require.NotContains(t, err.Error(), "secret")
	require.True(t, clickhouse.Retryable(err))

	refuses := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-ClickHouse-Exception-Code", "516")
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = w.Write([]byte("Code: 516. DB::Exception: wrong password. (AUTHENTICATION_FAILED)"))
	}))
	defer refuses.Close()
	_, err = clickhouse.Connect(ctx, refuses.URL+"/default", clickhouse.ConnectOptions{})
	require.True(t, clickhouse.Refused(err))
	require.ErrorContains(t, err, "wrong password")
	require.NotContains(t, err.Error(), "server hello")
	require.NotContains(t, err.Error(), "sendQuery")
}

// Whatever the server or the driver quotes of a row or a query, the text for people, logs and Temporal contains the
// reason and no message's text.
func TestReadableQuotesNoText(t *testing.T) {
	t.Parallel()
	conn := connect(t, stacktest.Database(t))
	require.NoError(t, conn.Exec(t.Context(), "CREATE TABLE said (id UInt64, text String, at DateTime64(6), kind Enum8('a' = 1), "+
		"CONSTRAINT short CHECK length(text) < 5) ENGINE = MergeTree ORDER BY id"))
	const text = `open "SESAME"; it's (SESAME) in scope SESAME \ 'SESAME'`
	quoted := "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(text) + "'"
	insert := func(row ...any) error {
		batch, err := conn.PrepareBatch(t.Context(), "INSERT INTO said (id, text, at, kind)")
		require.NoError(t, err)
		defer func() { _ = batch.Abort() }()
		if err := batch.Append(row...); err != nil {
			return err
		}
		return batch.Send()
	}
	exec := func(sql string, args ...any) error { return conn.Exec(t.Context(), sql, args...) }
	now := time.Now()
	for _, c := range []struct {
		err  error
		want string
		// known says that the error holds no text as it is.
		known bool
	}{
		{insert(uint64(1), text, now, "a"), "Constraint `short` for table test_", false},
		{insert(uint64(1), "b", text, "a"), "at parsing time", false},
		{insert(uint64(1), "b", now, text), "(kind Enum8('a' = 1)) unknown element", false},
		{insert(text, "b", now, "a"), "converting string to UInt64 is unsupported", true},
		{exec("INSERT INTO said (id, text) VALUES (1, " + quoted + ")"), "is violated at row 1 (VIOLATED_CONSTRAINT)", false},
		{exec("INSERT INTO said (id) VALUES (" + text + ")"), "(SYNTAX_ERROR)", false},
		{exec("INSERT INTO said (id) VALUES (" + quoted + ")"), "Interpreting expressions is disabled", true},
		{exec("INSERT INTO said (id) SELECT " + quoted), "(CANNOT_PARSE_TEXT)", false},
		{exec("INSERT INTO said (id, kind) SELECT 1, ?", text), "(UNKNOWN_ELEMENT_OF_ENUM)", false},
		{exec("SELECT toUUID(?)", text), "(CANNOT_PARSE_UUID)", false},
		{exec("SELECT throwIf(1, ?)", text), "(FUNCTION_THROW_IF_VALUE_IS_NON_ZERO)", false},
		{exec("SELECT match('a', ?)", text+"("), "(CANNOT_COMPILE_REGEXP)", false},
		{exec("SELECT 1 FROM said WHERE id IN (?)", text), "(TYPE_MISMATCH)", false},
		{exec("SELECT 1 FROM said WHERE at > ?", text), "(CANNOT_PARSE_DATETIME)", false},
		{exec("SELECT id + ? FROM said", text), "(ILLEGAL_TYPE_OF_ARGUMENT)", false},
		{exec("SELECT 1 FROM said WHERE text = my SESAME words"), "Syntax error: failed at position 36 (SYNTAX_ERROR)", false},
		{exec("SELECT '" + text), "(SYNTAX_ERROR)", false},
		{exec("SELECT nothing FROM said WHERE text = ?", text), "Unknown expression identifier `nothing` (UNKNOWN_IDENTIFIER)", false},
		{exec("SELECT 1 FROM nothing WHERE text = ?", text), "Unknown table expression identifier 'nothing' (UNKNOWN_TABLE)", false},
		{exec("SELECT 1 FROM said WHERE text = ? SETTINGS nothing = 1", text), "Unknown setting 'nothing' (UNKNOWN_SETTING)", false},
		{exec("SELECT length(?, 2)", text), "Number of arguments for function length doesn't match: passed 2, should be 1 (NUMBER", false},
		{exec("SELECT sleepEachRow(2), ? SETTINGS max_execution_time = 1", text), "Timeout exceeded: elapsed", true},
		{exec("SELECT ?, groupArray(number) FROM numbers(1000000000) SETTINGS max_memory_usage = 1000000", text), "memory limit exceeded", true},
	} {
		require.Error(t, c.err, c.want)
		if !c.known {
			require.Contains(t, c.err.Error(), "SESAME", "%s: this error shows nothing", c.want)
		}
		for _, err := range []error{c.err, fmt.Errorf("append: %w", c.err), errors.Join(errors.New("and"), fmt.Errorf("b: %w", c.err))} {
			readable := clickhouse.Readable(err)
			require.NotContains(t, fmt.Sprintf("%+v", readable), "SESAME")
			require.ErrorContains(t, readable, c.want)
			require.Equal(t, readable.Error(), clickhouse.Readable(readable).Error())
			require.Equal(t, clickhouse.Retryable(err), clickhouse.Retryable(readable))
			require.Equal(t, clickhouse.Refused(err), clickhouse.Refused(readable))
		}
	}
	both := clickhouse.Readable(errors.Join(insert(uint64(1), text, now, "a"), exec("SELECT toUUID(?)", text)))
	require.NotContains(t, both.Error(), "SESAME")
	require.ErrorContains(t, both, "VIOLATED_CONSTRAINT")
	require.ErrorContains(t, both, "CANNOT_PARSE_UUID")
}

// The text of an exception with an unknown code is left out.
func TestReadableOfUnknownCodes(t *testing.T) {
	t.Parallel()
	for code, message := range map[int32]string{9999: "SESAME. (NEW_THING) (version 30.1.2.3 (official build))", 9998: "SESAME"} {
		err := clickhouse.Readable(&clickhouse.Exception{Code: code, Message: message})
		require.NotContains(t, err.Error(), "SESAME")
		require.ErrorContains(t, err, fmt.Sprint(code))
		require.ErrorContains(t, err, "see ClickHouse's log")
	}
}
