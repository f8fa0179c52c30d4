package bucket

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
	"strings"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/minio/minio-go/v7/pkg/encrypt"

	"axiommind/activities/tier"
)

const (
	awsEndpoint = "s3.amazonaws.com"
	// accelerateEndpoint is that of S3 Transfer Acceleration.
	accelerateEndpoint = "s3-accelerate.amazonaws.com"
)

// attempts is the number of times that a request is sent at most.
const attempts = 3

// Codes of S3's errors.
const (
	codeNoSuchKey    = "NoSuchKey"
	codeNoSuchBucket = "NoSuchBucket"
)

type s3Bucket struct {
	api  minio.Core
	name string
	sse  encrypt.ServerSide
}

// openS3 makes no request. Keys, region and endpoint come from where programs of AWS look for them, as far as the URL
// does not give them: the variables AWS_…, the shared credentials file, and the metadata service of the machine.
func openS3(name string, q *Parameters) (tier.Bucket, error) {
	endpoint, secure, err := s3Endpoint(q)
	if err != nil {
		return nil, err
	}
	o := minio.Options{
		Creds: s3Credentials(q), Secure: secure, MaxRetries: attempts,
		Region: cmp.Or(q.Text("region"), os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION")),
	}
	pathStyle, legacy := q.Bool("use_path_style"), q.Bool("s3ForcePathStyle")
	if pathStyle || legacy {
		o.BucketLookup = minio.BucketLookupPath
	}
	sse, err := s3Encryption(q)
	if err != nil {
		return nil, err
	}
	api, err := minio.NewCore(endpoint, &o)
	if err != nil {
		return nil, fmt.Errorf("set up s3: %w", err)
	}
	if q.Bool("accelerate") {
		api.SetS3TransferAccelerate(accelerateEndpoint)
	}
	api.SetS3EnableDualstack(q.Bool("dualstack"))
	return &s3Bucket{api: *api, name: name, sse: sse}, nil
}

// s3Endpoint returns the host, and whether it is called by TLS.
func s3Endpoint(q *Parameters) (host string, secure bool, err error) {
	given := cmp.Or(q.Text("endpoint"), os.Getenv("AWS_ENDPOINT_URL_S3"), os.Getenv("AWS_ENDPOINT_URL"))
	secure = !q.Bool("disable_https")
	if given == "" {
		return awsEndpoint, secure, nil
	}
	if !strings.Contains(given, "://") {
		given = "https://" + given
	}
	u, err := url.Parse(given)
	if err != nil || u.Host == "" || strings.Trim(u.Path, "/") != "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", false, errors.New("endpoint: want http://host:port or https://host:port")
	}
	return u.Host, secure && u.Scheme == "https", nil
}

func s3Credentials(q *Parameters) *credentials.Credentials {
	profile := q.Text("profile")
	if q.Bool("anonymous") {
		return credentials.NewStaticV4("", "", "")
	}
	file := &credentials.FileAWSCredentials{Profile: profile}
	if profile != "" {
		return credentials.New(file)
	}
	return credentials.NewChainCredentials([]credentials.Provider{&credentials.EnvAWS{}, file, &credentials.IAM{}})
}

// s3Encryption returns how the server encrypts objects, or nil if its own settings decide.
func s3Encryption(q *Parameters) (encrypt.ServerSide, error) {
	kind, key := q.Text("ssetype"), q.Text("kmskeyid")
	switch {
	case strings.EqualFold(kind, "AES256"):
		return encrypt.NewSSE(), nil
	case strings.EqualFold(kind, "aws:kms"):
		return encrypt.NewSSEKMS(key, nil)
	case kind == "" && key == "":
		return nil, nil
	}
	return nil, errors.New("ssetype: want AES256 or aws:kms; kmskeyid belongs to the latter")
}

func (b *s3Bucket) Get(ctx context.Context, name string) (tier.Object, error) {
	body, info, _, err := b.api.GetObject(ctx, b.name, name, minio.GetObjectOptions{})
	if err != nil {
		return tier.Object{}, s3Error(err)
	}
	return tier.Object{Body: body, Size: info.Size, Version: info.ETag}, nil
}

func (b *s3Bucket) Put(ctx context.Context, name string, text []byte, over string) error {
	// Only a single request is compared and stored in one step.
	o := minio.PutObjectOptions{ContentType: ContentType(name), ServerSideEncryption: b.sse, DisableMultipart: true}
	if over == "" {
		o.SetMatchETagExcept("*")
	} else {
		o.SetMatchETag(over)
	}
	_, err := b.api.Client.PutObject(ctx, b.name, name, bytes.NewReader(text), int64(len(text)), o)
	switch status := minio.ToErrorResponse(err).StatusCode; {
	case err == nil:
		return nil
	// A server reports a concurrent write as a conflict, and the removal of the object as its absence.
	case status == http.StatusPreconditionFailed, status == http.StatusConflict,
		over != "" && minio.ToErrorResponse(err).Code == codeNoSuchKey:
		return fmt.Errorf("%w: %w", tier.ErrChanged, s3Error(err))
	}
	return s3Error(err)
}

func (b *s3Bucket) List(ctx context.Context, prefix string, deep bool) iter.Seq2[tier.ListedObject, error] {
	return func(yield func(tier.ListedObject, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		for o := range b.api.ListObjectsIter(ctx, b.name, minio.ListObjectsOptions{Prefix: prefix, Recursive: deep}) {
			switch {
			case o.Err != nil:
				yield(tier.ListedObject{}, s3Error(o.Err))
				return
			case strings.HasSuffix(o.Key, "/"):
				// A common prefix, or the mark of a directory.
			case !yield(tier.ListedObject{Name: o.Key, Size: o.Size, Modified: o.LastModified, Version: o.ETag}, nil):
				return
			}
		}
	}
}

func (b *s3Bucket) Delete(ctx context.Context, name string) error {
	return s3Error(b.api.RemoveObject(ctx, b.name, name, minio.RemoveObjectOptions{}))
}

func (b *s3Bucket) Close() error { return nil }

func s3Error(err error) error {
	if err == nil {
		return nil
	}
	answer := minio.ToErrorResponse(err)
	switch {
	case answer.Code == codeNoSuchKey:
		return fs.ErrNotExist
	case answer.Code == codeNoSuchBucket:
		return fmt.Errorf("%w: %w", tier.ErrNoBucket, err)
	case answer.StatusCode != 0:
		return &AnswerError{answer.StatusCode, err}
	}
	return err
}
