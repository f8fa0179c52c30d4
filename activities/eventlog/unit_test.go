package eventlog_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/gowebpki/jcs"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"axiommind/activities/eventlog"
	"axiommind/deploy/local/stacktest"
)

func TestCanonical(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{"b":1,"a":[1.0,1e2,-0]}`:             `{"a":[1,100,0],"b":1}`,
		`[ "é\u00e9\u003c\/" ]`:                `["éé</"]`,
		`"\ud83d\ude00\u0000\u2028"`:           "\"😀\\u0000\u2028\"",
		`{"€":1,"\ud83d\ude00":2,"\ufb33":3}`:  "{\"€\":1,\"😀\":2,\"\ufb33\":3}",
		`9007199254740993.5`:                   `9007199254740994`,
		`[9007199254740992,-9007199254740992]`: `[9007199254740992,-9007199254740992]`,
		`100000000000000000000`:                `100000000000000000000`,
		`"9007199254740993"`:                   `"9007199254740993"`,
		`0.30000000000000004`:                  `0.30000000000000004`,
		`null`:                                 `null`,
	} {
		got, err := eventlog.Canonical([]byte(in))
		require.NoError(t, err, in)
		require.Equal(t, want, string(got), in)
	}
	for in, want := range map[string]string{
		``:                          "is empty",
		` `:                         "is empty",
		`{`:                         "is not JSON",
		`{} {}`:                     "is not JSON",
		"\"\xff\"":                  "is not valid UTF-8",
		`{"a":9007199254740993}`:    "holds the integer 9007199254740993",
		`[-18446744073709551615]`:   "holds the integer -18446744073709551615",
		`1e400`:                     "has no canonical form",
		`"\ud800"`:                  "has no canonical form",
		`{"a":1,"a":2}`:             "has no canonical form",
		strings.Repeat("9", 10_000): "holds the integer 9999",
	} {
		_, err := eventlog.Canonical([]byte(in))
		require.ErrorContains(t, err, want, in)
	}
}

func FuzzCanonical(f *testing.F) {
	for _, seed := range []string{`{"a":[1,2.5,"x",null,true]}`, `"\ud83d\ude00\\"`, `9007199254740993`, `-1e-7`, `{"":{"":0}}`,
		`{"b":1,"a":[{"z":"\u003c\u0000\b\/é\u2028","y":-0}]}`, `{"a!":1,"a":2," ":3}`, `[-0,00,01,-1,12345678901234567]`, `{"a":1,"a":2}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, err := eventlog.Canonical(raw)
		if err != nil {
			return
		}
		again, err := eventlog.Canonical(got)
		require.NoError(t, err)
		require.Equal(t, string(got), string(again), "the canonical form of itself")
		var before, after any
		require.NoError(t, json.Unmarshal(raw, &before))
		require.NoError(t, json.Unmarshal(got, &after))
		require.Equal(t, before, after)
	})
}

// Another implementation of RFC 8785 gives the same form. Stored events have checksums of it.
func TestCanonicalForm(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		type part struct {
			Text string         `json:"text"`
			N    int32          `json:"n"`
			F    float64        `json:"f"`
			Of   map[string]any `json:"of"`
			List []bool         `json:"list,omitempty"`
			Also string         `json:"also,omitempty"`
		}
		text := rapid.String()
		raw, err := json.Marshal([]part{{
			Text: text.Draw(t, "text"), N: rapid.Int32().Draw(t, "n"), F: rapid.Float64Range(-1e6, 1e6).Draw(t, "f"), Also: text.Draw(t, "also"),
			Of: map[string]any{text.Draw(t, "key"): text.Draw(t, "value"), "k": nil}, List: rapid.SliceOf(rapid.Bool()).Draw(t, "list"),
		}})
		if err != nil {
			t.Fatal(err)
		}
		got, err := eventlog.Canonical(raw)
		want, wantErr := jcs.Transform(raw)
		if err != nil || wantErr != nil || string(got) != string(want) {
			t.Fatalf("%s becomes %s (%v), want %s (%v)", raw, got, err, want, wantErr)
		}
	})
}

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
		{&eventlog.InvalidError{Index: 1}, false},
		{eventlog.ErrConcurrentWriter, true},
		{eventlog.ErrCorrupt, false},
	} {
		require.Equal(t, test.want, eventlog.Retryable(test.err), "%v", test.err)
		if test.err != nil {
			require.Equal(t, test.want, eventlog.Retryable(fmt.Errorf("outer: %w", test.err)), "%v", test.err)
		}
	}
}

// TestRetryableNames asks the server for the names of the codes.
func TestRetryableNames(t *testing.T) {
	t.Parallel()
	conn := connect(t, stacktest.ClickHouse(t))
	for code, comment := range eventlog.RetryableCodes {
		var name string
		require.NoError(t, conn.QueryRow(t.Context(), `SELECT errorCodeToName(?)`, code).Scan(&name))
		require.Equal(t, name, regexp.MustCompile(`^\w+`).FindString(comment), "code %d", code)
	}
}

func TestConnect(t *testing.T) {
	t.Parallel()
	for _, dsn := range []string{"tcp://localhost:9000/default", "localhost:8123"} {
		_, err := eventlog.Connect(t.Context(), dsn, eventlog.ConnectOptions{})
		require.ErrorContains(t, err, "want http://")
	}
	_, err := eventlog.Connect(t.Context(), "http://localhost:8123/default", eventlog.ConnectOptions{Cluster: "a' b"})
	require.ErrorContains(t, err, "want letters, digits")
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := listener.Addr().String()
	require.NoError(t, listener.Close())
	_, err = eventlog.Connect(t.Context(), "http://user:topsecret@"+address+"/default", eventlog.ConnectOptions{})
	require.ErrorContains(t, err, address)
	require.NotContains(t, err.Error(), "topsecret")
	require.True(t, eventlog.Retryable(err), "%v", err)

	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "starting", http.StatusServiceUnavailable)
	}))
	defer server.Close()
	_, err = eventlog.Connect(t.Context(), server.URL+"/default", eventlog.ConnectOptions{})
	require.Error(t, err)
	require.True(t, eventlog.Retryable(err), "%v", err)
}

// TestAppendOnly keeps updates and deletes of events out of the API.
func TestAppendOnly(t *testing.T) {
	t.Parallel()
	store := reflect.TypeFor[*eventlog.Store]()
	var got []string
	for i := range store.NumMethod() {
		got = append(got, store.Method(i).Name)
	}
	require.Equal(t, []string{
		"Admits", "AdmitsTo", "Append", "AppendAll", "AsWriter", "At", "BeginShadow", "Count", "Digest", "Drain", "EndSwitch", "ErasedAt", "Get", "GetMany", "Head", "Headings", "HideCopies", "Hold", "Load", "MessageKeys", "MessageTimes", "OpenShadow", "Project", "ProjectAll",
		"ProjectTogether", "ProjectionStatuses", "ProjectorNames", "Read", "Replay", "RowHashes", "SaveOffsets", "Steady", "Stream", "Streams", "Totals", "Whole",
	}, got)
}
