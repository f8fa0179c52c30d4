//go:build !linux

package child

import "syscall"

func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}

// Supervised returns the command under a shell that kills it when its standard
// input is closed; keep a pipe to it open.
func Supervised(path string, args []string) (string, []string) { return shell(path, args) }
