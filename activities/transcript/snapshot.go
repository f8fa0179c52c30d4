package transcript

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"axiommind/activities/transcript/format"
)

// sideFiles are what SQLite keeps beside a database and needs to read it. What is in shared memory it makes
// anew.
var sideFiles = []string{"-wal", "-journal"}

const (
	// maxDatabaseBytes bounds a database that is copied to be read, and each file beside it.
	maxDatabaseBytes = 16 << 30
	snapshotTries    = 5
	snapshotPause    = 100 * time.Millisecond
	// headerBytes hold what SQLite changes in a database when it is written, and in a write-ahead log when
	// that is begun anew. Times of files are too coarse to tell alone.
	headerBytes = 100
	logBytes    = 32
)

// snapshot copies a database that others may be writing, with what lies beside it, to a new file. SQLite
// itself opens files by their paths, which may be replaced by links meanwhile, and writes beside them.
func snapshot(path, name string, most int64) error {
	for try := range snapshotTries {
		if try > 0 {
			time.Sleep(snapshotPause)
		}
		whole, err := copyOnce(path, name, most)
		if err != nil || whole {
			return err
		}
	}
	return fmt.Errorf("%w: %q was written all the while it was copied", format.ErrTryAgain, path)
}

// copyOnce reports whether what it copied is one state of the database. It is when the database did not
// change and its log was not begun anew: what was appended to the log meanwhile is a later state or, cut
// short, is passed over by SQLite.
func copyOnce(path, name string, most int64) (whole bool, err error) {
	file, err := openExactly(path)
	if err != nil {
		return false, err
	}
	defer func() { _ = file.Close() }()
	before, err := file.Stat()
	if err != nil {
		return false, err
	}
	headersBefore, err := headersOf(path)
	if err != nil {
		return false, err
	}
	if err := copyFile(file, name, most); err != nil {
		return false, err
	}
	for _, side := range sideFiles {
		if err := copySide(path+side, name+side, most); err != nil {
			return false, err
		}
	}
	after, err := file.Stat()
	if err != nil {
		return false, err
	}
	headersAfter, err := headersOf(path)
	unchanged := before.Size() == after.Size() && before.ModTime().Equal(after.ModTime())
	return unchanged && bytes.Equal(headersBefore, headersAfter), err
}

// openExactly opens the file of a path that holds no link.
func openExactly(path string) (*os.File, error) {
	f, err := look(path)
	if err != nil {
		return nil, err
	}
	defer f.close()
	switch kind := kindOf(f.info.Mode()); {
	case f.path != path:
		return nil, fmt.Errorf("%q is or has become a link", path)
	case kind != "":
		return nil, fmt.Errorf("%q is %s, not a regular file", path, kind)
	}
	return f.open()
}

// headersOf returns the headers of a database and of its log.
func headersOf(path string) ([]byte, error) {
	header, err := startOf(path, headerBytes)
	if err != nil {
		return nil, err
	}
	log, err := startOf(path+"-wal", logBytes)
	return append(header, log...), err
}

// startOf returns the first bytes of a file; none when there is no file.
func startOf(path string, n int64) ([]byte, error) {
	file, err := openExactly(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	return io.ReadAll(io.LimitReader(file, n))
}

func copySide(path, name string, most int64) error {
	file, err := openExactly(path)
	if errors.Is(err, fs.ErrNotExist) {
		return removeStale(name)
	}
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	return copyFile(file, name, most)
}

// removeStale removes what an earlier try has copied.
func removeStale(name string) error {
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func copyFile(from *os.File, name string, most int64) error {
	info, err := from.Stat()
	if err != nil {
		return err
	}
	if info.Size() > most {
		return fmt.Errorf("%w: %q has %d bytes, more than %d", format.ErrTooLarge, from.Name(), info.Size(), most)
	}
	to, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("%w: %w", format.ErrTryAgain, err)
	}
	_, err = io.Copy(to, io.LimitReader(from, most))
	if err = errors.Join(err, to.Close()); err != nil {
		return fmt.Errorf("%w: %w", format.ErrTryAgain, err)
	}
	return nil
}
