package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// The variables that make this test binary a confined process.
const (
	asConfined = "AXIOMMIND_CONFINE_TEST_DIR"
	asTarget   = "AXIOMMIND_CONFINE_TEST_TARGET"
	asSocket   = "AXIOMMIND_CONFINE_TEST_SOCKET"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(asConfined); dir != "" {
		tryToGetOut(dir)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// tryToGetOut confines the process and prints the accesses that it still has.
func tryToGetOut(dir string) {
	self, _ := os.Executable()
	confined, err := confine(self, dir)
	fmt.Println("confined", confined, err)
	say := func(what string, err error) {
		fmt.Println(what, errors.Is(err, syscall.EACCES) || errors.Is(err, syscall.EPERM), err)
	}
	_, err = os.ReadFile("/etc/passwd")
	say("read", err)
	_, err = os.ReadFile(fmt.Sprintf("/proc/%d/environ", os.Getppid()))
	say("environ", err)
	_, err = os.ReadFile("/proc/thread-self/schedstat")
	say("own thread", err)
	_, err = os.ReadFile("/proc/self/task/" + fmt.Sprint(os.Getpid()) + "/root/etc/passwd")
	say("through own thread", err)
	_, err = os.ReadDir("/proc/self/task")
	say("list own threads", err)
	_, err = os.ReadDir(filepath.Dir(dir))
	say("list", err)
	say("write", os.WriteFile(filepath.Join(filepath.Dir(dir), "out"), nil, 0o600))
	say("rename", os.Rename(filepath.Join(dir, "inside"), filepath.Join(filepath.Dir(dir), "outside")))
	say("run", exec.Command("/bin/sh", "-c", "true").Run())
	_, err = net.DialTimeout("tcp", os.Getenv(asTarget), time.Second)
	say("connect", err)
	abstract, err := net.Dial("unix", os.Getenv(asSocket))
	say("abstract socket", err)
	if err == nil {
		_ = abstract.Close()
	}
	say("signal", syscall.Kill(os.Getppid(), 0))
	device, err := os.Open("/dev/null")
	if err == nil {
		_, err = unix.IoctlGetInt(int(device.Fd()), unix.BLKGETSIZE64)
		_ = device.Close()
	}
	say("device", err)
	say("inside", os.WriteFile(filepath.Join(dir, "more"), nil, 0o600))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	say("listen", err)
	if err == nil {
		_ = l.Close()
	}
}

func TestConfinement(t *testing.T) {
	t.Parallel()
	target, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = target.Close() })
	socket, err := net.Listen("unix", fmt.Sprint("@axiommind-confine-", os.Getpid()))
	require.NoError(t, err)
	t.Cleanup(func() { _ = socket.Close() })
	dir := filepath.Join(t.TempDir(), "data")
	require.NoError(t, os.Mkdir(dir, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "inside"), nil, 0o600))
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), asConfined+"="+dir, asTarget+"="+target.Addr().String(), asSocket+"="+socket.Addr().String())
	text, err := cmd.CombinedOutput()
	require.NoError(t, err, string(text))
	if strings.Contains(string(text), "confined false") {
		t.Skip("the kernel has no Landlock")
	}
	for _, what := range []string{"read", "environ", "through own thread", "list own threads", "list", "write", "rename", "run"} {
		require.Contains(t, string(text), what+" true ", string(text))
	}
	require.Contains(t, string(text), "own thread false <nil>")
	require.Contains(t, string(text), "inside false <nil>")
	require.Contains(t, string(text), "listen false <nil>")
	if landlockVersion() >= versionNetwork {
		require.Contains(t, string(text), "connect true ", string(text))
	}
	if landlockVersion() >= versionDevices {
		require.Contains(t, string(text), "device true ", string(text))
	}
	if landlockVersion() >= versionScopes {
		require.Contains(t, string(text), "abstract socket true ", string(text))
		require.Contains(t, string(text), "signal true ", string(text))
	}
}
