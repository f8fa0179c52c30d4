package format

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/klauspost/compress/zstd"
	"golang.org/x/text/encoding/unicode"
)

var (
	utf8BOM    = []byte("\xef\xbb\xbf")
	utf16LE    = []byte("\xff\xfe")
	utf16BE    = []byte("\xfe\xff")
	zstdMagic  = []byte("\x28\xb5\x2f\xfd")
	gzipMagic  = []byte("\x1f\x8b\x08")
	zstdWindow = uint64(128 << 20)
)

// decode returns a reader of the plain bytes when the head shows compression or UTF-16, else nil.
func decode(r io.Reader, head []byte) (io.Reader, func(), error) {
	switch {
	case bytes.HasPrefix(head, zstdMagic):
		d, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(zstdWindow))
		if err != nil {
			return nil, nil, fmt.Errorf("open zstd stream: %w", err)
		}
		return d, d.Close, nil
	case bytes.HasPrefix(head, gzipMagic):
		d, err := gzip.NewReader(r)
		if err != nil {
			return nil, nil, fmt.Errorf("open gzip stream: %w", err)
		}
		return d, func() {}, nil
	case bytes.HasPrefix(head, utf16LE), bytes.HasPrefix(head, utf16BE):
		d := unicode.UTF16(unicode.LittleEndian, unicode.ExpectBOM).NewDecoder()
		return d.Reader(r), func() {}, nil
	case isDatabase(head):
		return nil, nil, nil
	}
	if order, ok := utf16Order(head); ok {
		return unicode.UTF16(order, unicode.IgnoreBOM).NewDecoder().Reader(r), func() {}, nil
	}
	return nil, nil, nil
}

// utf16Order detects UTF-16 without a byte order mark. The high bytes of ASCII are NUL, either all at even places or
// all at odd ones. A few of them, as in Korean or Chinese, may also be damage to another encoding: then the head must
// be no text in UTF-8, and must decode to a transcript.
func utf16Order(head []byte) (unicode.Endianness, bool) {
	var nuls [2]int
	for i, c := range head {
		if c == 0 {
			nuls[i%2]++
		}
	}
	few := max(nuls[0], nuls[1])*4 < len(head)
	switch {
	case nuls[0]+nuls[1] == 0, few && isUTF8Text(head):
		return unicode.BigEndian, false
	case !few:
		if nuls[0] > nuls[1] {
			return unicode.BigEndian, nuls[1] <= nuls[0]/10
		}
		return unicode.LittleEndian, nuls[0] <= nuls[1]/10
	}
	for _, order := range []unicode.Endianness{unicode.BigEndian, unicode.LittleEndian} {
		text, err := unicode.UTF16(order, unicode.IgnoreBOM).NewDecoder().Bytes(head[:len(head)&^1])
		if err == nil && (startsJSON(text) || detectText(text) != nil) {
			return order, true
		}
	}
	return unicode.BigEndian, false
}

// isUTF8Text reports whether the head is UTF-8, be it cut in its last character, without control
// characters other than NUL bytes.
func isUTF8Text(head []byte) bool {
	for len(head) > 0 {
		r, n := utf8.DecodeRune(head)
		if r == utf8.RuneError && n == 1 {
			return !utf8.FullRune(head)
		}
		if r < ' ' && r != 0 && r != '\t' && r != '\r' && r != '\n' {
			return false
		}
		head = head[n:]
	}
	return true
}

// decompress reads one zstd frame of at most limit bytes.
func decompress(frame []byte, limit int) ([]byte, error) {
	d, err := zstd.NewReader(bytes.NewReader(frame),
		zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(zstdWindow))
	if err != nil {
		return nil, fmt.Errorf("open zstd frame: %w", err)
	}
	defer d.Close()
	data, err := io.ReadAll(io.LimitReader(d, int64(limit)+1))
	if err != nil {
		return nil, fmt.Errorf("decompress zstd frame: %w", err)
	}
	if len(data) > limit {
		return nil, fmt.Errorf("decompress zstd frame: %w: more than %d bytes", ErrTooLarge, limit)
	}
	return data, nil
}
