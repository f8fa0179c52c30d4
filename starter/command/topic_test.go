package command

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

// The reader's pager gets the page. It may quit early or be missing; if it fails, the error names it.
func TestPager(t *testing.T) {
	t.Parallel()
	page := "one\ntwo\n" + string(bytes.Repeat([]byte("more\n"), 1<<16))
	shown := func(pager string) (string, error) {
		var out bytes.Buffer
		a := &App{Exact: &out, Drawn: &out, Getenv: func(name string) string {
			if name == "PAGER" {
				return pager
			}
			return ""
		}}
		err := a.pageThrough(t.Context(), page)
		return out.String(), err
	}
	for pager, want := range map[string]string{"cat": page, "  cat -u ": page, "head -n 2": "one\ntwo\n", "no-such-pager-xyz": page} {
		got, err := shown(pager)
		require.NoError(t, err, pager)
		require.Equal(t, want, got, pager)
	}
	_, err := shown("false")
	require.ErrorContains(t, err, "show the page by false, which PAGER names: exit status 1")
}
