package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// found is what lies in a directory: files to read, what is none, and what could not be read.
type found struct {
	files              []string
	passed, unreadable []*job
}

// walk lists the directory and those below it. The error says why the directory itself can't be read.
func walk(dir string) (found, error) {
	var f found
	// The separator at the end has a link to a directory followed.
	root := dir + string(filepath.Separator)
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		switch {
		case err != nil && path == root:
			return err
		case err != nil:
			f.unreadable = append(f.unreadable, (&job{File: path}).refuse(reasonOf(err, path)))
			if d != nil && d.IsDir() {
				return fs.SkipDir
			}
		case d.Type().IsRegular():
			f.files = append(f.files, path)
		case !d.IsDir():
			f.passed = append(f.passed, &job{File: path, Error: kindOf(d.Type())})
		}
		return nil
	})
	return f, err
}

// kindOf says what is no file.
func kindOf(mode fs.FileMode) string {
	switch {
	case mode&fs.ModeSymlink != 0:
		return "is a symbolic link, which is not followed; give it by name"
	case mode&fs.ModeNamedPipe != 0:
		return "is a named pipe"
	case mode&fs.ModeSocket != 0:
		return "is a socket"
	case mode&fs.ModeDevice != 0:
		return "is a device"
	default:
		return "is no regular file"
	}
}

// reasonOf is the error without the path, which is printed before it.
func reasonOf(err error, path string) string {
	var of *fs.PathError
	if errors.As(err, &of) {
		return of.Err.Error()
	}
	text := err.Error()
	if abs, absErr := filepath.Abs(path); absErr == nil {
		if _, rest, ok := strings.Cut(text, strconv.Quote(abs)); ok {
			text = strings.TrimPrefix(strings.TrimSpace(rest), ": ")
		}
	}
	return plainWords(text)
}
