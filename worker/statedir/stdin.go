package statedir

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// StdinAge is how long a copy of standard input is kept whose build does not end well: longer than any run waits, and long
// enough to retry it.
const StdinAge = 7 * 24 * time.Hour

// IsStdin reports whether the URI names a copy of standard input.
func (d Dir) IsStdin(uri string) bool {
	u, err := url.Parse(uri)
	return err == nil && d != "" && filepath.Dir(filepath.Dir(filepath.FromSlash(u.Path))) == d.Path(Stdin)
}

// DropStdin removes the copy of standard input that the URI names. Any other URI is left alone.
func (d Dir) DropStdin(uri string) {
	if u, err := url.Parse(uri); err == nil && d.IsStdin(uri) {
		path := filepath.FromSlash(u.Path)
		_ = os.Remove(path)
		_ = os.Remove(filepath.Dir(path)) // It fails where another copy is left.
	}
}

// writing is how long a copy may take to be written.
const writing = time.Hour

// Copies returns the paths of the copies of standard input, except those being written.
func (d Dir) Copies() ([]string, error) {
	var paths []string
	dirs, err := os.ReadDir(d.Path(Stdin))
	if os.IsNotExist(err) {
		return nil, nil
	}
	for _, dir := range dirs {
		files, _ := os.ReadDir(filepath.Join(d.Path(Stdin), dir.Name())) // It may be gone meanwhile.
		for _, f := range files {
			if info, err := f.Info(); err != nil || strings.HasPrefix(f.Name(), ".") && time.Since(info.ModTime()) < writing {
				continue
			}
			paths = append(paths, filepath.Join(d.Path(Stdin), dir.Name(), f.Name()))
		}
	}
	return paths, err
}

// sweepStdin removes the copies of standard input that were made before then. A later start retries failed removals.
func (d Dir) sweepStdin(then time.Time) {
	copies, _ := os.ReadDir(d.Path(Stdin))
	for _, c := range copies {
		if info, err := c.Info(); err == nil && info.ModTime().Before(then) {
			_ = os.RemoveAll(filepath.Join(d.Path(Stdin), c.Name()))
		}
	}
}
