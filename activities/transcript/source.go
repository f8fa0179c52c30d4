package transcript

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"strings"

	"axiommind/activities/boundary"
	"axiommind/activities/transcript/format"
	"axiommind/schema"
)

// filePath returns the path of a file:// URI, or of a plain path.
func filePath(uri string) (string, error) {
	if !strings.Contains(uri, "://") {
		return uri, nil
	}
	u, err := url.Parse(uri)
	if err != nil {
		return "", fmt.Errorf("read source %q: %w", uri, err)
	}
	switch {
	case u.Scheme != "file" || (u.Host != "" && u.Host != "localhost") || u.Path == "":
		return "", fmt.Errorf("read source %q: only files can be read; give file:///path", uri)
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return "", fmt.Errorf("read source %q: write ? as %%3F and # as %%23", uri)
	}
	return filepath.FromSlash(u.Path), nil
}

// absolutePath returns the clean path of a URI or path.
func absolutePath(uri string) (string, error) {
	path, err := filePath(uri)
	if err != nil {
		return "", err
	}
	if path == "" || strings.IndexByte(path, 0) >= 0 {
		return "", fmt.Errorf("read source %q: that is no path of a file", uri)
	}
	if path, err = filepath.Abs(path); err != nil {
		return "", fmt.Errorf("read source %q: %w", uri, err)
	}
	return path, nil
}

// FileURI returns the file:// URI of a path.
func FileURI(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("find path %q: %w", path, err)
	}
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(abs)}).String(), nil
}

// sessionID is the session's own id, or else one derived from its source and its position there. It stays
// the same when the file grows.
func sessionID(s *Session, uri string, place int) string {
	if s.ID != "" {
		return s.ID
	}
	return "file-" + schema.HashParts(uri, fmt.Sprint(place))[:20]
}

// ReadSource reads the sessions of a URI, each with its id set, and describes the source. It reads every file that the
// program's user can read; for a URI from someone else, see [Access].
func ReadSource(ctx context.Context, uri, formatName string) ([]*Session, schema.Source, error) {
	return readSource(ctx, uri, format.Options{Format: formatName}, resolveAnywhere)
}

// largeSource is the size in bytes above which a program reads one source at a time: a database is copied to the temporary
// directory, and a document is held in memory.
const largeSource = 64 << 20

// readingLarge holds one element while a large source is read.
var readingLarge = make(chan struct{}, 1)

func readSource(ctx context.Context, uri string, opts format.Options, resolve func(path string) (*handle, error)) ([]*Session, schema.Source, error) {
	path, err := absolutePath(uri)
	if err != nil {
		return nil, schema.Source{}, boundary.Invalid(schema.ErrorInvalidInput, err)
	}
	f, err := resolve(path)
	if err == nil {
		defer f.close()
	}
	file, err := openRegular(f, err)
	if err != nil {
		return nil, schema.Source{}, fmt.Errorf("read source: %w", err)
	}
	defer func() { _ = file.Close() }()
	if f.info.Size() > largeSource {
		select {
		case readingLarge <- struct{}{}:
			defer func() { <-readingLarge }()
		case <-ctx.Done():
			return nil, schema.Source{}, fmt.Errorf("read source %q: wait for another large one: %w", uri, context.Cause(ctx))
		}
	}
	opts.Name, opts.Size, opts.Detected = path, f.info.Size(), f.private
	opts.CopyDatabase = func(ctx context.Context, name string, limit int64) error { return snapshot(ctx, f.path, name, limit) }
	sessions, source, err := readFrom(ctx, file, opts)
	if opts.Detected && opts.Format != "" && errors.Is(err, format.ErrUnknownFormat) {
		err = &forbidden{fmt.Sprintf("%q can be read by its owner alone and shows no known format, so it may be a key: if it is a transcript, "+
			"give it to starter process on the worker's machine", path)}
	}
	if err != nil {
		return nil, schema.Source{}, err
	}
	source.URI = uri
	for i, s := range sessions {
		s.ID = sessionID(s, uri, i)
	}
	return sessions, source, nil
}

func readFrom(ctx context.Context, r io.Reader, opts format.Options) ([]*Session, schema.Source, error) {
	hash := sha256.New()
	counter := &countingWriter{}
	sessions, err := format.Parse(ctx, io.TeeReader(r, io.MultiWriter(hash, counter)), opts)
	var known boundary.Failure
	switch {
	case errors.As(err, &known), ctx.Err() != nil, errors.Is(err, format.ErrTryAgain):
		return nil, schema.Source{}, err
	case err != nil: // A retry would not mend a truncated or broken file.
		return nil, schema.Source{}, boundary.Invalid(schema.ErrorSourceUnreadable, err)
	}
	source := schema.Source{SHA256: hex.EncodeToString(hash.Sum(nil)), Bytes: counter.n}
	if len(sessions) > 0 {
		source.Format = sessions[0].Format
	}
	return sessions, source, nil
}

type countingWriter struct{ n int64 }

func (c *countingWriter) Write(p []byte) (int, error) {
	c.n += int64(len(p))
	return len(p), nil
}
