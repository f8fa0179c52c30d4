package tier

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The dash of a list is no minus sign, and a minus sign is no dash of a list.
func TestDashBeforeNumber(t *testing.T) {
	t.Parallel()
	for _, source := range []string{
		"- 3 servers are down.\n- We met.", "- We met.\n- 3 servers are down.", "* 3 servers are down.", "  - 3 servers are down.", "1. 3 servers are down.",
	} {
		g := newGrounds()
		g.add(source, false)
		require.Equal(t, []int{0}, g.holds("3 servers are down."), source)
		require.Empty(t, g.holds("-3 servers are down."), source)
	}
	g := newGrounds()
	g.add("- -3 degrees are cold.\n- 0번 서버는 금요일에 배포한다.", false)
	require.Empty(t, g.holds("3 degrees are cold."))
	require.Equal(t, []int{0}, g.holds("-3 degrees are cold."))
	require.Equal(t, []int{0}, g.holds("0번 서버는 금요일에 배포한다."))
	g = newGrounds()
	g.addItem("We need:\n- 3 servers\n- 4 disks")
	require.Equal(t, 0, g.same("We need:\n* 3 servers\n* 4 disks"))
	require.Equal(t, -1, g.same("We need:\n* 3 servers\n* 5 disks"))
}
