package transcript

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"axiommind/activities/transcript/format"
)

// sidecars are the suffixes of the files that SQLite needs to read a database. It can rebuild the third, its shared
// memory.
var sidecars = []string{"-wal", "-journal"}

const (
	snapshotTries = 5
	snapshotPause = 100 * time.Millisecond
	// copyBytes is how much is copied between two looks at the context.
	copyBytes = 16 << 20
	// SQLite changes the first headerBytes of a database when it writes to it, and the first logBytes of a
	// write-ahead log when it starts the log again. File times alone are too coarse.
	headerBytes = 100
	logBytes    = 32
)

// snapshot copies a database that other processes may be writing, with its sidecars, to a new file, unless they have
// more bytes than the limit. SQLite cannot read the original safely: it opens files by paths that a link may replace
// meanwhile, and writes next to them.
func snapshot(ctx context.Context, path, name string, limit int64) error {
	for try := range snapshotTries {
		if try > 0 {
			time.Sleep(snapshotPause)
		}
		whole, err := copyOnce(ctx, path, name, limit)
		if err != nil || whole {
			return err
		}
	}
	return fmt.Errorf("%w: %q was written all the while it was copied", format.ErrTryAgain, path)
}

// copyOnce copies the database and reports whether the copy is consistent: the database did not change, and its log was
// not started again. Bytes appended to the log meanwhile are a later state, or are incomplete and ignored by SQLite.
func copyOnce(ctx context.Context, path, name string, limit int64) (whole bool, err error) {
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
	left := limit - before.Size()
	if left < 0 {
		return false, fmt.Errorf("%w: database %q has %d bytes, more than %d: leave it out", format.ErrTooLarge, path, before.Size(), limit)
	}
	if err := copyFile(ctx, file, name, before.Size()); err != nil {
		return false, err
	}
	for _, side := range sidecars {
		if left, err = copySidecar(ctx, path+side, name+side, left); err != nil {
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

// openExactly opens a regular file by a path without links.
func openExactly(path string) (*os.File, error) {
	f, err := resolve(path)
	if err != nil {
		return nil, err
	}
	defer f.close()
	switch kind := KindOf(f.info.Mode()); {
	case f.path != path:
		return nil, fmt.Errorf("%q is or has become a link", path)
	case kind != "":
		return nil, fmt.Errorf("%q is %s, not a regular file", path, kind)
	}
	return f.open()
}

// headersOf returns the headers of a database and of its write-ahead log.
func headersOf(path string) ([]byte, error) {
	header, err := firstBytes(path, headerBytes)
	if err != nil {
		return nil, err
	}
	log, err := firstBytes(path+"-wal", logBytes)
	return append(header, log...), err
}

// firstBytes returns the first bytes of a file; none when there is no file.
func firstBytes(path string, n int64) ([]byte, error) {
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

// copySidecar copies a sidecar of a database, and returns how many bytes are left of the limit.
func copySidecar(ctx context.Context, path, name string, limit int64) (left int64, err error) {
	file, err := openExactly(path)
	if errors.Is(err, fs.ErrNotExist) {
		return limit, removeStale(name)
	}
	if err != nil {
		return 0, err
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		return 0, err
	}
	if info.Size() > limit {
		return 0, fmt.Errorf("%w: %q has %d bytes, of which %d are left to it and its database: leave it out", format.ErrTooLarge, path, info.Size(), limit)
	}
	return limit - info.Size(), copyFile(ctx, file, name, info.Size())
}

// removeStale removes the copy of an earlier try.
func removeStale(name string) error {
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// copyFile copies the first bytes of a file.
func copyFile(ctx context.Context, from *os.File, name string, size int64) error {
	to, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("%w: %w", format.ErrTryAgain, err)
	}
	for done := int64(0); done < size && err == nil; done += copyBytes {
		if err = ctx.Err(); err == nil {
			_, err = io.Copy(to, io.LimitReader(from, min(copyBytes, size-done)))
		}
	}
	if err = errors.Join(err, to.Close()); err != nil {
		return fmt.Errorf("%w: %w", format.ErrTryAgain, err)
	}
	return nil
}
