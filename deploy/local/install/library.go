package install

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"

	"axiommind/deploy/local/child"
)

// LibraryVersion is the version of the npm packages that contain ClickHouse's engine.
const LibraryVersion = "26.7.3-stable.1"

// ErrNoLibrary is the error if ClickHouse's engine is not pinned for this platform.
var ErrNoLibrary = errors.New("no pinned ClickHouse engine for this platform: start a ClickHouse server and give its address, or put `clickhouse` on PATH")

// libraries are the packages by platform, with npm's integrity checksum of the
// pinned version.
var libraries = map[string]struct{ name, integrity string }{
	"linux-amd64": {"@chdb/lib-linux-x64-gnu", "sha512-XP97mMqnc5tZpKQywR8N7cLTsHNiTmHr30pC5mzo3jWmukjKn2IBa60c2B/gWUNcuFjOMjWoorQICCqBVj5wpw=="},
}

// Library returns the path of the shared library of ClickHouse's engine,
// fetched by npm when it is not in the cache.
func (c Cache) Library(ctx context.Context, progress Progress) (string, error) {
	pkg, ok := libraries[platform()]
	if !ok {
		return "", fmt.Errorf("install libchdb on %s: %w", platform(), ErrNoLibrary)
	}
	report := func(state string) { progress.report("clickhouse", state) }
	dir, err := c.entry(ctx, libraryKey(), report, func(dir string) error {
		report("fetching the engine with npm")
		return fetchLibrary(ctx, dir, pkg.name+"@"+LibraryVersion, pkg.integrity)
	})
	if err != nil {
		return "", fmt.Errorf("install libchdb: %w", err)
	}
	return filepath.Join(dir, libraryFile), nil
}

func libraryKey() string { return "libchdb-" + LibraryVersion + "-" + platform() }

const libraryFile = "libchdb.so"

func fetchLibrary(ctx context.Context, dir, spec, integrity string) error {
	if _, err := exec.LookPath("npm"); err != nil {
		return fmt.Errorf("find npm: %w (it comes with Node.js)", err)
	}
	cmd := exec.CommandContext(ctx, "npm", "pack", spec, "--ignore-scripts", "--silent", "--pack-destination", ".")
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := child.Run(ctx, cmd); err != nil {
		return fmt.Errorf("run npm pack %q: %w: %s", spec, err, lastLines(stderr.String(), 5))
	}
	archives, err := filepath.Glob(filepath.Join(dir, "*.tgz"))
	if err != nil || len(archives) != 1 {
		return fmt.Errorf("run npm pack %q: it left %d archives", spec, len(archives))
	}
	if err := extractLibrary(archives[0], filepath.Join(dir, libraryFile), integrity); err != nil {
		return err
	}
	return os.Remove(archives[0])
}

// extractLibrary writes the shared library inside an npm archive to target,
// after the whole archive has matched the checksum.
func extractLibrary(archive, target, integrity string) error {
	f, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	sum := sha512.New()
	if _, err := io.Copy(sum, f); err != nil {
		return fmt.Errorf("read %q: %w", archive, err)
	}
	if got := integrityOf(sum); got != integrity {
		return fmt.Errorf("verify %q: checksum is %s, want %s", filepath.Base(archive), got, integrity)
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	unzipped, err := gzip.NewReader(f)
	if err != nil {
		return fmt.Errorf("read %q: %w", archive, err)
	}
	files := tar.NewReader(unzipped)
	for {
		header, err := files.Next()
		if err != nil {
			return fmt.Errorf("find the library in %q: %w", filepath.Base(archive), err)
		}
		if base := path.Base(header.Name); base == "libchdb.so" || base == "libchdb.dylib" {
			return writeFile(target, files)
		}
	}
}

func integrityOf(sum hash.Hash) string {
	return "sha512-" + base64.StdEncoding.EncodeToString(sum.Sum(nil))
}

func writeFile(target string, r io.Reader) error {
	f, err := os.OpenFile(target, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, r)
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("write %q: %w", target, err)
	}
	return nil
}

func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "; ")
}
