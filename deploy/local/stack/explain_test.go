package stack

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestExplanation(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ log, want string }{
		"nothing": {"", ""},
		"noise":   {"time=2026-01-01T00:00:00Z level=WARN msg=\"slow\"\nready\n", ""},
		"own line": {"time=x level=INFO msg=ready\nchdb-server: listen on \"127.0.0.1:1\": bind: address already in use\n",
			"chdb-server: listen on \"127.0.0.1:1\": bind: address already in use"},
		"an error before the last word": {"Code: 62. DB::Exception: Syntax error. (SYNTAX_ERROR)\nchdb-server: engine refused the connection\n", "Code: 62. DB::Exception: Syntax error. (SYNTAX_ERROR)"},
		"an error before later noise":   {"Error: unable to open database file\nUsage:\n  temporal server start-dev [flags]\n", "Error: unable to open database file"},
		"a crash":                       {"ready\npanic: nil map\n\ngoroutine 1 [running]:\nmain.main()\n\t/x.go:1\nerror: exit\n", "panic: nil map"},
		"JSON":                          {`{"level":"info","msg":"a"}` + "\n" + `{"level":"fatal","msg":"open store","error":"no space left on device"}` + "\n" + `{"level":"error","msg":"later"}`, "open store: no space left on device"},
		"logfmt":                        {`time=1 level=ERROR msg="Unable to \"start\"" error="disk I/O error"` + "\n", `Unable to "start": disk I/O error`},
		"colors":                        {"\x1b[31mError: \x1b[0mno space\n", "Error: no space"},
		"a long line":                   {"Error: " + strings.Repeat("x", 9999), "Error: " + strings.Repeat("x", 93) + " … " + strings.Repeat("x", 300)},
		"a chain of errors":             {"Error: start: " + strings.Repeat("build: ", 999) + "bind: address already in use\n", "Error: start: " + strings.Repeat("build: ", 12) + "bu … " + strings.Repeat("build: ", 39)[1:] + "bind: address already in use"},
		"ClickHouse's":                  {"2026.01.01 <Error> Application: Code: 76. DB::Exception: Cannot open file\n", "2026.01.01 <Error> Application: Code: 76. DB::Exception: Cannot open file"},
	} {
		require.Equal(t, tt.want, explanation(tt.log), name)
	}
}
