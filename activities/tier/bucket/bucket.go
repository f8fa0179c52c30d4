// Package bucket opens the buckets of S3, and of servers with its API, in which the memory's files and backups may be kept. Package
// gcs, which has more dependencies, also opens those of Google Cloud Storage.
package bucket

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"strconv"

	"axiommind/activities/tier"
)

// ContentType returns the type of the object with the name.
func ContentType(name string) string {
	switch path.Ext(name) {
	case ".json":
		return "application/json"
	case ".gz":
		return "application/gzip"
	}
	return "text/markdown; charset=utf-8"
}

// Open implements [tier.OpenBucket].
func Open(ctx context.Context, u *url.URL) (tier.Bucket, error) {
	return Checked(ctx, u, func(q *Parameters) (tier.Bucket, error) {
		if u.Scheme != "s3" {
			return nil, fmt.Errorf("unknown scheme %q", u.Scheme)
		}
		return openS3(u.Host, q)
	})
}

// Checked opens the bucket of a URL by its parameters, and checks that it may be listed.
func Checked(ctx context.Context, u *url.URL, open func(*Parameters) (tier.Bucket, error)) (tier.Bucket, error) {
	q := Parameters{values: u.Query()}
	b, err := open(&q)
	if err = errors.Join(q.rest(), err); err != nil {
		return nil, err
	}
	for _, err := range b.List(ctx, "", false) {
		if StatusOf(err) == http.StatusNotFound {
			err = tier.ErrNoBucket
		}
		if err != nil {
			return nil, errors.Join(err, b.Close())
		}
		break
	}
	return b, nil
}

// Parameters are the query parameters of a root's URL. Those that nothing has taken are errors, and so are bad values. No
// error repeats a value, which may be secret.
type Parameters struct {
	values url.Values
	err    error
}

// Text takes a parameter.
func (p *Parameters) Text(name string) string {
	value := p.values.Get(name)
	p.values.Del(name)
	return value
}

// Bool takes a parameter that is true or false.
func (p *Parameters) Bool(name string) bool {
	text := p.Text(name)
	if text == "" {
		return false
	}
	value, err := strconv.ParseBool(text)
	if err != nil {
		p.err = errors.Join(p.err, fmt.Errorf("query parameter %q: want true or false", name))
	}
	return value
}

func (p *Parameters) rest() error {
	err := p.err
	for name := range p.values {
		err = errors.Join(err, fmt.Errorf("unknown query parameter %q", name))
	}
	return err
}

// AnswerError is an answer of a server other than success.
type AnswerError struct {
	Status int
	Err    error
}

func (e *AnswerError) Error() string { return e.Err.Error() }
func (e *AnswerError) Unwrap() error { return e.Err }

// HTTPStatusCode returns the status to package tier.
func (e *AnswerError) HTTPStatusCode() int { return e.Status }

// StatusOf returns the status of an [AnswerError], or 0.
func StatusOf(err error) int {
	var answer *AnswerError
	if errors.As(err, &answer) {
		return answer.Status
	}
	return 0
}
