package format

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/tidwall/gjson"
)

// maxDepth bounds the nesting of a JSON value, so that hostile input cannot exhaust the stack. maxValues bounds the
// values in it: each takes 80 bytes once it is parsed.
const (
	maxDepth  = 1000
	maxValues = 4 << 20
)

// recordFunc reads one JSON value; line is where it starts.
type recordFunc func(b *builder, line int, rec gjson.Result)

// layout is the arrangement of the JSON values in a source.
type layout int

const (
	layoutNone     layout = iota // not JSON
	layoutLines                  // one value a line
	layoutArray                  // one array, its elements are the values
	layoutDocument               // one object over several lines
)

func layoutOf(head []byte, whole bool) layout {
	head = bytes.TrimLeft(head, " \t\r\n\x00")
	if len(head) == 0 {
		return layoutNone
	}
	byShape := layoutDocument
	if head[0] == '[' {
		byShape = layoutArray
	}
	first, rest, found := bytes.Cut(head, []byte("\n"))
	first = bytes.TrimRight(first, " \t\r\x00")
	container := head[0] == '{' || head[0] == '['
	switch {
	case !container:
	case !found && !whole:
		if byShape == layoutDocument {
			return layoutLines
		}
		return layoutArray
	case validJSON(first):
		if byShape == layoutArray && whole && len(bytes.TrimSpace(rest)) == 0 {
			return layoutArray
		}
		return layoutLines
	case bytes.IndexByte([]byte("[{,:"), first[len(first)-1]) >= 0:
		return byShape
	}
	for line := range bytes.SplitSeq(rest, []byte("\n")) {
		if len(line) > 0 && (line[0] == '{' || line[0] == '[') && validJSON(bytes.TrimSpace(line)) {
			return layoutLines
		}
	}
	if container {
		return byShape
	}
	return layoutNone
}

// objects calls fn with every JSON object of the source and reports every other value.
func (s *source) objects(b *builder, fn recordFunc) error {
	return s.values(b, func(b *builder, line int, rec gjson.Result) {
		if !rec.IsObject() {
			b.skip(line, reasonNoObject)
			return
		}
		fn(b, line, rec)
	})
}

// values calls fn with every JSON value of the source.
func (s *source) values(b *builder, fn recordFunc) error {
	switch layoutOf(s.head, s.whole) {
	case layoutArray:
		return s.elements(b, fn)
	case layoutDocument:
		data, err := s.all()
		if err != nil {
			return err
		}
		parseValue(b, 1, data, reasonNotJSON, fn)
		return nil
	default:
		return s.lines(b, fn)
	}
}

// lines calls fn with the value of each line. Memory is bounded by the longest line.
func (s *source) lines(b *builder, fn recordFunc) error {
	var buf []byte
	for n := 1; ; n++ {
		line, tooLong, err := readLine(s.r, buf[:0], s.opts.MaxLine)
		ended := isEnd(err)
		if err != nil && !ended {
			return fmt.Errorf("read line %d: %w", n, err)
		}
		buf = line
		line = bytes.TrimSpace(line)
		reason := reasonNotJSON
		if ended {
			reason = reasonPartial
		}
		switch {
		case tooLong:
			b.skip(n, reasonTooLong)
		case len(line) > 0:
			parseValue(b, n, line, reason, fn)
		}
		if errors.Is(err, io.ErrUnexpectedEOF) {
			b.skip(n, reasonBrokenOff)
		}
		if ended || b.err != nil {
			return b.err
		}
	}
}

// isEnd reports whether a source has ended, be it that its compressed data break off.
func isEnd(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

// readLine reads up to and without the next newline into buf. It reads past a line above the limit.
func readLine(r *bufio.Reader, buf []byte, limit int) (line []byte, tooLong bool, err error) {
	for {
		chunk, err := r.ReadSlice('\n')
		if !tooLong {
			buf = append(buf, chunk...)
			tooLong = len(buf) > limit+1
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if tooLong {
			buf = buf[:0]
		}
		return bytes.TrimSuffix(buf, []byte("\n")), tooLong, err
	}
}

func parseValue(b *builder, line int, data []byte, reason string, fn recordFunc) {
	if !b.read() {
		return
	}
	if bytes.IndexByte(data, 0) >= 0 {
		b.skip(line, reasonNUL)
		data = bytes.TrimSpace(bytes.ReplaceAll(data, []byte{0}, nil))
		if len(data) == 0 {
			return
		}
	}
	switch {
	case tooDeep(data):
		b.skip(line, reasonTooDeep)
	case !gjson.ValidBytes(data):
		b.skip(line, reason)
	default:
		fn(b, line, gjson.ParseBytes(data))
	}
}

func validJSON(data []byte) bool {
	data = bytes.ReplaceAll(data, []byte{0}, nil)
	return !tooDeep(data) && gjson.ValidBytes(data)
}

// tooDeep reports whether the brackets of the data nest beyond maxDepth, or whether it has more than maxValues.
func tooDeep(data []byte) bool {
	if bytes.Count(data, []byte("["))+bytes.Count(data, []byte("{")) <= maxDepth && bytes.Count(data, []byte(",")) <= maxValues {
		return false
	}
	var s nesting
	values := 0
	for _, c := range data {
		if s.next(c); c == ',' && !s.quoted {
			values++
		}
		if s.depth > maxDepth || values > maxValues {
			return true
		}
	}
	return false
}

// nesting follows the brackets of a JSON text, byte by byte.
type nesting struct {
	depth             int
	quoted, backslash bool
}

func (s *nesting) next(c byte) {
	switch {
	case s.backslash:
		s.backslash = false
	case s.quoted && c == '\\':
		s.backslash = true
	case c == '"':
		s.quoted = !s.quoted
	case s.quoted:
	case c == '{' || c == '[':
		s.depth++
	case c == '}' || c == ']':
		s.depth--
	}
}

// elements calls fn with each element of a top-level array, and with elements of arrays that follow
// it. Memory is bounded by the largest element.
func (s *source) elements(b *builder, fn recordFunc) error {
	var (
		state   nesting
		buf     []byte
		tooLong bool
		line    = 1
		start   = 1
	)
	flush := func(reason string) {
		if tooLong {
			b.skip(start, reasonTooLong)
		} else if data := bytes.TrimSpace(buf); len(data) > 0 {
			parseValue(b, start, data, reason, fn)
		}
		buf, tooLong = buf[:0], false
	}
	for {
		c, err := s.r.ReadByte()
		ended := isEnd(err)
		if err != nil && !ended {
			return fmt.Errorf("read line %d: %w", line, err)
		}
		if ended {
			flush(reasonPartial)
			if state.depth > 0 {
				b.skip(line, reasonUnclosed)
			}
			if errors.Is(err, io.ErrUnexpectedEOF) {
				b.skip(line, reasonBrokenOff)
			}
			return nil
		}
		before := state
		state.next(c)
		switch {
		case before.depth <= 0 && !before.quoted:
			state.depth = max(state.depth, 0)
		case before.depth == 1 && !before.quoted && (c == ',' || c == ']'):
			if flush(reasonNotJSON); b.err != nil {
				return b.err
			}
		case len(buf) == 0 && (c == ' ' || c == '\t' || c == '\r' || c == '\n'):
		case tooLong:
		default:
			if len(buf) == 0 {
				start = line
			}
			buf = append(buf, c)
			tooLong = len(buf) > s.opts.MaxLine
		}
		if c == '\n' {
			line++
		}
	}
}
