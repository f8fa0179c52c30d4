package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"axiommind/activities/transcript"
)

// found is the content of a directory: files to read, what is not a file, and what could not be read.
type found struct {
	files              []string
	passed, unreadable []*job
}

// walk lists the files of the directory and of those below it. It fails only if the directory itself can't be read.
func walk(dir string) (found, error) {
	var f found
	// With the separator at the end, a link to a directory is followed.
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
			f.passed = append(f.passed, &job{File: path, Error: unread(d.Type())})
		}
		return nil
	})
	return f, err
}

// unread says why something that is not a regular file is skipped.
func unread(mode fs.FileMode) string {
	reason := "is " + transcript.KindOf(mode)
	if mode&fs.ModeSymlink != 0 {
		reason += ", which is not followed; give it by name"
	}
	return reason
}

// reasonOf is the text of the error without the path, which the caller prints.
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
