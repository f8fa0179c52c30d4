package page

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The link of a server logs one browser in, for a quarter of an hour.
func TestLinkEnds(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		age   time.Duration
		takes bool
	}{"new": {0, true}, "almost too old": {LinkTime - time.Minute, true}, "too old": {LinkTime + time.Second, false}} {
		l := newLogin([32]byte{})
		l.expires = l.expires.Add(-x.age)
		require.Equal(t, x.takes, l.take(l.code), name)
		require.False(t, l.take(l.code), "twice")
	}
}
