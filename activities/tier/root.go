package tier

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"cloud.google.com/go/storage"
	"github.com/aws/aws-sdk-go-v2/feature/s3/transfermanager"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
	"gocloud.dev/blob"
	"gocloud.dev/blob/fileblob"
	_ "gocloud.dev/blob/gcsblob" // gs://
	_ "gocloud.dev/blob/s3blob"  // s3://
	"gocloud.dev/gcerrors"

	"axiommind/schema"
)

// MaxFileBytes is the size of the largest file that is read.
const MaxFileBytes = 64 << 20

// Modes of what is made below a directory. Memory is a person's own.
const (
	dirMode  = 0o700
	fileMode = 0o600
)

// openTimeout bounds the time in which a root must answer when it is opened.
const openTimeout = 30 * time.Second

// Root is the place of the files of all memories: a directory or a bucket, given by URL. It is safe for concurrent use.
type Root struct {
	url    string
	bucket *blob.Bucket
	// dir is the directory, or empty for a bucket.
	dir string
}

// File is a file of the root as it was read.
type File struct {
	Text   string
	Exists bool
	// etag and generation name the object's version in S3 and in Google Cloud Storage.
	etag       string
	generation int64
}

// OpenRoot opens the root: file:///path, s3://bucket?region=… or gs://bucket. A path after the bucket's name is a prefix
// of all names in it. A plain path is a directory, which is made if it does not exist. Errors are [FilesError]s.
func OpenRoot(ctx context.Context, rawURL string) (*Root, error) {
	u, err := parseRoot(rawURL)
	if err != nil {
		return nil, err
	}
	r := &Root{url: publicURL(u)}
	if u.Scheme == fileblob.Scheme {
		r.dir = u.Path
	}
	if r.bucket, err = openBucket(ctx, u); err != nil {
		return nil, filesError("open", r.url, withoutURL(err, u))
	}
	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	ok, err := r.bucket.IsAccessible(ctx)
	if err == nil && !ok {
		err = errNoBucket
	}
	if err != nil {
		return nil, errors.Join(filesError("open", r.url, withoutURL(err, u)), r.bucket.Close())
	}
	return r, nil
}

var (
	errBadURL   = errors.New("want a directory, file:///path, s3://bucket?region=… or gs://bucket")
	errNoBucket = errors.New("the bucket does not exist, or may not be listed")
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
		return &url.URL{Scheme: fileblob.Scheme, Path: dir}, nil
	}
	u, err := url.Parse(raw)
	if err != nil {
		return refused(errBadURL) // The error would repeat the URL with what is secret in it.
	}
	switch {
	case u.Scheme == fileblob.Scheme:
		if u.Host != "" && u.Host != "localhost" || !filepath.IsAbs(u.Path) || u.RawQuery != "" {
			return refused(fmt.Errorf("%q: want an absolute path without parameters, as in file:///srv/memory", publicURL(u)))
		}
		u.Path = filepath.Clean(u.Path)
	case u.Scheme != "s3" && u.Scheme != "gs", u.Host == "":
		return refused(fmt.Errorf("%q: %w", publicURL(u), errBadURL))
	}
	return u, nil
}

func openBucket(ctx context.Context, u *url.URL) (*blob.Bucket, error) {
	if u.Scheme == fileblob.Scheme {
		return fileblob.OpenBucket(u.Path, &fileblob.Options{
			CreateDir: true, DirFileMode: dirMode, Metadata: fileblob.MetadataDontWrite,
		})
	}
	prefix := strings.Trim(u.Path, "/")
	bucketURL := *u
	bucketURL.Path = ""
	bucket, err := blob.OpenBucket(ctx, bucketURL.String())
	if err != nil || prefix == "" {
		return bucket, err
	}
	return blob.PrefixedBucket(bucket, prefix+"/"), nil
}

// publicURL returns the URL without what may be secret: user, password and parameters.
func publicURL(u *url.URL) string {
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}

// ShownRoot returns the root of an [OpenRoot] for people: a directory, or the URL without what may be secret.
func ShownRoot(rawURL string) string {
	u, err := parseRoot(rawURL)
	switch {
	case err != nil:
		return ""
	case u.Scheme == fileblob.Scheme:
		return u.Path
	default:
		return publicURL(u)
	}
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
func (r *Root) Close() error { return r.bucket.Close() }

// where names a file of the root for people.
func (r *Root) where(path string) string {
	if r.dir != "" {
		return filepath.Join(r.dir, filepath.FromSlash(path))
	}
	return strings.TrimSuffix(r.url, "/") + "/" + path
}

// Read returns the file. One that does not exist is no error. What stands in a directory in the place of the file, and is
// neither a file nor a link to one, is.
func (r *Root) Read(ctx context.Context, path string) (File, error) {
	if r.dir != "" {
		if info, err := os.Stat(r.where(path)); err == nil && !info.Mode().IsRegular() {
			return File{}, &FilesError{Op: "read", Where: r.where(path), Err: errNoFile}
		}
	}
	reader, err := r.bucket.NewReader(ctx, path, nil)
	if gcerrors.Code(err) == gcerrors.NotFound {
		return File{}, nil
	}
	if err != nil {
		return File{}, filesError("read", r.where(path), err)
	}
	defer func() { _ = reader.Close() }()
	if reader.Size() > MaxFileBytes {
		return File{}, &FilesError{Op: "read", Where: r.where(path), Err: fmt.Errorf("it has %d bytes and may have %d: make it smaller", reader.Size(), MaxFileBytes)}
	}
	text, err := io.ReadAll(reader)
	if err != nil {
		return File{}, filesError("read", r.where(path), err)
	}
	f := File{Text: string(text), Exists: true}
	var object s3.GetObjectOutput
	var stored *storage.Reader
	switch {
	case reader.As(&object) && object.ETag != nil:
		f.etag = *object.ETag
	case reader.As(&stored):
		f.generation = stored.Attrs.Generation
	}
	return f, nil
}

// errNoFile says that something else has the name of a file.
var errNoFile = errors.New("it is not a file: move it away, for a file of the memory has this name")

// errDangling says that the target of a link is missing.
var errDangling = errors.New("it is a link to a file that does not exist: make that file, or remove the link")

// errChanged says that somebody else wrote the file.
var errChanged = errors.New("somebody changed it just now")

// Write replaces the file, at once or not at all, if it still is as it was read. The text is stored when Write returns.
//
// In a bucket the server compares the file. In a directory it is read again right before it is replaced: there is no
// other way, as editors do not lock what they edit. There, a link stays a link: the file to which it leads is replaced,
// wherever that is. Only who owns the root can make a link in it, and so chooses where their file stands.
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
		err = r.upload(ctx, path, text, over)
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errDangling):
		return &FilesError{Op: "write", Where: r.where(path), Err: err}
	case r.dir != "":
		return filesError("write", r.where(path), err)
	}
	switch gcerrors.Code(err) {
	case gcerrors.FailedPrecondition:
		return &FilesError{Op: "write", Where: r.where(path), Temporary: true, Err: errChanged}
	case gcerrors.NotFound:
		err = errors.Join(errNoBucket, err)
	}
	return filesError("write", r.where(path), err)
}

// upload writes the object of a bucket.
func (r *Root) upload(ctx context.Context, path, text string, over File) error {
	return r.bucket.WriteAll(ctx, path, []byte(text), &blob.WriterOptions{
		ContentType: "text/markdown; charset=utf-8", IfNotExist: !over.Exists,
		BeforeWrite: func(as func(any) bool) error {
			onlyOver(as, over)
			return nil
		},
	})
}

// onlyOver makes a write to a bucket fail unless it replaces the version of the object that was read.
func onlyOver(as func(any) bool, over File) {
	var upload *transfermanager.UploadObjectInput
	var object **storage.ObjectHandle
	switch {
	case over.etag != "" && as(&upload):
		upload.IfMatch = &over.etag
	case over.generation != 0 && as(&object):
		*object = (*object).If(storage.Conditions{GenerationMatch: over.generation})
	}
}

// List returns the files in a directory of the root, without those in the directories below it: the name of each, and what
// tells whether it was changed since. That is empty if it tells nothing.
func (r *Root) List(ctx context.Context, dir string) (map[string]string, error) {
	if r.dir != "" {
		files, err := listDir(r.where(dir))
		if err != nil {
			return nil, filesError("list", r.where(dir), err)
		}
		return files, nil
	}
	prefix := ""
	if dir != "" {
		prefix = dir + "/"
	}
	files := map[string]string{}
	for it := r.bucket.List(&blob.ListOptions{Prefix: prefix, Delimiter: "/"}); ; {
		object, err := it.Next(ctx)
		if errors.Is(err, io.EOF) {
			return files, nil
		}
		if err != nil {
			return nil, filesError("list", r.where(dir), err)
		}
		if !object.IsDir {
			files[strings.TrimPrefix(object.Key, prefix)] = listedObject(object)
		}
	}
}

// listedObject tells versions of an object apart. Its time alone does not: that of S3 is in seconds.
func listedObject(object *blob.ListObject) string {
	var s3Object s3types.Object
	var gcsObject storage.ObjectAttrs
	version := ""
	switch {
	case object.As(&s3Object) && s3Object.ETag != nil:
		version = *s3Object.ETag
	case object.As(&gcsObject) && gcsObject.Generation != 0:
		version = strconv.FormatInt(gcsObject.Generation, 10)
	case len(object.MD5) > 0:
		version = hex.EncodeToString(object.MD5)
	default:
		return ""
	}
	return fmt.Sprintf("%d %d %s", object.Size, object.ModTime.UnixNano(), version)
}

// Remove deletes the file. One that does not exist is no error. Where a link stands in its place, the file to which it leads is
// deleted, and the link: memory that is to be forgotten stands there.
func (r *Root) Remove(ctx context.Context, path string) error {
	if r.dir != "" {
		name := r.where(path)
		if target, err := filepath.EvalSymlinks(name); err == nil && target != name {
			if err := os.Remove(target); err != nil && !os.IsNotExist(err) {
				return filesError("delete", target, err)
			}
		}
		if err := os.Remove(name); err != nil && !os.IsNotExist(err) {
			return filesError("delete", name, err)
		}
		return nil
	}
	if err := r.bucket.Delete(ctx, path); err != nil && gcerrors.Code(err) != gcerrors.NotFound {
		return filesError("delete", r.where(path), err)
	}
	return nil
}

// FilesOf returns the paths of the files of a memory that are in the root: those that the program writes, and the dated ones that a
// person has made.
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
	for _, kind := range []schema.RecordKind{schema.RecordDaily, schema.RecordDiary} {
		files, err := r.List(ctx, l.dated(kind))
		if err != nil {
			return nil, err
		}
		for name := range files {
			if date, ok := strings.CutSuffix(name, ".md"); ok && isDate(date) {
				paths = append(paths, l.dated(kind)+"/"+name)
			}
		}
	}
	slices.Sort(paths)
	return paths, nil
}

// Walk calls f with each Markdown file of the root, of whatever memory.
func (r *Root) Walk(ctx context.Context, f func(path, text string)) error {
	for it := r.bucket.List(&blob.ListOptions{}); ; {
		object, err := it.Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return filesError("list", r.url, err)
		}
		if object.IsDir || !strings.HasSuffix(object.Key, ".md") {
			continue
		}
		file, err := r.Read(ctx, object.Key)
		if err != nil {
			return err
		}
		f(object.Key, file.Text)
	}
}
