package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestReporter(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	r := newReporter(&out)
	r.set("temporal", "building")
	r.set("clickhouse", "ready on 127.0.0.1:8123")
	r.draw()
	r.close()
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	require.Len(t, lines, 3)
	require.Regexp(t, `^\[ +\d+\.\ds\] temporal +building$`, lines[0])
	require.Regexp(t, `waiting for temporal 0s$`, lines[2])
	require.NotContains(t, out.String(), "\x1b")
}
