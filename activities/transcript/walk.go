package transcript

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// walk walks the files of a directory and of those below it, in the order of their paths. It follows no link, and so it
// never leaves the directory.
type walk struct {
	root *os.Root
	// path is the directory's.
	path string
	// done reports whether an earlier walk has visited a file.
	done func(file string) bool
	// visit is called for each other file with its path below the directory. A directory is visited if it cannot be read,
	// or is one of the system.
	visit func(file string, info fs.FileInfo, err error) error
	// skipped is called for the files that are done.
	skipped func(file string, info fs.FileInfo)
}

func (w *walk) run() error { return w.dir(".") }

// dir walks one directory. Only an error of visit ends the walk, and one of the first directory.
func (w *walk) dir(dir string) error {
	names, err := w.read(dir)
	switch {
	case err == nil:
	case dir == ".":
		return err
	default:
		if err := w.file(dir, nil, err); err != nil {
			return err
		}
	}
	for _, name := range names {
		file := filepath.Join(dir, name)
		info, err := w.root.Lstat(file)
		if err == nil && info.IsDir() && !systemPath(filepath.Join(w.path, file)) {
			err = w.dir(file)
		} else {
			err = w.file(file, info, err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *walk) file(file string, info fs.FileInfo, err error) error {
	if !w.done(file) {
		return w.visit(file, info, err)
	}
	if err == nil {
		w.skipped(file, info)
	}
	return nil
}

// comparePaths compares paths by the order in which they are walked.
func comparePaths(a, b string) int {
	const separator = string(filepath.Separator)
	return slices.Compare(strings.Split(a, separator), strings.Split(b, separator))
}

// read returns the names in a directory, sorted. With an error it may return some of them.
func (w *walk) read(dir string) ([]string, error) {
	f, err := w.root.Open(dir)
	if err != nil {
		return nil, err
	}
	names, err := f.Readdirnames(-1)
	slices.SortFunc(names, cmp.Compare[string])
	return names, errors.Join(err, f.Close())
}
