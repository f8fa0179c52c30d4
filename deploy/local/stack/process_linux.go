package stack

import "syscall"

// attributes give a child a process group of its own, so that a terminal's
// Ctrl-C reaches only the stack, which then stops its servers in order.
func attributes(killWithParent bool) *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Setpgid: true}
	if killWithParent {
		a.Pdeathsig = syscall.SIGKILL
	}
	return a
}

// supervised returns the command as it is: the kernel ends the child.
func supervised(path string, args []string) (string, []string) { return path, args }
