package tier

import (
	"cmp"
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
	"time"

	"axiommind/schema"
)

// MaxFileBytes is the size of the largest file that is read.
const MaxFileBytes = 64 << 20

// Modes of the files and directories of a root. Memory is private to its owner.
const (
	dirMode  = 0o700
	fileMode = 0o600
)

// openTimeout bounds the time in which a root must answer when it is opened.
const openTimeout = 30 * time.Second

// Root is the place of the files of all memories: a directory or a bucket, given by URL. It is safe for concurrent use.
type Root struct {
	url string
	// dir is the directory. It is empty for a bucket, whose names all begin with the prefix.
	dir    string
	bucket Bucket
	prefix string
}

// schemeFile is the scheme of directories.
const schemeFile = "file"

// File is a file of the root as it was read.
type File struct {
	Text   string
	Exists bool
	// version is the object's version in a bucket.
	version string
}

// OpenRoot opens the root: file:///path, s3://bucket?region=… or gs://bucket. A path after the bucket's name is a prefix
// of all names in it. A plain path is a directory, which is made if it does not exist. open opens buckets; if it is nil,
// they are refused. Errors are [FilesError]s.
func OpenRoot(ctx context.Context, rawURL string, open OpenBucket) (*Root, error) {
	u, err := parseRoot(rawURL)
	if err != nil {
		return nil, err
	}
	r := &Root{url: publicURL(u)}
	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	switch {
	case u.Scheme == schemeFile:
		r.dir = u.Path
		err = openDirectory(u.Path)
	case open == nil:
		err = errNoBuckets
	default:
		if prefix := strings.Trim(u.Path, "/"); prefix != "" {
			r.prefix = prefix + "/"
		}
		r.bucket, err = open(ctx, u)
	}
	if err != nil {
		return nil, filesError("open", r.url, withoutURL(err, u))
	}
	return r, nil
}

var (
	errBadURL    = errors.New("want a directory, file:///path, s3://bucket?region=… or gs://bucket")
	errNoBuckets = errors.New("this program opens directories only")
)

// parseRoot returns the URL. That of a directory is absolute.
func parseRoot(raw string) (*url.URL, error) {
	refused := func(err error) (*url.URL, error) {
		return nil, &FilesError{Op: "open", Where: "the root of the memory's files", Err: err}
	}
	if raw == "" || strings.ContainsRune(raw, 0) {
		return refused(errBadURL)
	}
	if !strings.Contains(raw, "://") {
		dir, err := filepath.Abs(raw)
		if err != nil {
			return refused(err)
		}
		return &url.URL{Scheme: schemeFile, Path: dir}, nil
	}
	u, err := url.Parse(raw)
	if err != nil {
		return refused(errBadURL) // The error would repeat the URL with its secrets.
	}
	switch {
	case u.Scheme == schemeFile:
		if u.Host != "" && u.Host != "localhost" || !filepath.IsAbs(u.Path) || u.RawQuery != "" {
			return refused(fmt.Errorf("%q: want an absolute path without parameters, as in file:///srv/memory", publicURL(u)))
		}
		u.Path = filepath.Clean(u.Path)
	case u.Scheme != "s3" && u.Scheme != "gs", u.Host == "":
		return refused(fmt.Errorf("%q: %w", publicURL(u), errBadURL))
	}
	return u, nil
}

// publicURL returns the URL without the parts that may be secret: user, password and parameters.
func publicURL(u *url.URL) string {
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}

// withoutURL takes the URL out of the message of an error, if the URL holds more than may be shown.
func withoutURL(err error, u *url.URL) error {
	if u.RawQuery == "" && u.User == nil {
		return err
	}
	message := strings.NewReplacer(u.String(), publicURL(u), "?"+u.RawQuery, "").Replace(err.Error())
	if message == err.Error() {
		return err
	}
	return &redactedError{message, err}
}

// redactedError is an error with another message.
type redactedError struct {
	message string
	err     error
}

func (e *redactedError) Error() string { return e.message }
func (e *redactedError) Unwrap() error { return e.err }

// URL returns the root's URL, without secrets.
func (r *Root) URL() string { return r.url }

// Close releases the root.
func (r *Root) Close() error {
	if r.bucket == nil {
		return nil
	}
	return r.bucket.Close()
}

// where names a file of the root for people.
func (r *Root) where(path string) string {
	if r.dir != "" {
		return filepath.Join(r.dir, filepath.FromSlash(path))
	}
	return strings.TrimSuffix(r.url, "/") + "/" + path
}

// Read returns the file. A missing file is no error. Anything else in its place in a directory, other than a link to a
// file, is an error.
func (r *Root) Read(ctx context.Context, path string) (File, error) {
	if r.dir != "" {
		if info, err := os.Stat(r.where(path)); err == nil && !info.Mode().IsRegular() {
			return File{}, &FilesError{Op: "read", Where: r.where(path), Err: errNoFile}
		}
	}
	object, err := r.open(ctx, path)
	if errors.Is(err, fs.ErrNotExist) {
		return File{}, nil
	}
	if err != nil {
		return File{}, filesError("read", r.where(path), err)
	}
	defer func() { _ = object.Body.Close() }()
	if object.Size > MaxFileBytes {
		return File{}, &FilesError{Op: "read", Where: r.where(path), Err: fmt.Errorf("it has %d bytes and may have %d: make it smaller", object.Size, MaxFileBytes)}
	}
	text, err := io.ReadAll(object.Body)
	if err != nil {
		return File{}, filesError("read", r.where(path), err)
	}
	return File{Text: string(text), Exists: true, version: object.Version}, nil
}

func (r *Root) open(ctx context.Context, path string) (Object, error) {
	if r.dir == "" {
		return r.bucket.Get(ctx, r.prefix+path)
	}
	f, err := os.Open(r.where(path))
	if err != nil {
		return Object{}, err
	}
	info, err := f.Stat()
	if err != nil {
		return Object{}, errors.Join(err, f.Close())
	}
	return Object{Body: f, Size: info.Size()}, nil
}

// errNoFile says that something else has the name of a file.
var errNoFile = errors.New("it is not a file: move it away, for a file of the memory has this name")

// errDangling says that the target of a link is missing.
var errDangling = errors.New("it is a link to a file that does not exist: make that file, or remove the link")

// errChanged reports that another program wrote the file.
var errChanged = errors.New("another program changed it just now")

// Write replaces the file, at once or not at all, if it has not changed since it was read. The text is stored when
// Write returns.
//
// In a bucket the server compares the file. In a directory it is read again right before it is replaced: there is no
// other way, as editors do not lock their files. There, a link stays a link: its target is replaced, wherever that is.
// Only the owner of the root can create a link in it, and so chooses the place of the file.
func (r *Root) Write(ctx context.Context, path, text string, over File) error {
	var err error
	if r.dir != "" {
		var now File
		if now, err = r.Read(ctx, path); err != nil {
			return err
		}
		if now.Exists != over.Exists || now.Text != over.Text {
			return &FilesError{Op: "write", Where: r.where(path), Temporary: true, Err: errChanged}
		}
		err = replaceFile(ctx, r.where(path), text)
	} else {
		err = r.bucket.Put(ctx, r.prefix+path, []byte(text), over.version)
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errDangling):
		return &FilesError{Op: "write", Where: r.where(path), Err: err}
	case errors.Is(err, ErrChanged):
		return &FilesError{Op: "write", Where: r.where(path), Temporary: true, Err: errChanged}
	}
	return filesError("write", r.where(path), err)
}

// List returns the files in a directory of the root, without those in the directories below it: the name of each, and a
// version that differs if the file was changed. The version is empty if it is unknown.
func (r *Root) List(ctx context.Context, dir string) (map[string]string, error) {
	if r.dir != "" {
		files, err := listDir(r.where(dir))
		if err != nil {
			return nil, filesError("list", r.where(dir), err)
		}
		return files, nil
	}
	prefix := r.prefix
	if dir != "" {
		prefix += dir + "/"
	}
	files := map[string]string{}
	for object, err := range r.bucket.List(ctx, prefix, false) {
		if err != nil {
			return nil, filesError("list", r.where(dir), err)
		}
		files[strings.TrimPrefix(object.Name, prefix)] = object.listed()
	}
	return files, nil
}

// listed is the version of an object in a listing. The time alone is not enough: that of S3 is in seconds.
func (o ListedObject) listed() string {
	if o.Version == "" {
		return ""
	}
	return fmt.Sprintf("%d %d %s", o.Size, o.Modified.UnixNano(), o.Version)
}

// Remove deletes the file. A missing file is no error. In the place of a link, both the link and its target are deleted,
// because the target has the memory to forget. So are their temporary files, which have the same content.
func (r *Root) Remove(ctx context.Context, path string) error {
	if r.dir != "" {
		names := []string{r.where(path)}
		if target, err := filepath.EvalSymlinks(names[0]); err == nil && target != names[0] {
			names = []string{target, names[0]}
		}
		for _, name := range names {
			temps, err := tempsOf(name)
			if err != nil {
				return filesError("delete", name, err)
			}
			for _, name := range append(temps, name) {
				if err := os.Remove(name); err != nil && !os.IsNotExist(err) {
					return filesError("delete", name, err)
				}
			}
		}
		return nil
	}
	if err := r.bucket.Delete(ctx, r.prefix+path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return filesError("delete", r.where(path), err)
	}
	return nil
}

// FilesOf returns the paths of the files of a memory that are in the root: those that the program writes, dated ones that
// a person has made, and temporary files that a killed writer has left.
func (r *Root) FilesOf(ctx context.Context, user, agent string) ([]string, error) {
	l := layout{user, agent}
	var paths []string
	core, err := r.Read(ctx, l.core())
	if err != nil {
		return nil, err
	}
	if core.Exists {
		paths = append(paths, l.core())
	}
	dir := strings.TrimSuffix(l.core(), coreFile)
	inDir, err := r.List(ctx, strings.TrimSuffix(dir, "/"))
	if err != nil {
		return nil, err
	}
	for name := range inDir {
		if written(name) == coreFile {
			paths = append(paths, dir+name)
		}
	}
	for _, kind := range []schema.RecordKind{schema.RecordDaily, schema.RecordDiary} {
		files, err := r.List(ctx, l.dated(kind))
		if err != nil {
			return nil, err
		}
		for name := range files {
			if date, ok := strings.CutSuffix(cmp.Or(written(name), name), ".md"); ok && isDate(date) {
				paths = append(paths, l.dated(kind)+"/"+name)
			}
		}
	}
	slices.Sort(paths)
	return paths, nil
}

// Walk calls f with each Markdown file of the root, of whatever memory, and with those that a killed writer has left.
func (r *Root) Walk(ctx context.Context, f func(path, text string)) error {
	paths, err := r.paths(ctx)
	if err != nil {
		return filesError("list", r.url, err)
	}
	for _, path := range paths {
		if !strings.HasSuffix(cmp.Or(written(path), path), ".md") {
			continue
		}
		file, err := r.Read(ctx, path)
		if err != nil {
			return err
		}
		f(path, file.Text)
	}
	return nil
}

// paths returns the paths of all files of the root.
func (r *Root) paths(ctx context.Context) ([]string, error) {
	if r.dir != "" {
		return walkDir(r.dir)
	}
	var paths []string
	for object, err := range r.bucket.List(ctx, r.prefix, true) {
		if err != nil {
			return nil, err
		}
		paths = append(paths, strings.TrimPrefix(object.Name, r.prefix))
	}
	return paths, nil
}
