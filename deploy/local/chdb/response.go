package chdb

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// response writes one answer: its headers with the first chunk, so that an
// error before that has a status of its own, and the blocks re-encoded and
// compressed as the client asked.
type response struct {
	w      http.ResponseWriter
	r      *http.Request
	server *Server
	req    *request
	start  time.Time
	stats  Stats

	started bool
	tag     string
	out     io.Writer
	closer  io.Closer
	native  *nativeEncoder
}

func (o *response) begin() {
	o.started = true
	o.tag = strings.ToLower(rand.Text()[:16])
	format := o.req.outputFormat()
	h := o.w.Header()
	o.common(h)
	h.Set("Content-Type", contentType(format))
	h.Set("X-ClickHouse-Format", format)
	h.Set("X-ClickHouse-Summary", summary(o.stats, time.Since(o.start).Nanoseconds()))
	h.Set("X-ClickHouse-Exception-Tag", o.tag)
	o.out = o.w
	if enc, name := newBodyEncoder(o.w, o.r, o.req.settings); enc != nil {
		h.Set("Content-Encoding", name)
		o.out, o.closer = enc, enc
	}
	if o.req.compress {
		o.out = newNativeCompressor(o.out, o.req.compressBy)
	}
	if o.req.revision > 0 && format == "Native" {
		o.native = newNativeEncoder(o.req.revision, o.server.engine.location)
	}
}

func (o *response) common(h http.Header) {
	e := o.server.engine
	h.Set("X-ClickHouse-Server-Display-Name", "axiommind-local")
	h.Set("X-ClickHouse-Timezone", e.Timezone)
	if o.req != nil {
		h.Set("X-ClickHouse-Query-Id", o.req.id)
	}
}

func (o *response) write(chunk []byte) error {
	if len(chunk) == 0 {
		return nil
	}
	if !o.started {
		o.begin()
	}
	if o.native != nil {
		encoded, err := o.native.encode(chunk)
		if err != nil {
			return err
		}
		chunk = encoded
	}
	_, err := o.out.Write(chunk)
	return err
}

// finish ends an answer; one without data still carries its headers.
func (o *response) finish() error {
	if !o.started {
		o.begin()
		if o.closer == nil {
			o.w.Header().Set("Content-Length", "0")
			return nil
		}
	}
	if o.native != nil {
		o.native.release()
		o.native = nil
	}
	if o.closer != nil {
		return o.closer.Close()
	}
	return nil
}

// fail sends an error: with its HTTP status when nothing has been sent, else
// framed in the body as ClickHouse does it.
func (o *response) fail(err error) {
	if errors.Is(err, context.Canceled) || o.r.Context().Err() != nil {
		// Returning would send a success status to a client that still listens.
		panic(http.ErrAbortHandler)
	}
	var e *Exception
	if !errors.As(err, &e) {
		e = newException(codeUnknownException, "UNKNOWN_EXCEPTION", "%v", err)
	}
	if o.started {
		o.native = nil
		text := o.versioned(e)
		framed := fmt.Sprintf("\r\n__exception__\r\n%s\r\n%s\n%d %s\r\n__exception__\r\n", o.tag, text, len(text)+1, o.tag)
		if _, err := io.WriteString(o.out, framed); err == nil {
			_ = o.finish()
		}
		return
	}
	o.send(statusOf(e.Code), e)
}

// send writes an error as the whole answer.
func (o *response) send(status int, e *Exception) {
	h := o.w.Header()
	o.common(h)
	h.Set("Content-Type", "text/plain; charset=UTF-8")
	h.Set("X-ClickHouse-Exception-Code", strconv.Itoa(e.Code))
	o.w.WriteHeader(status)
	_, _ = io.WriteString(o.w, o.versioned(e)+"\n")
}

func (o *response) versioned(e *Exception) string {
	return fmt.Sprintf("%s (version %s)", e.Text, o.server.engine.Version)
}
