package stacktest

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// CPU returns the CPU time that the servers of [Processes] and the processes they started have used, for this
// package and for others, and that of this test binary under the name "test". It skips the test if the system has
// no /proc.
func CPU(t testing.TB) map[string]time.Duration {
	t.Helper()
	used, children, err := processTimes()
	if err != nil {
		t.Skipf("read the CPU time of processes: %v", err)
	}
	var sum func(pid int) time.Duration
	sum = func(pid int) time.Duration {
		total := used[pid]
		for _, child := range children[pid] {
			total += sum(child)
		}
		return total
	}
	out := map[string]time.Duration{"test": used[os.Getpid()]}
	for name, pid := range Processes(t) {
		out[name] = sum(pid)
	}
	return out
}

// Idle returns for how long the processors of the machine have had nothing to do, as the sum over them. It skips the test if the
// system has no /proc.
func Idle(t testing.TB) time.Duration {
	t.Helper()
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		t.Skipf("read the idle time of processors: %v", err)
	}
	line, _, _ := strings.Cut(string(text), "\n")
	fields := strings.Fields(line)
	if len(fields) < 6 || fields[0] != "cpu" {
		t.Skipf("read the idle time of processors: want a line of cpu with 5 numbers, got %q", line)
	}
	ticks := 0
	for _, field := range fields[4:6] { // Idle, and waiting for a disk.
		n, err := strconv.Atoi(field)
		if err != nil {
			t.Skipf("read the idle time of processors: %v", err)
		}
		ticks += n
	}
	return time.Duration(ticks) * clockTick
}

// clockTick is the unit of the times in /proc/PID/stat. Linux fixes it for programs, whatever the kernel counts in.
const clockTick = time.Second / 100

// processTimes returns the CPU time and the children of every process.
func processTimes() (used map[int]time.Duration, children map[int][]int, err error) {
	files, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil || len(files) == 0 {
		return nil, nil, fmt.Errorf("there is no /proc: %w", os.ErrNotExist)
	}
	used, children = make(map[int]time.Duration, len(files)), make(map[int][]int, len(files))
	for _, file := range files {
		data, err := os.ReadFile(file) //nolint:gosec // a name that Glob found
		if err != nil {
			continue // It has ended since.
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err != nil {
			return nil, nil, err
		}
		parent, ticks, err := parseStat(string(data))
		if err != nil {
			return nil, nil, fmt.Errorf("parse %s: %w", file, err)
		}
		used[pid] = time.Duration(ticks) * clockTick
		children[parent] = append(children[parent], pid)
	}
	return used, children, nil
}

// parseStat returns the parent and the CPU time in clock ticks, see proc_pid_stat(5). The time includes that of
// children that have ended.
func parseStat(line string) (parent, ticks int, err error) {
	// The name is in parentheses and may contain spaces and parentheses itself.
	end := strings.LastIndexByte(line, ')')
	fields := strings.Fields(line[end+1:])
	if end < 0 || len(fields) < 15 {
		return 0, 0, fmt.Errorf("want a name in parentheses and at least 15 fields after it, got %q", line)
	}
	if parent, err = strconv.Atoi(fields[1]); err != nil {
		return 0, 0, err
	}
	for _, field := range fields[11:15] {
		n, err := strconv.Atoi(field)
		if err != nil {
			return 0, 0, err
		}
		ticks += n
	}
	return parent, ticks, nil
}
