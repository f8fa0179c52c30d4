package child

import "syscall"

func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// Supervised returns the command as it is: Start has the kernel end it.
func Supervised(path string, args []string) (string, []string) { return path, args }
