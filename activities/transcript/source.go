package transcript

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"axiommind/activities/border"
	"axiommind/schema"
)

// FilePath returns the path of a file:// URI, or of a plain path.
func FilePath(uri string) (string, error) {
	if !strings.Contains(uri, "://") {
		return uri, nil
	}
	u, err := url.Parse(uri)
	if err != nil {
		return "", fmt.Errorf("read source %q: %w", uri, err)
	}
	if u.Scheme != "file" || (u.Host != "" && u.Host != "localhost") || u.Path == "" {
		return "", fmt.Errorf("read source %q: only files can be read; give file:///path", uri)
	}
	return filepath.FromSlash(u.Path), nil
}

// FileURI returns the file:// URI of a path.
func FileURI(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("find path %q: %w", path, err)
	}
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(abs)}).String(), nil
}

// SessionID is the session's own id, or else one derived from where it was read and its place
// there: the same file has the same id when it has grown.
func SessionID(s *Session, uri string, place int) string {
	if s.ID != "" {
		return s.ID
	}
	return "file-" + schema.HashParts(uri, fmt.Sprint(place))[:20]
}

// ReadSource reads the sessions of a URI, each with its id set, and tells what was read.
func ReadSource(ctx context.Context, uri, format string) ([]*Session, schema.Source, error) {
	path, err := FilePath(uri)
	if err != nil {
		return nil, schema.Source{}, border.Invalid(schema.ErrorInvalidInput, err)
	}
	// A pipe can be read once, but is read by the starter, by the worker, and by each retry.
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%q is not a regular file", path)
	}
	if err != nil {
		return nil, schema.Source{}, border.Invalid(schema.ErrorSourceUnreadable, fmt.Errorf("read source: %w", err))
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, schema.Source{}, border.Invalid(schema.ErrorSourceUnreadable, fmt.Errorf("read source: %w", err))
	}
	defer func() { _ = file.Close() }()
	sessions, source, err := readFrom(&contextReader{ctx, file}, path, format)
	if err != nil {
		return nil, schema.Source{}, err
	}
	source.URI = uri
	for i, s := range sessions {
		s.ID = SessionID(s, uri, i)
	}
	return sessions, source, nil
}

func readFrom(r io.Reader, path, format string) ([]*Session, schema.Source, error) {
	hash := sha256.New()
	counter := &countingWriter{}
	sessions, err := ParseAll(io.TeeReader(r, io.MultiWriter(hash, counter)), Options{Format: format, Name: path, Path: path})
	var known border.Failure
	switch {
	case errors.As(err, &known):
		return nil, schema.Source{}, err
	case err != nil: // What is cut off or broken stays so.
		return nil, schema.Source{}, border.Invalid(schema.ErrorSourceUnreadable, err)
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

// contextReader stops reading when its context ends.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (c *contextReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}
