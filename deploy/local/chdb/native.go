package chdb

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	chproto "github.com/ClickHouse/ch-go/proto"
	"github.com/ClickHouse/clickhouse-go/v2/lib/column"
	"github.com/ClickHouse/clickhouse-go/v2/lib/proto"
)

// nativeEncoder turns the blocks the engine writes (protocol revision 0) into
// blocks of the revision the client reads.
type nativeEncoder struct {
	revision uint64
	context  column.ServerContext
	buffer   chproto.Buffer
	source   bytes.Reader
	reader   *chproto.Reader
}

// maxKeptBuffer bounds the buffer of an encoder that is kept for other answers.
const maxKeptBuffer = 1 << 20

// nativeEncoders are kept for their buffers.
var nativeEncoders = sync.Pool{New: func() any {
	n := &nativeEncoder{}
	n.reader = chproto.NewReader(&n.source)
	return n
}}

func newNativeEncoder(revision uint64, location *time.Location) *nativeEncoder {
	n := nativeEncoders.Get().(*nativeEncoder)
	n.revision, n.context = revision, column.ServerContext{Revision: revision, Timezone: location}
	return n
}

// release keeps the encoder for another answer. It must have read its last chunk to the end.
func (n *nativeEncoder) release() {
	if cap(n.buffer.Buf) <= maxKeptBuffer {
		nativeEncoders.Put(n)
	}
}

// encode returns the blocks of chunk at the client's revision. The slice is valid until the next call.
// After an error the encoder is unusable.
func (n *nativeEncoder) encode(chunk []byte) ([]byte, error) {
	n.buffer.Reset()
	n.source.Reset(chunk)
	for {
		block := proto.Block{ServerContext: &n.context}
		err := block.Decode(n.reader, 0)
		if errors.Is(err, io.EOF) && len(block.Columns) == 0 {
			return n.buffer.Buf, nil
		}
		if err != nil {
			return nil, fmt.Errorf("decode block: %w", err)
		}
		if err := n.put(&block); err != nil {
			return nil, fmt.Errorf("encode block: %w", err)
		}
	}
}

func (n *nativeEncoder) put(block *proto.Block) error {
	if err := block.EncodeHeader(&n.buffer, n.revision); err != nil {
		return err
	}
	for i, c := range block.Columns {
		if c.Rows() > 0 {
			if err := block.EncodeColumn(&n.buffer, n.revision, i); err != nil {
				return err
			}
			continue
		}
		// A column without rows has no state prefix for the client to read.
		n.buffer.PutString(c.Name())
		n.buffer.PutString(string(c.Type()))
		if n.revision >= proto.DBMS_MIN_REVISION_WITH_CUSTOM_SERIALIZATION {
			n.buffer.PutBool(false)
		}
	}
	return nil
}
