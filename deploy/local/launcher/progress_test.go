package main

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"axiommind/deploy/local/install"
)

// Where nothing can be redrawn there are a plan, a line for each change, and a line now and then for the rest.
func TestReporter(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	r := newReporter(&out)
	r.plan([]install.Part{{Name: "temporal", Work: "built", Needs: 2 * time.Minute}, {Name: "embedder", Work: "fetched"}})
	r.set("temporal", "building")
	r.set("clickhouse", "ready on 127.0.0.1:8123")
	r.set("programs", "building")
	r.measure("programs", 30, 40)
	r.draw()
	r.close()
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	require.Len(t, lines, 8)
	require.Regexp(t, `^  temporal +built +about 2 min$`, lines[1])
	require.Regexp(t, `^  embedder +fetched +in the cache$`, lines[2])
	require.Regexp(t, `^\[ +\d+\.\ds\] temporal +building$`, lines[4])
	require.Regexp(t, `waiting for temporal 0s, programs 75 % 0s$`, lines[7])
	require.NotContains(t, out.String(), "\x1b")
}

func TestBar(t *testing.T) {
	t.Parallel()
	p := &part{state: "building", since: time.Now()}
	require.Equal(t, "  temporal    building, 0s", p.bar("temporal"))
	p.done, p.total = 10, 40
	require.Equal(t, "  temporal    ━━━━━━╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌   25 %  10 of 40 packages, 0s", p.bar("temporal"))
}

// A line never takes two lines of the terminal.
func TestCut(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{"": "", "abcd": "abcd", "abcdef": "abcd", "가나다": "가나", "━━━━━": "━━━━"} {
		require.Equal(t, want, cut(line, 4))
	}
	require.Empty(t, cut("abc", 0))
}
