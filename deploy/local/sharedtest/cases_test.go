package sharedtest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// heard keeps the output that a test would have printed.
type heard struct {
	testing.TB
	logged, failed []string
}

func (h *heard) Helper() {}
func (h *heard) Logf(format string, args ...any) {
	h.logged = append(h.logged, fmt.Sprintf(format, args...))
}
func (h *heard) Errorf(format string, args ...any) {
	h.failed = append(h.failed, fmt.Sprintf(format, args...))
}

func TestVerdicts(t *testing.T) {
	t.Parallel()
	h := &heard{TB: t}
	v := &Verdicts{t: h, file: "사례.json", listed: map[string]string{"known": "decided"}, areas: map[string]*tally{}}
	v.Count("b", "known", "differs")
	v.Count("b", "new", "differs")
	v.Count("a", "fine", "")
	v.Lenient = true
	v.Count("a", "counted", "differs")
	v.close()
	require.Equal(t, []string{"new: differs"}, h.failed)
	require.Equal(t, []string{
		"listed known: decided", "counted: differs",
		"cases 사례.json a: 1 pass, 0 listed, 1 fail", "cases 사례.json b: 0 pass, 1 listed, 1 fail",
	}, h.logged)
}

func TestReadCaseFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{"mine.json": `{"form": "x"}`, "other.json": `{"form": "y"}`, "list.json": `[1]`, "mine.txt": `{"form": "x"}`} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	type form struct{ Form string }
	files := readCaseFiles(t, dir, func(f form) bool { return f.Form == "x" })
	require.Equal(t, map[string]form{"mine.json": {"x"}}, files)
	_, a := ask(t, func(tb testing.TB) string {
		readCaseFiles(tb, dir, func(f form) bool { return f.Form == "z" })
		return ""
	})
	require.True(t, a.skipped)
}

func TestDecode(t *testing.T) {
	t.Parallel()
	var into struct {
		A int `json:"a"`
	}
	for text, want := range map[string]string{
		"":            "nothing is given",
		`{"a": 1}`:    "",
		`{"ab'c": 1}`: `unknown key "ab'c"`,
		`{"a": "x"}`:  `cannot read {"a": "x"}: json: cannot unmarshal string into Go struct field .a of type int`,
	} {
		require.Equal(t, want, Decode(json.RawMessage(text), &into), text)
	}
	require.Equal(t, "cannot play it: no", Play(func() string { panic("no") }))
}
