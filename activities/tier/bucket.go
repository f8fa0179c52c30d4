package tier

import (
	"context"
	"errors"
	"io"
	"iter"
	"net/url"
	"time"
)

// Bucket is a bucket of an object store. Package bucket has those of S3 and of Google Cloud Storage, which only a worker
// links. An error with a method HTTPStatusCode is classified by that status.
type Bucket interface {
	// Get opens an object. The error is fs.ErrNotExist if there is none.
	Get(ctx context.Context, name string) (Object, error)
	// Put writes an object if its version still is over, which is empty if there must be none. Otherwise the error is
	// [ErrChanged]. The server compares.
	Put(ctx context.Context, name string, text []byte, over string) error
	// List yields the objects whose names begin with the prefix. Unless deep is set, it leaves out those with a slash
	// behind it.
	List(ctx context.Context, prefix string, deep bool) iter.Seq2[ListedObject, error]
	// Delete deletes an object. The error may be fs.ErrNotExist if there is none.
	Delete(ctx context.Context, name string) error
	Close() error
}

// OpenBucket opens the bucket of a URL, without its path, and checks that it may be listed. If it may not, or does not
// exist, the error is [ErrNoBucket].
type OpenBucket func(context.Context, *url.URL) (Bucket, error)

// Object is an open object. The caller closes its body.
type Object struct {
	Body io.ReadCloser
	// Size is in bytes.
	Size int64
	// Version differs from that of any other content of the object.
	Version string
}

// ListedObject is an object in a listing.
type ListedObject struct {
	Name     string
	Size     int64
	Modified time.Time
	Version  string
}

// Errors of a [Bucket].
var (
	ErrChanged  = errors.New("the object has another version")
	ErrNoBucket = errors.New("the bucket does not exist, or may not be listed")
)
