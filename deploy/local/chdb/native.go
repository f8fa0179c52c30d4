package chdb

import (
	"bytes"
	"errors"
	"fmt"
	"io"
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
}

func newNativeEncoder(revision uint64, timezone string) *nativeEncoder {
	location, err := time.LoadLocation(timezone)
	if err != nil {
		location = time.UTC
	}
	return &nativeEncoder{revision: revision, context: column.ServerContext{Revision: revision, Timezone: location}}
}

// encode returns the blocks of chunk at the client's revision. The slice is
// valid until the next call.
func (n *nativeEncoder) encode(chunk []byte) ([]byte, error) {
	n.buffer.Reset()
	reader := chproto.NewReader(bytes.NewReader(chunk))
	for {
		block := proto.Block{ServerContext: &n.context}
		err := block.Decode(reader, 0)
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
