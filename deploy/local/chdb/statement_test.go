package chdb

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParseStatement(t *testing.T) {
	t.Parallel()
	tests := []struct {
		sql, verb, format string
		// head and rows are the two parts of an INSERT.
		head, rows string
	}{
		{sql: "", verb: ""},
		{sql: "select 1", verb: "SELECT"},
		{sql: "(SELECT 1)", verb: "("},
		{sql: "  -- first\n/* FORMAT CSV */ WITH 1 AS x SELECT x FORMAT JSON ; ", verb: "WITH", format: "JSON"},
		{sql: "SELECT format FROM t", verb: "SELECT"},
		{sql: "SELECT 1 AS format", verb: "SELECT"},
		{sql: "SELECT 'FORMAT CSV'", verb: "SELECT"},
		{sql: "SELECT a.format, format b", verb: "SELECT"},
		{sql: "SELECT 1 FORMAT CSV SETTINGS max_threads = 1", verb: "SELECT", format: "CSV"},
		{sql: "SELECT * FROM (SELECT 1 FORMAT Null)", verb: "SELECT"},
		{sql: "SELECT $$;$$, $a$ ' $a$", verb: "SELECT"},
		{sql: `SELECT "a;b", ` + "`c;d`, 'e''f;', 'g\\';'", verb: "SELECT"},
		{sql: "INSERT INTO t FORMAT TSV\n1\t2", verb: "INSERT", format: "TSV", head: "INSERT INTO t ", rows: "1\t2"},
		{sql: "INSERT INTO t FORMAT Native", verb: "INSERT", format: "Native", head: "INSERT INTO t "},
		{sql: "insert into `t` (a, `values`) values (1)", verb: "INSERT", format: "Values", head: "insert into `t` (a, `values`) ", rows: " (1)"},
		{sql: "INSERT INTO values (select) VALUES (1)", verb: "INSERT", format: "Values", head: "INSERT INTO values (select) ", rows: " (1)"},
		{sql: "INSERT INTO format.values VALUES (1)", verb: "INSERT", format: "Values", head: "INSERT INTO format.values ", rows: " (1)"},
		{sql: "INSERT INTO TABLE FUNCTION null('x Int8') VALUES (1)", verb: "INSERT", format: "Values",
			head: "INSERT INTO TABLE FUNCTION null('x Int8') ", rows: " (1)"},
		{sql: "INSERT INTO t SETTINGS async_insert = 0 FORMAT CSV 1", verb: "INSERT", format: "CSV", head: "INSERT INTO t SETTINGS async_insert = 0 ", rows: "1"},
		{sql: "INSERT INTO t (a) SELECT 1 FORMAT CSV", verb: "INSERT"},
		{sql: "INSERT INTO t WITH x AS (SELECT 1) SELECT * FROM x", verb: "INSERT"},
		{sql: "INSERT INTO t FROM INFILE 'x' FORMAT CSV", verb: "INSERT"},
		{sql: "INSERT INTO t (a);", verb: "INSERT", head: "INSERT INTO t (a)"},
		{sql: "INSERT INTO t VALUES (1); SELECT 2", verb: "INSERT", format: "Values", head: "INSERT INTO t ", rows: " (1); SELECT 2"},
		{sql: "DROP TABLE t", verb: "DROP"},
	}
	for _, tt := range tests {
		st, err := parseStatement(tt.sql)
		require.NoError(t, err, tt.sql)
		require.Equal(t, tt.verb, st.verb, tt.sql)
		require.Equal(t, tt.format, st.format, tt.sql)
		require.Equal(t, tt.head, st.head, tt.sql)
		require.Equal(t, tt.head != "", st.takesRows, tt.sql)
		if st.takesRows {
			require.Equal(t, tt.rows, tt.sql[st.data:], tt.sql)
		}
	}
}

func TestParseStatementRefusesASecondOne(t *testing.T) {
	t.Parallel()
	for _, sql := range []string{"SELECT 1; SELECT 2", "DROP TABLE a;DROP TABLE b", "SELECT ';' ; x"} {
		_, err := parseStatement(sql)
		var e *Exception
		require.ErrorAs(t, err, &e, sql)
		require.Equal(t, codeSyntaxError, e.Code)
	}
}

func TestDropOfTheDefaultDatabase(t *testing.T) {
	t.Parallel()
	for sql, want := range map[string]bool{
		"DROP DATABASE default": true, "drop database if exists `default` SYNC": true,
		"DROP DATABASE other": false, "DROP TABLE default": false, "DROP DATABASE": false,
	} {
		st, err := parseStatement(sql)
		require.NoError(t, err)
		require.Equal(t, want, st.dropsDefault, sql)
	}
}

func FuzzParseStatement(f *testing.F) {
	for _, seed := range []string{"SELECT 'a''b' FORMAT CSV", "INSERT INTO t (a) VALUES (1)", "$a$ $a", "/*", "--", "'\\", "INSERT INTO t FORMAT x\r\n1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, sql string) {
		st, err := parseStatement(sql)
		if err != nil || !st.takesRows {
			return
		}
		if st.data < 0 || st.data > len(sql) || !strings.HasPrefix(sql, st.head) || len(st.head) > st.data {
			t.Fatalf("%q is split at %d after %q", sql, st.data, st.head)
		}
	})
}

func TestParseException(t *testing.T) {
	t.Parallel()
	known := parseException("Code: 60. DB::Exception: Unknown table. (UNKNOWN_TABLE)\n")
	require.Equal(t, 60, known.Code)
	require.Equal(t, 404, statusOf(known.Code))
	other := parseException("No active streaming query")
	require.Equal(t, codeUnknownException, other.Code)
	require.Contains(t, other.Text, "No active streaming query")
	require.Equal(t, 500, statusOf(other.Code))
}
