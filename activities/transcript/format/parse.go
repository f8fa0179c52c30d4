// Package format reads the session files of coding agents and chat products into messages.
//
// The format of a source is detected from its content, and from its path where the content leaves several
// formats possible. A record that cannot be read is reported with its line and a reason, and the rest of the
// source is read.
//
// Each format has a file of its own and a place in the registry; see [Format].
package format

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"axiommind/schema"
)

// Limits of a zero [Options]. They are far above every session of a person, and low enough for a worker to survive a file that
// was made to exceed them.
const (
	DefaultMaxLine     = 64 << 20
	DefaultMaxDocument = 512 << 20
	DefaultMaxBytes    = 2 << 30
	DefaultMaxDatabase = 4 << 30
	DefaultMaxMessages = 1 << 20
	DefaultMaxRecords  = 10 << 20
	DefaultMaxSkipped  = 500
	DefaultMaxTime     = 8 * time.Minute
)

// headSize is how many leading bytes of a source detection looks at.
const headSize = 64 << 10

var (
	// ErrUnknownFormat means that the source is of no known format, or that Options.Format names
	// none.
	ErrUnknownFormat = final(schema.ErrorUnknownFormat, errors.New("cannot tell the format"))
	// ErrNotTranscript means that the source is known to be something else, such as the settings, the index or the
	// licence next to the transcripts. An import of a directory passes it over.
	ErrNotTranscript = final(schema.ErrorUnknownFormat, errors.New("not a transcript"))
	// ErrTooLarge means that a source exceeds one of the limits of Options, which the error names.
	ErrTooLarge = final(schema.ErrorSourceUnreadable, errors.New("source is too large"))
	// ErrTryAgain means that another attempt may succeed: a database was written all the while it was
	// copied, or there was no room for the copy.
	ErrTryAgain = errors.New("try again")
)

// failure is an error that no other attempt can avoid. It implements boundary.Failure without an import of
// that package.
type failure struct {
	failureType string
	error
}

func final(failureType string, err error) error { return &failure{failureType, err} }

func (f *failure) FailureType() string { return f.failureType }
func (f *failure) Retryable() bool     { return false }
func (f *failure) Unwrap() error       { return f.error }

// Options say how to read a source. The zero value detects everything.
type Options struct {
	// Format is the name of one of [All]. Default: detected.
	Format string
	// Name is the path of the source. Detection uses it where the content leaves several formats possible. It names the
	// session if only the path contains the id.
	Name string
	// CopyDatabase copies the source, a SQLite database, with its write-ahead log to a new file called name, unless they have
	// more bytes than the limit. Default: the database is copied from the reader, without the log.
	CopyDatabase func(ctx context.Context, name string, limit int64) error
	// Size is the length of the source in bytes: a source that is too large is then refused before it is
	// read. Default: unknown.
	Size int64
	// MaxLine is the longest line, or element of a JSON array, that is read, in bytes; a longer one
	// is skipped with its reason. A database may hold no longer value. Default: DefaultMaxLine.
	MaxLine int
	// MaxDocument bounds, in bytes, a source that has to be read as a whole: a JSON object over
	// several lines, plain text, Markdown, a SQL dump. It bounds the texts of all messages, too. Default: DefaultMaxDocument.
	MaxDocument int
	// Detected refuses a source whose content shows no format, even if Format is set.
	Detected bool
	// MaxBytes bounds a source that is read record by record, in bytes once it is decompressed. Default: DefaultMaxBytes.
	MaxBytes int64
	// MaxDatabase bounds a SQLite database with its write-ahead log, in bytes. Default: DefaultMaxDatabase.
	MaxDatabase int64
	// MaxMessages bounds the messages and sessions of a source. Default: DefaultMaxMessages.
	MaxMessages int
	// MaxRecords bounds the JSON values of a source, and the rows that are read of a database. Default: DefaultMaxRecords.
	MaxRecords int
	// MaxSkipped is how many places that could not be read are listed. The others are counted. Default: DefaultMaxSkipped.
	MaxSkipped int
	// MaxTime bounds the reading of a source, with its redaction. Default: DefaultMaxTime.
	MaxTime time.Duration
	// User is the owner of the memory: where a file of Zep names several speakers, only this one speaks as the user.
	User string
	// Now decides whether a migrated item has ended. Default: the current time.
	Now time.Time
	// KeepTakenOut keeps the originals of redacted passages with the messages. Default: they are dropped.
	KeepTakenOut bool
}

func (o Options) withDefaults() Options {
	o.MaxLine = cmp.Or(o.MaxLine, DefaultMaxLine)
	o.MaxDocument = cmp.Or(o.MaxDocument, DefaultMaxDocument)
	o.MaxBytes = cmp.Or(o.MaxBytes, DefaultMaxBytes)
	o.MaxDatabase = cmp.Or(o.MaxDatabase, DefaultMaxDatabase)
	o.MaxMessages = cmp.Or(o.MaxMessages, DefaultMaxMessages)
	o.MaxRecords = cmp.Or(o.MaxRecords, DefaultMaxRecords)
	o.MaxSkipped = cmp.Or(o.MaxSkipped, DefaultMaxSkipped)
	o.MaxTime = cmp.Or(o.MaxTime, DefaultMaxTime)
	o.Now = cmp.Or(o.Now, time.Now())
	return o
}

// tooLarge is the error of a source that has more than so many of something.
func tooLarge(limit int64, of string) error {
	return fmt.Errorf("%w: it has more than %d %s: split it, or leave it out", ErrTooLarge, limit, of)
}

// Session is one conversation of a source.
type Session struct {
	// ID is the harness's own id, which may come from the source's name. It is empty if there is none, as in plain
	// text.
	ID     string
	Format string
	Title  string
	// CWD is the working directory or workspace, if the source has it: a hint of the project.
	CWD string
	// Started and Ended are the earliest and latest times in the source, in UTC; zero for none.
	Started, Ended time.Time
	// Messages have Index 0..n-1 and Key set. Their texts are valid UTF-8 without NUL bytes.
	Messages []schema.Message
	// Skipped lists the unreadable parts of the source, and repairs that made others readable.
	Skipped []schema.Skipped
}

// Parse reads every session of a source, in the order of their first appearance; there is at
// least one. The error wraps ErrUnknownFormat, ErrNotTranscript, ErrTooLarge, or the error of the reader or the context.
func Parse(ctx context.Context, r io.Reader, opts Options) ([]*Session, error) {
	opts = opts.withDefaults()
	slow := fmt.Errorf("%w: it takes longer to read than %v: split it, or leave it out", ErrTooLarge, opts.MaxTime)
	within, cancel := context.WithTimeoutCause(ctx, opts.MaxTime, slow)
	defer cancel()
	sessions, as, err := parse(within, r, opts)
	switch {
	case err == nil:
		return sessions, nil
	case within.Err() != nil: // Whatever the reader made of it.
		err = context.Cause(within)
	}
	return nil, fmt.Errorf("parse %q%s: %w", opts.Name, as, err)
}

// parse returns also the words for the format that it reads the source as.
func parse(ctx context.Context, r io.Reader, opts Options) (_ []*Session, as string, err error) {
	src, err := openSource(ctx, r, opts)
	if err != nil {
		return nil, "", err
	}
	defer src.close()

	b := newBuilder(ctx, opts)
	if isKept(src.head) {
		sessions, err := src.kept(b)
		return sessions, "", err
	}
	f, err := src.format()
	if err != nil {
		return nil, "", err
	}
	if opts.Size > opts.MaxBytes && !isDatabase(src.head) && !src.decoded {
		return nil, "", tooLarge(opts.MaxBytes, "bytes")
	}
	if f == nil || !f.anonymous {
		b.fallbackID = sessionName(opts.Name)
	}
	if f != nil {
		b.format = f.Name
		if f.migrated { // An export is often one line.
			src.opts.MaxLine = max(src.opts.MaxLine, src.opts.MaxDocument)
		}
		if err = f.parse(src, b); errors.Is(err, errNoHead) {
			err = f.unfit()
		}
		as = " as " + b.format
		if f.migrated && err == nil {
			err = b.checkMigrated()
		}
	}
	if err = cmp.Or(b.err, err); err != nil {
		return nil, as, err
	}
	sessions := b.finish()
	return sessions, as, b.err
}

// source is a decompressed, decoded reader and its first bytes.
type source struct {
	r    *bufio.Reader
	head []byte
	// whole says that head is the whole source.
	whole bool
	// decoded says that the source is compressed or in UTF-16.
	decoded bool
	opts    Options
	closer  func()
}

// boundedReader ends with its context, and fails after so many bytes.
type boundedReader struct {
	ctx         context.Context
	r           io.Reader
	left, limit int64
}

func (b *boundedReader) Read(p []byte) (int, error) {
	if err := b.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := b.r.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, tooLarge(b.limit, "bytes")
	}
	return n, err
}

func openSource(ctx context.Context, r io.Reader, opts Options) (*source, error) {
	bounded := func(r io.Reader) *boundedReader { return &boundedReader{ctx, r, opts.MaxBytes, opts.MaxBytes} }
	first := bounded(r)
	s := &source{r: bufio.NewReaderSize(first, headSize), opts: opts, closer: func() {}}
	if err := s.peek(); err != nil {
		return nil, err
	}
	if isDatabase(s.head) {
		first.left = math.MaxInt64 // It is copied, within a limit of its own.
	}
	decoded, closer, err := decode(s.r, s.head)
	if err != nil {
		return nil, err
	}
	if decoded != nil {
		s.r, s.closer, s.decoded = bufio.NewReaderSize(bounded(decoded), headSize), closer, true
		if err := s.peek(); err != nil {
			return nil, err
		}
	}
	if bytes.HasPrefix(s.head, utf8BOM) {
		_, _ = s.r.Discard(len(utf8BOM))
		return s, s.peek()
	}
	return s, nil
}

func (s *source) peek() error {
	head, err := s.r.Peek(headSize)
	s.head, s.whole = bytes.Clone(head), err != nil
	if err != nil && !isEnd(err) {
		return fmt.Errorf("read source: %w", err)
	}
	return nil
}

func (s *source) close() { s.closer() }

// blank reports whether there is nothing in the source: no text, or a list of no messages.
func (s *source) blank() bool {
	text := bytes.Trim(s.head, " \t\r\n\x00")
	if inner, ok := bytes.CutPrefix(text, []byte("[")); ok {
		text = bytes.TrimSpace(bytes.TrimSuffix(inner, []byte("]")))
	}
	return s.whole && len(text) == 0
}

// format is nil for a source with nothing in it.
func (s *source) format() (*Format, error) {
	if s.opts.Format != "" {
		f, err := lookup(s.opts.Format)
		switch {
		case err != nil || s.blank():
		case f.migrated:
			err = f.fits(s.head, s.whole)
		case s.opts.Detected:
			_, err = detect(s.opts.Name, s.head)
		}
		if err != nil || !s.blank() {
			return f, err
		}
	}
	if s.blank() {
		return nil, nil
	}
	name, err := detect(s.opts.Name, s.head)
	if err != nil {
		return nil, err
	}
	return lookup(name)
}

// all reads the whole source. A truncated compressed source yields the bytes before its end.
func (s *source) all() ([]byte, error) {
	if s.opts.Size > int64(s.opts.MaxDocument) && !s.decoded {
		return nil, tooLarge(int64(s.opts.MaxDocument), "bytes in one piece")
	}
	data, err := io.ReadAll(io.LimitReader(s.r, int64(s.opts.MaxDocument)+1))
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, fmt.Errorf("read source: %w", err)
	}
	if len(data) > s.opts.MaxDocument {
		return nil, tooLarge(int64(s.opts.MaxDocument), "bytes in one piece")
	}
	return data, nil
}

func lookup(name string) (*Format, error) {
	for i := range registry {
		if strings.EqualFold(registry[i].Name, name) {
			return &registry[i], nil
		}
	}
	return nil, fmt.Errorf("%w: no format is called %q; %s", ErrUnknownFormat, name, formatHint())
}
