package install

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"axiommind/deploy/local/child"
)

// ErrNoSource says that a server has to be built and the source of this module
// is not in or above the working directory.
var ErrNoSource = errors.New("run this inside a checkout of axiommind")

// moduleRoot finds the source of this module from the working directory upwards.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && slices.Contains(strings.Split(string(text), "\n"), "module axiommind") {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", ErrNoSource
		}
		dir = parent
	}
}

// ClickHouseServer returns the path of the server that puts ClickHouse's engine
// behind HTTP, built from this module. The cache key is its source.
func (c Cache) ClickHouseServer(ctx context.Context, progress Progress) (string, error) {
	root, err := moduleRoot()
	if err != nil {
		return "", fmt.Errorf("build chdb-server: %w", err)
	}
	source, err := readSources(root, "go.mod", "deploy/local/chdb", "deploy/local/chdb-server")
	if err != nil {
		return "", fmt.Errorf("build chdb-server: %w", err)
	}
	key := "chdb-server-" + digest(append(source, []byte(runtime.Version()))...) + "-" + platform()
	report := func(state string) { progress.report("clickhouse", state) }
	dir, err := c.entry(ctx, key, report, func(dir string) error {
		report("building its HTTP server")
		return goBuild(ctx, root, filepath.Join(dir, "chdb-server"), "axiommind/deploy/local/chdb-server")
	})
	if err != nil {
		return "", fmt.Errorf("build chdb-server: %w", err)
	}
	return filepath.Join(dir, "chdb-server"), nil
}

// readSources returns the contents of files and of the Go files in directories
// that go into a build, in a fixed order.
func readSources(root string, paths ...string) ([][]byte, error) {
	var contents [][]byte
	for _, p := range paths {
		err := filepath.WalkDir(filepath.Join(root, p), func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || strings.HasSuffix(name, "_test.go") {
				return err
			}
			text, err := os.ReadFile(name)
			contents = append(contents, text)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return contents, nil
}

// goBuild builds a package without cgo, so that no C compiler is needed.
func goBuild(ctx context.Context, dir, out, pkg string) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-ldflags=-s -w", "-o", out, pkg)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off", "GOFLAGS=-mod=readonly")
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := child.Run(ctx, cmd); err != nil {
		return fmt.Errorf("run go build %s: %w: %s", pkg, err, lastLines(output.String(), 10))
	}
	return nil
}
