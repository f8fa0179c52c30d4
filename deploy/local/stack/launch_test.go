package stack

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A server whose port another process takes first is started on others, however much else it logs.
func TestLaunchOnOtherPorts(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		says  string
		tries int
	}{
		"a taken port":  {strings.Repeat("could not build: ", 500) + "bind: address already in use" + strings.Repeat(" while starting", 500), 3},
		"another fault": {"no space left on device", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := new(Stack)
			dir := t.TempDir()
			up := filepath.Join(dir, "up")
			var ports []int
			err := s.launch(t.Context(), "server", []int{0}, func(free []int) (launch, error) {
				ports = append(ports, free[0])
				script := "echo 'Error: " + tt.says + "'; exit 1"
				if len(ports) == 3 {
					script = "touch " + strconv.Quote(up) + "; sleep 60"
				}
				return launch{
					command: command{name: "server", path: "/bin/sh", args: []string{"-c", script}, log: filepath.Join(dir, "log")},
					check: func(context.Context) error {
						_, err := os.Stat(up)
						return err
					},
					apply: func(*Addresses) string { return "" },
				}, nil
			})
			t.Cleanup(s.Stop)
			require.Len(t, ports, tt.tries)
			if tt.tries == 3 {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, tt.says)
		})
	}
}

// A port that was found free is given to no one else who asks for any.
func TestFreePortsStayFree(t *testing.T) {
	t.Parallel()
	ports, err := freePorts(0, 0, 0, 0)
	require.NoError(t, err)
	for range 2000 {
		l, err := listen(0)
		require.NoError(t, err)
		_, port, ok := strings.Cut(l.Addr().String(), ":")
		require.True(t, ok)
		n, err := strconv.Atoi(port)
		require.NoError(t, err)
		require.NotContains(t, ports, n)
		require.NoError(t, l.Close())
	}
	for _, port := range ports {
		l, err := listen(port)
		require.NoError(t, err)
		require.NoError(t, l.Close())
	}
}
