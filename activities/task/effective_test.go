package task

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/schema"
)

// An effective blocker is at the end of its resolutions: before a circle closes, and 32 of them away at most.
func TestEffective(t *testing.T) {
	t.Parallel()
	resolving := func(to map[string]string) map[string]Entity {
		out := map[string]Entity{}
		for id, next := range to {
			out[id] = Entity{ResolvesTo: &schema.EntityRef{ID: next}}
		}
		return out
	}
	long := map[string]string{}
	for i := range 40 {
		long[strconv.Itoa(i)] = strconv.Itoa(i + 1)
	}
	for name, x := range map[string]struct {
		to   map[string]string
		id   string
		hops int
	}{
		"none":   {nil, "0", 0},
		"chain":  {map[string]string{"0": "a", "a": "b"}, "b", 2},
		"circle": {map[string]string{"0": "a", "a": "b", "b": "0"}, "b", 2},
		"itself": {map[string]string{"0": "0"}, "0", 0},
		"later":  {map[string]string{"0": "a", "a": "b", "b": "a"}, "b", 2},
		"long":   {long, "32", 32},
	} {
		id, hops := effective("0", resolving(x.to))
		require.Equal(t, x.id, id, name)
		require.Equal(t, x.hops, hops, name)
	}
}
