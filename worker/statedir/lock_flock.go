//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package statedir

import (
	"errors"
	"os"
	"syscall"
)

// lock locks a file or directory until it is closed or the process ends. Without wait it fails if another process holds it.
func lock(path string, wait bool) (*os.File, error) {
	f, err := os.Open(path) //nolint:gosec // a path in the state directory
	if err != nil {
		return nil, err
	}
	how := syscall.LOCK_EX
	if !wait {
		how |= syscall.LOCK_NB
	}
	for err = syscall.EINTR; errors.Is(err, syscall.EINTR); {
		err = syscall.Flock(int(f.Fd()), how)
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}
