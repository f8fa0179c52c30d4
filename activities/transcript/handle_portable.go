//go:build !linux || portable

package transcript

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

// handle names a file that was checked and is not open yet. The file that open opens is the same, or there
// is an error.
type handle struct {
	// path is where the file lies, without links.
	path string
	info fs.FileInfo
	// virtual says that the kernel generates the content, as in /proc.
	virtual bool
	// private says that only the file's owner may read it, and that no person gave it: it may be a key.
	private bool
}

// resolve finds the file that a path leads to, without opening it: a device does nothing, and a pipe does not
// block.
func resolve(path string) (*handle, error) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, err
	}
	info, err := os.Lstat(real)
	if err != nil {
		return nil, err
	}
	return &handle{path: real, info: info}, nil
}

// open opens the file for reading. It follows no link on the way, so that a directory that was replaced by
// one leads nowhere else.
func (f *handle) open() (*os.File, error) {
	top := filepath.VolumeName(f.path) + string(filepath.Separator)
	dir, err := os.OpenRoot(top)
	if err != nil {
		return nil, err
	}
	defer func() { _ = dir.Close() }()
	names := strings.Split(strings.TrimPrefix(f.path, top), string(filepath.Separator))
	for _, name := range names[:len(names)-1] {
		next, err := f.enter(dir, name)
		if err != nil {
			return nil, err
		}
		_ = dir.Close()
		dir = next
	}
	file, err := dir.OpenFile(names[len(names)-1], openFlags, 0)
	if err != nil {
		return nil, err
	}
	// A new file may have the number of one that was removed.
	if info, err := file.Stat(); err != nil || !os.SameFile(info, f.info) || !info.Mode().IsRegular() {
		_ = file.Close()
		return nil, f.changed()
	}
	return file, nil
}

func (f *handle) enter(dir *os.Root, name string) (*os.Root, error) {
	before, err := dir.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !before.IsDir() {
		return nil, f.changed()
	}
	next, err := dir.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	if after, err := next.Stat("."); err != nil || !os.SameFile(before, after) {
		_ = next.Close()
		return nil, f.changed()
	}
	return next, nil
}

// openFlags keep the opening of a pipe from blocking.
var openFlags = os.O_RDONLY | nonblock()

func nonblock() int {
	if runtime.GOOS == "windows" {
		return 0
	}
	return syscall.O_NONBLOCK
}

// openRoot opens the directory. Files opened below it cannot lie outside of it.
func (f *handle) openRoot() (*os.Root, error) {
	root, err := os.OpenRoot(f.path)
	if err != nil {
		return nil, err
	}
	if info, err := root.Stat("."); err != nil || !os.SameFile(info, f.info) {
		_ = root.Close()
		return nil, f.changed()
	}
	return root, nil
}

// identity is not known here: a file with several names is listed under each.
func identity(fs.FileInfo) (id string, several bool) { return "", false }

func (f *handle) changed() error { return fmt.Errorf("%q was replaced while it was opened", f.path) }

func (f *handle) close() {}
