//go:build !linux

package stack

import "syscall"

// attributes give a child a process group of its own, so that a terminal's
// Ctrl-C reaches only the stack, which then stops its servers in order.
func attributes(bool) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}

// supervised runs the command under a shell that ends it with this process.
func supervised(path string, args []string) (string, []string) {
	return "/bin/sh", append([]string{"-c", supervisor, "sh", path}, args...)
}
