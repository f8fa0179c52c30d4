package payload

import (
	"fmt"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/proto"
)

// Metadata of an encrypted payload, as in Temporal's samples, so that other programs recognize it.
const (
	// Encoding is the value of [converter.MetadataEncoding].
	Encoding = "binary/encrypted"
	// MetadataKeyID is the name of the id of the key.
	MetadataKeyID = "encryption-key-id"
)

var _ converter.PayloadCodec = (*Ring)(nil)

// Encode implements [converter.PayloadCodec]. A payload is sealed whole, with its metadata. One that is encrypted stays as
// it is, so that a request that is sent again is not encrypted twice.
func (r *Ring) Encode(payloads []*commonpb.Payload) ([]*commonpb.Payload, error) {
	if !r.Encrypts() {
		return payloads, nil
	}
	out := make([]*commonpb.Payload, len(payloads))
	for i, p := range payloads {
		if isEncrypted(p) {
			out[i] = p
			continue
		}
		plain, err := proto.Marshal(p)
		if err != nil {
			return nil, fmt.Errorf("encrypt a payload: %w", err)
		}
		id, sealed := r.Seal(plain, []byte(r.KeyID()))
		out[i] = &commonpb.Payload{
			Metadata: map[string][]byte{converter.MetadataEncoding: []byte(Encoding), MetadataKeyID: []byte(id)},
			Data:     sealed,
		}
	}
	return out, nil
}

// Decode implements [converter.PayloadCodec]. Payloads of other encodings stay as they are: those older than the key,
// and those that a person made in Temporal's web interface.
func (r *Ring) Decode(payloads []*commonpb.Payload) ([]*commonpb.Payload, error) {
	out := make([]*commonpb.Payload, len(payloads))
	for i, p := range payloads {
		if !isEncrypted(p) {
			out[i] = p
			continue
		}
		plain, err := r.openPayload(p)
		if err != nil {
			return nil, fmt.Errorf("decrypt a payload: %w", err)
		}
		out[i] = plain
	}
	return out, nil
}

func (r *Ring) openPayload(p *commonpb.Payload) (*commonpb.Payload, error) {
	id := string(p.GetMetadata()[MetadataKeyID])
	switch {
	case !r.Has(id) && !r.Encrypts():
		return nil, fmt.Errorf("it is encrypted with key %q, and there is no key: name the file that holds it by --payload-key-file", id)
	case !r.Has(id):
		return nil, fmt.Errorf("it is encrypted with key %q, which is not in %q: add that key to the file, below the first one", id, r.File())
	}
	plain, err := r.Open(id, p.GetData(), []byte(id))
	if err != nil {
		return nil, fmt.Errorf("it was changed, or key %q of %q is not the one that it was encrypted with", id, r.File())
	}
	out := &commonpb.Payload{}
	if err := proto.Unmarshal(plain, out); err != nil {
		return nil, fmt.Errorf("key %q of %q opens it, and there is no payload in it: %w", id, r.File(), err)
	}
	return out, nil
}

func isEncrypted(p *commonpb.Payload) bool {
	return string(p.GetMetadata()[converter.MetadataEncoding]) == Encoding
}
