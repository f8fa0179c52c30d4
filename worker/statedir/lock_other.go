//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package statedir

import (
	"errors"
	"os"
	"time"
)

// deadAfter is the age from which a process counts as dead on systems without locks that end with it.
const deadAfter = 24 * time.Hour

// lock opens a file or directory. Without wait it fails if a process may be using it.
func lock(path string, wait bool) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !wait && time.Since(info.ModTime()) < deadAfter {
		return nil, errors.New("it is in use")
	}
	return os.Open(path)
}
