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

// ErrNoSource is the error if a server must be built but the source of this module is not in or above the working
// directory.
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
	key, err := serverKey(root)
	if err != nil {
		return "", fmt.Errorf("build chdb-server: %w", err)
	}
	report := func(state string) { progress.report("clickhouse", state) }
	dir, err := c.entry(ctx, key, report, func(dir string) error {
		report("building its HTTP server")
		return build{
			dir: root, out: filepath.Join(dir, "chdb-server"), pkgs: []string{"./deploy/local/chdb-server"}, weight: serverWeight,
			env: []string{"CGO_ENABLED=0"}, progress: c.meter("clickhouse"), // The engine and C's own start-up code do not mix.
		}.run(ctx)
	})
	if err != nil {
		return "", fmt.Errorf("build chdb-server: %w", err)
	}
	return filepath.Join(dir, "chdb-server"), nil
}

func serverKey(root string) (string, error) {
	source, err := readSources(root, "go.mod", "deploy/local/chdb", "deploy/local/chdb-server")
	return "chdb-server-" + digest(append(source, []byte(runtime.Version()))...) + "-" + platform(), err
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

// goEnv is the environment of all builds. They have the settings of go run and go test, so that a package that several
// of them need is compiled once.
func goEnv(more ...string) []string {
	return append(append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=readonly"), more...)
}

// build is a build of packages of the module in dir.
type build struct {
	dir, out string
	pkgs     []string
	weight   int
	// env comes on top of [goEnv].
	env      []string
	progress meter
}

// run builds the packages, once it is their turn. The progress counts packages.
func (b build) run(ctx context.Context) error {
	total, err := b.uncompiled(ctx)
	if err != nil {
		return err
	}
	leave, err := compiler.enter(ctx, b.weight)
	if err != nil {
		return err
	}
	defer leave()
	done := 0
	b.progress(done, total)
	cmd := exec.CommandContext(ctx, "go", slices.Concat([]string{"build", "-v", "-ldflags=-s -w", "-o", b.out}, b.pkgs)...)
	cmd.Dir, cmd.Env = b.dir, goEnv(b.env...)
	var output bytes.Buffer
	cmd.Stdout = &output
	cmd.Stderr = &lines{each: func(line string) {
		if strings.ContainsAny(line, " :#") || line == "" {
			output.WriteString(line + "\n") // An error. The name of a package has no space and no colon.
			return
		}
		if done++; done <= total {
			b.progress(done, total)
		}
		if done >= total-total/handOver {
			leave() // The rest is a chain of packages and the linker, which leave a core free.
		}
	}}
	if err := child.Run(ctx, cmd); err != nil {
		return fmt.Errorf("run go build %s: %w: %s", strings.Join(b.pkgs, " "), err, lastLines(output.String(), 10))
	}
	b.progress(total, total)
	return nil
}

// handOver is the share of a build, as one of so many parts, during which the next build runs too.
const handOver = 10

// cached is the reason that go list gives for compiling a package, if its result is in Go's cache.
const cached = "not installed but available in build cache"

// uncompiled downloads the modules of packages, and returns how many packages have to be compiled for them.
func (b build) uncompiled(ctx context.Context) (int, error) {
	form := fmt.Sprintf("{{if .Stale}}{{if ne .StaleReason %q}}{{.ImportPath}}{{end}}{{end}}", cached)
	cmd := exec.CommandContext(ctx, "go", slices.Concat([]string{"list", "-deps", "-f", form}, b.pkgs)...)
	cmd.Dir, cmd.Env = b.dir, goEnv(b.env...)
	var out, failure bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &failure
	if err := child.Run(ctx, cmd); err != nil {
		return 0, fmt.Errorf("run go list %s: %w: %s", strings.Join(b.pkgs, " "), err, lastLines(failure.String(), 10))
	}
	return len(strings.Fields(out.String())), nil
}

// lines is an [io.Writer] that calls each with every line.
type lines struct {
	each func(string)
	rest []byte
}

func (l *lines) Write(p []byte) (int, error) {
	l.rest = append(l.rest, p...)
	for {
		line, rest, found := bytes.Cut(l.rest, []byte("\n"))
		if !found {
			return len(p), nil
		}
		l.each(string(line))
		l.rest = rest
	}
}
