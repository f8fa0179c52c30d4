package transcript

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"

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
	}
	return nil, nil, nil
}

// inflate decompresses one zstd frame of at most limit bytes.
func inflate(frame []byte, limit int) ([]byte, error) {
	d, err := zstd.NewReader(bytes.NewReader(frame),
		zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(zstdWindow))
	if err != nil {
		return nil, fmt.Errorf("open zstd frame: %w", err)
	}
	defer d.Close()
	data, err := io.ReadAll(io.LimitReader(d, int64(limit)+1))
	if err != nil {
		return nil, fmt.Errorf("inflate zstd frame: %w", err)
	}
	if len(data) > limit {
		return nil, fmt.Errorf("inflate zstd frame: %w: more than %d bytes", ErrTooLarge, limit)
	}
	return data, nil
}
