// Package gcs opens the buckets of Google Cloud Storage.
package gcs

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"google.golang.org/api/googleapi"
	"google.golang.org/api/option"
	"google.golang.org/api/storage/v1"

	"axiommind/activities/tier"
	"axiommind/activities/tier/bucket"
)

// listFields are the fields of a listing that are used.
const listFields = "nextPageToken,items(name,size,updated,generation)"

// Open implements [tier.OpenBucket] for these buckets and those of package bucket.
func Open(ctx context.Context, u *url.URL) (tier.Bucket, error) {
	if u.Scheme != "gs" {
		return bucket.Open(ctx, u)
	}
	return bucket.Checked(ctx, u, func(q *bucket.Parameters) (tier.Bucket, error) { return openGCS(ctx, u.Host, q) })
}

type gcsBucket struct {
	api  *storage.Service
	name string
}

// openGCS makes no request, except for those of the application default credentials.
func openGCS(ctx context.Context, name string, q *bucket.Parameters) (tier.Bucket, error) {
	options := []option.ClientOption{option.WithScopes(storage.DevstorageReadWriteScope)}
	endpoint := q.Text("endpoint")
	if host := os.Getenv("STORAGE_EMULATOR_HOST"); host != "" && endpoint == "" {
		endpoint = "http://" + strings.TrimPrefix(host, "http://")
	}
	if q.Bool("anonymous") || strings.HasPrefix(endpoint, "http://") {
		options = append(options, option.WithoutAuthentication())
	}
	if domain := q.Text("universe_domain"); domain != "" {
		options = append(options, option.WithUniverseDomain(domain))
	}
	for _, ofSignedURLs := range []string{"access_id", "private_key_path"} {
		_ = q.Text(ofSignedURLs)
	}
	if endpoint != "" {
		options = append(options, option.WithEndpoint(strings.TrimSuffix(endpoint, "/")+"/storage/v1/"))
	}
	// The context is that of the opening, and the client outlives it.
	api, err := storage.NewService(context.WithoutCancel(ctx), options...)
	if err != nil {
		return nil, fmt.Errorf("set up google cloud storage: %w", err)
	}
	return &gcsBucket{api, name}, nil
}

func (b *gcsBucket) Get(ctx context.Context, name string) (tier.Object, error) {
	resp, err := b.api.Objects.Get(b.name, name).Context(ctx).Download() //nolint:bodyclose // the reader of the object closes it
	if err != nil {
		return tier.Object{}, objectError(err)
	}
	return tier.Object{Body: resp.Body, Size: resp.ContentLength, Version: resp.Header.Get("X-Goog-Generation")}, nil
}

func (b *gcsBucket) Put(ctx context.Context, name string, text []byte, over string) error {
	generation, err := strconv.ParseInt(cmp.Or(over, "0"), 10, 64)
	if err != nil {
		return fmt.Errorf("read generation: %w", err)
	}
	_, err = b.api.Objects.Insert(b.name, &storage.Object{Name: name, ContentType: bucket.ContentType(name)}).
		IfGenerationMatch(generation).Fields("generation").Context(ctx).
		Media(bytes.NewReader(text), googleapi.ContentType(bucket.ContentType(name)), googleapi.ChunkSize(0)).Do()
	if err = gcsError(err); bucket.StatusOf(err) == http.StatusPreconditionFailed {
		return fmt.Errorf("%w: %w", tier.ErrChanged, err)
	}
	if bucket.StatusOf(err) == http.StatusNotFound {
		return fmt.Errorf("%w: %w", tier.ErrNoBucket, err)
	}
	return err
}

func (b *gcsBucket) List(ctx context.Context, prefix string, deep bool) iter.Seq2[tier.ListedObject, error] {
	call := b.api.Objects.List(b.name).Prefix(prefix).Fields(listFields).Context(ctx)
	if !deep {
		call.Delimiter("/")
	}
	return func(yield func(tier.ListedObject, error) bool) {
		for token := ""; ; {
			page, err := call.PageToken(token).Do()
			if err != nil {
				yield(tier.ListedObject{}, gcsError(err))
				return
			}
			for _, o := range page.Items {
				if strings.HasSuffix(o.Name, "/") {
					continue // The mark of a directory.
				}
				modified, _ := time.Parse(time.RFC3339, o.Updated)
				if !yield(tier.ListedObject{
					Name: o.Name, Size: int64(o.Size), Modified: modified, Version: strconv.FormatInt(o.Generation, 10),
				}, nil) {
					return
				}
			}
			if token = page.NextPageToken; token == "" {
				return
			}
		}
	}
}

func (b *gcsBucket) Delete(ctx context.Context, name string) error {
	return objectError(b.api.Objects.Delete(b.name, name).Context(ctx).Do())
}

func (b *gcsBucket) Close() error { return nil }

// objectError is gcsError for a request to an object, which need not exist.
func objectError(err error) error {
	if err = gcsError(err); bucket.StatusOf(err) == http.StatusNotFound {
		return fs.ErrNotExist
	}
	return err
}

func gcsError(err error) error {
	var answer *googleapi.Error
	if errors.As(err, &answer) {
		return &bucket.AnswerError{Status: answer.Code, Err: err}
	}
	return err
}
