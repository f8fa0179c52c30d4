package child

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const asParent = "AXIOMMIND_CHILD_TEST_PARENT"

func TestMain(m *testing.M) {
	if os.Getenv(asParent) != "" {
		cmd := exec.Command("sh", "-c", "echo $$; exec sleep 600")
		cmd.Stdout = os.Stdout
		if err := Start(cmd); err != nil {
			panic(err)
		}
		select {}
	}
	os.Exit(m.Run())
}

func readPID(t *testing.T, r io.Reader) int {
	t.Helper()
	line, err := bufio.NewReader(r).ReadString('\n')
	require.NoError(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	require.NoError(t, err)
	require.True(t, Alive(pid))
	return pid
}

func requireGone(t *testing.T, pid int) {
	t.Helper()
	require.Eventually(t, func() bool { return !Alive(pid) }, 10*time.Second, 5*time.Millisecond)
}

func TestChildEndsWithItsParent(t *testing.T) {
	t.Parallel()
	if path, _ := Supervised("x", nil); path != "x" {
		t.Skip("the kernel does not end children here")
	}
	self, err := os.Executable()
	require.NoError(t, err)
	parent := exec.Command(self)
	parent.Env = append(os.Environ(), asParent+"=1")
	out, err := parent.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, parent.Start())
	pid := readPID(t, out)
	require.NoError(t, parent.Process.Kill())
	_ = parent.Wait()
	requireGone(t, pid)
}

func supervise(t *testing.T, script string) (cmd *exec.Cmd, stdin io.Closer, pid int) {
	t.Helper()
	path, args := shell("sh", []string{"-c", script})
	cmd = exec.Command(path, args...)
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	return cmd, in, readPID(t, out)
}

func TestSupervisorKillsWhenItsInputIsClosed(t *testing.T) {
	t.Parallel()
	cmd, stdin, pid := supervise(t, "echo $$; exec sleep 600")
	require.NoError(t, stdin.Close())
	require.Error(t, cmd.Wait())
	requireGone(t, pid)
}

func TestSupervisorPassesOnTermAndTheStatus(t *testing.T) {
	t.Parallel()
	cmd, stdin, pid := supervise(t, "trap 'exit 7' TERM; echo $$; while :; do sleep 0.01; done")
	defer func() { _ = stdin.Close() }()
	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
	var exit *exec.ExitError
	require.ErrorAs(t, cmd.Wait(), &exit)
	require.Equal(t, 7, exit.ExitCode())
	requireGone(t, pid)
}

func TestRunKillsTheGroupOnCancel(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cmd := exec.CommandContext(ctx, "sh", "-c", "sleep 600 & echo $!; wait")
	out, in, err := os.Pipe()
	require.NoError(t, err)
	cmd.Stdout = in
	done := make(chan error, 1)
	go func() { done <- Run(ctx, cmd) }()
	pid := readPID(t, out)
	cancel()
	require.ErrorIs(t, <-done, context.Canceled)
	requireGone(t, pid)
}
