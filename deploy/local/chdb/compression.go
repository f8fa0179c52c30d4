package chdb

import (
	"compress/gzip"
	"compress/zlib"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/ClickHouse/ch-go/compress"
	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

// decodeBody undoes the request's Content-Encoding and, when native is set,
// ClickHouse's own block compression.
func decodeBody(r *http.Request, native bool) (io.Reader, error) {
	var body io.Reader = r.Body
	var err error
	switch encoding := r.Header.Get("Content-Encoding"); encoding {
	case "", "identity":
	case "gzip":
		body, err = gzip.NewReader(r.Body)
	case "deflate":
		body, err = zlib.NewReader(r.Body)
	case "br":
		body = brotli.NewReader(r.Body)
	case "zstd":
		var z *zstd.Decoder
		if z, err = zstd.NewReader(r.Body, zstd.WithDecoderConcurrency(1)); err == nil {
			body = z.IOReadCloser()
		}
	default:
		return nil, newException(codeUnknownCompression, "UNKNOWN_COMPRESSION_METHOD", "Unknown compression method %s", encoding)
	}
	if err != nil {
		return nil, readError(err)
	}
	if native {
		return blockReader{compress.NewReader(body)}, nil
	}
	return body, nil
}

// blockReader ends with io.EOF where the decompressor wraps it. A body cut short
// ends with io.ErrUnexpectedEOF before that.
type blockReader struct{ r io.Reader }

func (b blockReader) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	if errors.Is(err, io.EOF) {
		err = io.EOF
	}
	return n, err
}

// newBodyEncoder returns the writer and the name of the Content-Encoding that
// the client asked for, or nil for none.
func newBodyEncoder(w io.Writer, r *http.Request, settings map[string]string) (io.WriteCloser, string) {
	if settings["enable_http_compression"] != "1" {
		return nil, ""
	}
	for part := range strings.SplitSeq(r.Header.Get("Accept-Encoding"), ",") {
		name, _, _ := strings.Cut(strings.TrimSpace(part), ";")
		switch name {
		case "gzip":
			return gzip.NewWriter(w), name
		case "deflate":
			return zlib.NewWriter(w), name
		case "br":
			return brotli.NewWriterLevel(w, brotli.BestSpeed), name
		case "zstd":
			if z, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1)); err == nil {
				return z, name
			}
		}
	}
	return nil, ""
}

// nativeCompressor writes ClickHouse's compressed blocks.
type nativeCompressor struct {
	out io.Writer
	c   *compress.Writer
}

// maxCompressedPiece keeps each compressed block below the limit of clients.
const maxCompressedPiece = 16 << 20

func newNativeCompressor(out io.Writer, method string) *nativeCompressor {
	m := compress.LZ4
	if strings.EqualFold(method, "ZSTD") {
		m = compress.ZSTD
	}
	return &nativeCompressor{out: out, c: compress.NewWriter(compress.LevelZero, m)}
}

func (n *nativeCompressor) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		piece := rest[:min(len(rest), maxCompressedPiece)]
		if err := n.c.Compress(piece); err != nil {
			return 0, err
		}
		if _, err := n.out.Write(n.c.Data); err != nil {
			return 0, err
		}
		rest = rest[len(piece):]
	}
	return len(p), nil
}
