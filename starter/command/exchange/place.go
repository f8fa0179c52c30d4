package exchange

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"axiommind/activities/tier"
	"axiommind/activities/tier/bucket"
	"axiommind/starter/command"
)

// place is where a backup is kept: a directory, or a bucket of S3 with a prefix.
type place interface {
	// Put writes a file, or returns fs.ErrExist if there is one of the name.
	Put(ctx context.Context, name string, content []byte) error
	// Open opens a file. The error is fs.ErrNotExist if there is none.
	Open(ctx context.Context, name string) (io.ReadCloser, error)
	// Names returns the names of the files, in order.
	Names(ctx context.Context) ([]string, error)
	// Remove removes a file, if it is there.
	Remove(ctx context.Context, name string) error
	String() string
}

// openPlace opens the place that a path or a URL names. A directory is made if makes is set.
func openPlace(ctx context.Context, raw string, makes bool) (place, error) {
	if !strings.Contains(raw, "://") {
		return openDirectory(raw, makes)
	}
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" && u.Scheme == "s3" {
		return nil, command.Usagef("this is no URL of a place for a backup: give a directory, or s3://BUCKET/PREFIX?region=…") // The error would repeat secrets.
	}
	switch u.Scheme {
	case "file":
		if u.Host != "" && u.Host != "localhost" || u.Path == "" {
			return nil, command.Usagef("file://%s%s: want an absolute path, as in file:///mnt/backup", u.Host, u.Path)
		}
		return openDirectory(u.Path, makes)
	case "s3":
		b, err := bucket.Open(ctx, u)
		if err != nil {
			return nil, fmt.Errorf("open s3://%s: %w", u.Host, err)
		}
		prefix := strings.Trim(u.Path, "/")
		if prefix != "" {
			prefix += "/"
		}
		return inBucket{b, prefix, "s3://" + u.Host + "/" + prefix}, nil
	}
	return nil, command.Usagef("backups are kept in a directory or in s3://BUCKET/PREFIX, not in %s://", u.Scheme)
}

// directory is a place on this machine. Only its owner may read the files.
type directory string

func openDirectory(dir string, makes bool) (place, error) {
	if makes {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, command.BadUsage(err)
		}
	}
	path, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, command.BadUsage(err)
	}
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return nil, command.Usagef("%q is not a directory", dir)
	}
	return directory(path), nil
}

func (d directory) String() string { return string(d) }

func (d directory) path(name string) string {
	return filepath.Join(string(d), filepath.FromSlash(name))
}

// Put writes the file under another name first. A link gives it its name, because a rename would replace another file; some
// file systems have no links.
func (d directory) Put(_ context.Context, name string, content []byte) error {
	path := d.path(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	file, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(file.Name()) }()
	_, err = file.Write(content)
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	if err := os.Link(file.Name(), path); errors.Is(err, fs.ErrExist) {
		return err
	} else if err != nil {
		if _, gone := os.Lstat(path); gone == nil {
			return fs.ErrExist
		}
		if err := os.Rename(file.Name(), path); err != nil {
			return err
		}
	}
	return syncDirectory(filepath.Dir(path))
}

// syncDirectory makes the names in the directory last.
func syncDirectory(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

func (d directory) Open(_ context.Context, name string) (io.ReadCloser, error) {
	return os.Open(d.path(name))
}

// Names looks into no directory but those of parts: others may not be readable.
func (d directory) Names(context.Context) (names []string, err error) {
	entries, err := os.ReadDir(string(d))
	for _, e := range entries {
		if !e.IsDir() {
			names = append(names, e.Name())
			continue
		}
		if !partDir.MatchString(e.Name()) {
			continue
		}
		files, err := os.ReadDir(d.path(e.Name()))
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // Another run may have removed it.
			return nil, err
		}
		for _, file := range files {
			names = append(names, e.Name()+"/"+file.Name())
		}
	}
	slices.Sort(names)
	return names, err
}

// Remove also removes the file's directory, if it was the last one there.
func (d directory) Remove(_ context.Context, name string) error {
	err := os.Remove(d.path(name))
	if strings.Contains(name, "/") {
		_ = os.Remove(filepath.Dir(d.path(name)))
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// inBucket is a place in a bucket.
type inBucket struct {
	bucket       tier.Bucket
	prefix, name string
}

func (b inBucket) String() string { return b.name }

func (b inBucket) Put(ctx context.Context, name string, content []byte) error {
	err := b.bucket.Put(ctx, b.prefix+name, content, "")
	if errors.Is(err, tier.ErrChanged) {
		return fs.ErrExist
	}
	return err
}

func (b inBucket) Open(ctx context.Context, name string) (io.ReadCloser, error) {
	object, err := b.bucket.Get(ctx, b.prefix+name)
	return object.Body, err
}

func (b inBucket) Names(ctx context.Context) (names []string, err error) {
	for object, err := range b.bucket.List(ctx, b.prefix, true) {
		if err != nil {
			return nil, err
		}
		names = append(names, strings.TrimPrefix(object.Name, b.prefix))
	}
	slices.Sort(names)
	return names, nil
}

func (b inBucket) Remove(ctx context.Context, name string) error {
	err := b.bucket.Delete(ctx, b.prefix+name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
