package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"axiommind/deploy/local/stack"
)

// state is the record of a running stack in its directory, for status and down.
type state struct {
	PID       int             `json:"pid"`
	Started   time.Time       `json:"started"`
	Addresses stack.Addresses `json:"addresses"`
	// Servers are the process ids of the servers the stack started itself, 0 for one that has ended.
	Servers map[string]int `json:"servers"`
}

const (
	stateFile = "state.json"
	lockFile  = "up.lock"
)

// errRunning is the error if another process has the lock of the directory.
var errRunning = errors.New("a stack runs there already")

// claim locks the directory for this process. The system releases the lock when the
// process ends in any way, so it is never stale.
func claim(dir string) (release func(), err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(dir, lockFile), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, errRunning
		}
		return nil, fmt.Errorf("lock %q: %w", dir, err)
	}
	return func() { _ = f.Close() }, nil
}

// running reports whether a process has claimed the directory.
func running(dir string) (bool, error) {
	if _, err := os.Stat(filepath.Join(dir, lockFile)); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	release, err := claim(dir)
	if errors.Is(err, errRunning) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	release()
	return false, nil
}

// readState returns the state in a directory, or nil when there is none.
func readState(dir string) (*state, error) {
	text, err := os.ReadFile(filepath.Join(dir, stateFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read state: %w", err)
	}
	s := &state{}
	if err := json.Unmarshal(text, s); err != nil {
		return nil, fmt.Errorf("read state %q: %w", filepath.Join(dir, stateFile), err)
	}
	return s, nil
}

func writeState(dir string, s state) error {
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return fmt.Errorf("write state: %w", err)
	}
	if err := stack.WritePrivate(filepath.Join(dir, stateFile), append(text, '\n')); err != nil {
		return fmt.Errorf("write state: %w", err)
	}
	return nil
}

func removeState(dir string) error {
	err := os.Remove(filepath.Join(dir, stateFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
