package transcript

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/activities/queue"
	"axiommind/schema"
)

// One build reads messages, or one transcript: each of several transcripts of a session is read.
func TestFirstOfAKind(t *testing.T) {
	t.Parallel()
	said := func(text string) (c queue.Context) {
		c.Messages = []schema.InlineMessage{{Role: "user", Content: text}}
		return c
	}
	file := func(uri string) (c queue.Context) {
		c.URI = uri
		return c
	}
	for _, c := range []struct {
		contexts []queue.Context
		want     int
	}{
		{nil, 0},
		{[]queue.Context{said("a"), said("b")}, 2},
		{[]queue.Context{said("a"), file("x"), said("b")}, 1},
		{[]queue.Context{file("x"), file("x"), file("y"), file("x")}, 2},
		{[]queue.Context{file("x"), said("a")}, 1},
		{[]queue.Context{said("a"), said(strings.Repeat("b", maxQueuedBytes))}, 1},
	} {
		require.Equal(t, c.want, firstOfAKind(c.contexts), "%+v", c.contexts[:min(3, len(c.contexts))])
	}
}
