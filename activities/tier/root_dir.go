package tier

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"axiommind/schema"
)

// strandedAfter is the age at which a temporary file is taken for one that its writer left behind when it was killed.
const strandedAfter = time.Hour

// settledAfter is the age from which the time of a file shows whether it was changed since. A file may be changed again
// within the resolution of its file system's clock, which is two seconds at worst.
const settledAfter = 3 * time.Second

// openDirectory makes the directory if it does not exist, and checks that it can be listed.
func openDirectory(dir string) error {
	if err := os.MkdirAll(dir, dirMode); err != nil {
		return err
	}
	d, err := os.Open(dir) //nolint:gosec // the root
	if err != nil {
		return err
	}
	_, err = d.Readdirnames(1)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return errors.Join(err, d.Close())
}

// walkDir returns the paths of all files below the directory, in order, with slashes.
func walkDir(dir string) ([]string, error) {
	var paths []string
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		path, err = filepath.Rel(dir, path)
		paths = append(paths, filepath.ToSlash(path))
		return err
	})
	return paths, err
}

// listDir is [Root.List] for a directory. A link is listed as its target.
func listDir(dir string) (map[string]string, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return map[string]string{}, nil
	}
	if err != nil {
		return nil, err
	}
	files := make(map[string]string, len(entries))
	for _, e := range entries {
		info, err := os.Stat(filepath.Join(dir, e.Name()))
		switch {
		case err != nil || info.IsDir():
			// A link that leads nowhere, a file that was removed just now, or a directory.
		case time.Since(info.ModTime()) < settledAfter:
			files[e.Name()] = ""
		default:
			files[e.Name()] = fmt.Sprintf("%d %d", info.Size(), info.ModTime().UnixNano())
		}
	}
	return files, nil
}

// replaceFile replaces the file of a directory, or the one to which a link leads, at once or not at all.
func replaceFile(ctx context.Context, path, text string) error {
	path, err := linked(path)
	if err != nil {
		return err
	}
	dir, name := filepath.Split(path)
	if err := os.MkdirAll(dir, dirMode); err != nil {
		return err
	}
	// A rename is atomic within one file system only, so the temporary file is in the same directory.
	temp, err := os.CreateTemp(dir, name+".*"+tempSuffix)
	if err != nil {
		return err
	}
	_, err = temp.WriteString(text)
	err = errors.Join(err, temp.Chmod(modeOf(path)), temp.Sync(), temp.Close(), ctx.Err())
	if err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temp.Name()))
	}
	return settle(dir)
}

// linked returns the file to which the path leads if it is a link, or the path.
func linked(path string) (string, error) {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.Mode()&fs.ModeSymlink == 0 {
		return path, nil
	}
	if err != nil {
		return "", err
	}
	target, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", errDangling
	}
	return target, err
}

// modeOf returns the mode of the file, for a person may have given it to others, or the one that new files have.
func modeOf(path string) os.FileMode {
	if info, err := os.Stat(path); err == nil {
		return info.Mode().Perm() | fileMode
	}
	return fileMode
}

// tempSuffix ends the name of a temporary file. The name of the file that is written begins it, and a random number follows.
const tempSuffix = ".tmp"

// written returns the name of the Markdown file for which a temporary file was made, or "" for any other name.
func written(name string) string {
	stem, is := strings.CutSuffix(name, tempSuffix)
	end := strings.LastIndexByte(stem, '.')
	if !is || end < 0 || !strings.HasSuffix(stem[:end], ".md") {
		return ""
	}
	return stem[:end]
}

// tempsOf returns the temporary files of a file.
func tempsOf(path string) (paths []string, err error) {
	dir, name := filepath.Split(path)
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		if written(e.Name()) == name {
			paths = append(paths, filepath.Join(dir, e.Name()))
		}
	}
	return paths, err
}

// settle makes a rename in the directory survive a loss of power. It also removes the leftovers of writers that were
// killed before their rename, of this file or another one.
func settle(dir string) error {
	d, err := os.Open(dir) //nolint:gosec // a directory of the root, or the one to which a link in it leads
	if err != nil {
		return err
	}
	defer func() { _ = d.Close() }()
	if err := d.Sync(); err != nil {
		return err
	}
	entries, err := d.ReadDir(-1)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if written(e.Name()) == "" {
			continue
		}
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > strandedAfter {
			_ = os.Remove(filepath.Join(dir, e.Name()))
		}
	}
	return nil
}

// RemoveEmpty removes the empty directories of a memory, as far as it can: their names identify the owner.
func (r *Root) RemoveEmpty(user, agent string) {
	if r.dir == "" {
		return
	}
	l := layout{user, agent}
	for _, dir := range []string{l.dated(schema.RecordDiary), l.dir(), filepath.ToSlash(filepath.Dir(l.dir())), layout{user: user}.dir()} {
		if dir != "." && dir != "memory" {
			_ = os.Remove(r.where(dir)) // It fails where something is left.
		}
	}
}
