// Command local runs AxiomMind's servers on this machine: `go run ./deploy/local demo`. It builds the program in
// deploy/local/launcher, which does the work, and becomes it.
//
// It is a program of its own because Go compiles all that a program imports before the program can print anything. With
// empty caches this one takes seconds, and its child a third of a minute.
package main

import (
	"fmt"
	"hash/fnv"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

const launcher = "axiommind/deploy/local/launcher"

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "local:", err)
		os.Exit(1)
	}
}

func run() error {
	cache, err := os.UserCacheDir()
	if err != nil {
		return fmt.Errorf("find the cache directory: %w", err)
	}
	dir := filepath.Join(cache, "axiommind", "launcher")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make the directory of the launcher: %w", err)
	}
	at, err := os.Getwd()
	if err != nil {
		return fmt.Errorf("find the checkout: %w", err)
	}
	checkout := fnv.New64a() // Each checkout has a launcher of its own.
	_, _ = checkout.Write([]byte(at))
	program := filepath.Join(dir, fmt.Sprintf("local-%x", checkout.Sum64()))
	said := time.AfterFunc(time.Second, func() {
		_, _ = fmt.Fprintln(os.Stderr, "Building the launcher; its plan comes next.")
	})
	out, err := exec.Command("go", "build", "-o", program, launcher).CombinedOutput() //nolint:noctx // Ctrl-C reaches it too
	said.Stop()
	if err != nil {
		return fmt.Errorf("build the launcher (run this inside a checkout of axiommind): %w\n%s", err, out)
	}
	return syscall.Exec(program, append([]string{"local"}, os.Args[1:]...), os.Environ())
}
