// Package bucket opens the buckets in which the memory's files may be kept: those of S3 and of servers with its API, and
// those of Google Cloud Storage.
package bucket

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"axiommind/activities/tier"
)

const contentType = "text/markdown; charset=utf-8"

// Open implements [tier.OpenBucket].
func Open(ctx context.Context, u *url.URL) (tier.Bucket, error) {
	var b tier.Bucket
	var err error
	q := parameters{values: u.Query()}
	switch u.Scheme {
	case "s3":
		b, err = openS3(u.Host, &q)
	case "gs":
		b, err = openGCS(ctx, u.Host, &q)
	default:
		err = fmt.Errorf("unknown scheme %q", u.Scheme)
	}
	if err = errors.Join(q.rest(), err); err != nil {
		return nil, err
	}
	for _, err := range b.List(ctx, "", false) {
		if statusOf(err) == http.StatusNotFound {
			err = tier.ErrNoBucket
		}
		if err != nil {
			return nil, errors.Join(err, b.Close())
		}
		break
	}
	return b, nil
}

// parameters are the query parameters of a root's URL. Those that nothing has taken are errors, and so are bad values. No
// error repeats a value, which may be secret.
type parameters struct {
	values url.Values
	err    error
}

func (p *parameters) text(name string) string {
	value := p.values.Get(name)
	p.values.Del(name)
	return value
}

func (p *parameters) bool(name string) bool {
	text := p.text(name)
	if text == "" {
		return false
	}
	value, err := strconv.ParseBool(text)
	if err != nil {
		p.err = errors.Join(p.err, fmt.Errorf("query parameter %q: want true or false", name))
	}
	return value
}

func (p *parameters) rest() error {
	err := p.err
	for name := range p.values {
		err = errors.Join(err, fmt.Errorf("unknown query parameter %q", name))
	}
	return err
}

// answerError is an answer of a server other than success.
type answerError struct {
	status int
	err    error
}

func (e *answerError) Error() string { return e.err.Error() }
func (e *answerError) Unwrap() error { return e.err }

// HTTPStatusCode returns the status to package tier.
func (e *answerError) HTTPStatusCode() int { return e.status }

func statusOf(err error) int {
	var answer *answerError
	if errors.As(err, &answer) {
		return answer.status
	}
	return 0
}
