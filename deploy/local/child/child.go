// Package child starts processes that do not outlive this one, even when it is
// killed by SIGKILL.
package child

import (
	"context"
	"errors"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
)

// starters run on one operating system thread that lives as long as the
// process: Linux sends the parent-death signal when the thread that started the child ends.
var starters = sync.OnceValue(func() chan<- func() {
	work := make(chan func())
	go func() {
		runtime.LockOSThread()
		for f := range work {
			f()
		}
	}()
	return work
})

// Start starts cmd in a process group of its own, so that a terminal's Ctrl-C
// does not reach it. On Linux the kernel kills it when this process ends;
// elsewhere wrap the command with Supervised.
func Start(cmd *exec.Cmd) error { return start(cmd, attributes()) }

// StartGraceful starts cmd like Start, but the command ends itself with this process: it reads its
// standard input until that is closed.
func StartGraceful(cmd *exec.Cmd) error { return start(cmd, &syscall.SysProcAttr{Setpgid: true}) }

func start(cmd *exec.Cmd, attributes *syscall.SysProcAttr) error {
	cmd.SysProcAttr = attributes
	started := make(chan error)
	starters() <- func() { started <- cmd.Start() }
	return <-started
}

// Run starts cmd, made by exec.CommandContext with the same ctx, and waits for
// its end. When ctx ends, the whole process group is killed and the error is
// that of ctx.
func Run(ctx context.Context, cmd *exec.Cmd) error {
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	if err := Start(cmd); err != nil {
		return err
	}
	err := cmd.Wait()
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// Alive reports whether a process with this id runs.
func Alive(pid int) bool {
	return pid > 0 && !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
}

// supervisor runs "$@" and kills it when the standard input of the shell, held
// by this process, is closed.
const supervisor = `exec 3<&0 </dev/null
pid= term=
trap 'term=1; [ -z "$pid" ] || kill -TERM $pid' TERM
"$@" 3<&- & pid=$!
[ -z "$term" ] || kill -TERM $pid
(cat <&3 >/dev/null; kill -KILL $pid 2>/dev/null) & watch=$!
exec 3<&-
wait $pid; status=$?
while kill -0 $pid 2>/dev/null; do wait $pid; status=$?; done
kill $watch 2>/dev/null
exit $status`

// shell is the command that runs path under the supervisor.
func shell(path string, args []string) (string, []string) {
	return "/bin/sh", append([]string{"-c", supervisor, "sh", path}, args...)
}
