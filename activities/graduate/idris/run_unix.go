//go:build unix

package idris

import (
	"os/exec"
	"syscall"
)

// killTogether makes a command the leader of a process group, which is killed as a whole.
func killTogether(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
