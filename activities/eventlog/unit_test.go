package eventlog_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/gowebpki/jcs"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"axiommind/activities/clickhouse"
	"axiommind/activities/eventlog"
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
	require.False(t, clickhouse.Retryable(&eventlog.InvalidError{Index: 1}))
	require.False(t, clickhouse.Retryable(fmt.Errorf("outer: %w", eventlog.ErrCorrupt)))
	require.True(t, clickhouse.Retryable(fmt.Errorf("outer: %w", eventlog.ErrConcurrentWriter)))
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
		"Admits", "AdmitsTo", "Append", "AppendAll", "AsWriter", "At", "End", "ErasedAt", "Erasures", "Get", "GetMany", "Head", "Headings", "HideCopies", "Hold",
		"LearnErasures", "Load", "MessageKeys", "MessageTimes", "Pages", "Read", "Replay", "Since", "StoreHeld", "Stream", "Streams", "Totals",
	}, got)
}
