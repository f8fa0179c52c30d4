package payload_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"axiommind/worker/payload"
)

func plain(text string) *commonpb.Payload {
	return &commonpb.Payload{Metadata: map[string][]byte{"encoding": []byte("json/plain")}, Data: []byte(text)}
}

func encode(t *testing.T, ring *payload.Ring, p *commonpb.Payload) *commonpb.Payload {
	t.Helper()
	before := proto.Clone(p)
	out, err := ring.Encode([]*commonpb.Payload{p})
	require.NoError(t, err)
	require.True(t, proto.Equal(before, p), "what is encoded is not changed")
	return out[0]
}

func decode(ring *payload.Ring, p *commonpb.Payload) (*commonpb.Payload, error) {
	before := proto.Clone(p)
	out, err := ring.Decode([]*commonpb.Payload{p})
	if err != nil {
		return nil, err
	}
	if !proto.Equal(before, p) {
		panic("what is decoded was changed")
	}
	return out[0], nil
}

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	ring := ringOf(t, "2026-11 "+keyOf(1))
	rapid.Check(t, func(rt *rapid.T) {
		p := &commonpb.Payload{
			Metadata: rapid.MapOf(rapid.String(), rapid.SliceOf(rapid.Byte())).Draw(rt, "metadata"),
			Data:     rapid.SliceOf(rapid.Byte()).Draw(rt, "data"),
		}
		if string(p.GetMetadata()["encoding"]) == payload.Encoding {
			rt.Skip()
		}
		sealed, again := encode(t, ring, p), encode(t, ring, p)
		require.NotEqual(t, sealed.GetData(), again.GetData(), "each has a nonce of its own")
		require.Less(t, proto.Size(sealed), proto.Size(p)+100)
		require.Equal(t, "binary/encrypted", string(sealed.GetMetadata()["encoding"]))
		require.Equal(t, "2026-11", string(sealed.GetMetadata()["encryption-key-id"]))
		require.True(t, proto.Equal(sealed, encode(t, ring, sealed)), "what is encrypted is not encrypted again")
		opened, err := decode(ring, sealed)
		require.NoError(t, err)
		require.True(t, proto.Equal(p, opened))
	})
}

// It is a codec as the SDK wants it, for programs that encrypt by their data converter.
func TestDataConverter(t *testing.T) {
	t.Parallel()
	dc := converter.NewCodecDataConverter(converter.GetDefaultDataConverter(), ringOf(t, "k "+keyOf(1)))
	payloads, err := dc.ToPayloads("a secret", 7)
	require.NoError(t, err)
	require.NotContains(t, payloads.String(), "secret")
	var text string
	var number int
	require.NoError(t, dc.FromPayloads(payloads, &text, &number))
	require.Equal(t, []any{"a secret", 7}, []any{text, number})
}

// A new key is added below, then moved to the top, and the old one is removed when no history needs it.
func TestRotation(t *testing.T) {
	t.Parallel()
	one, two := "k1 "+keyOf(1), "k2 "+keyOf(2)
	old, both, rotated, done := ringOf(t, one), ringOf(t, one, two), ringOf(t, two, one), ringOf(t, two)
	sealed := encode(t, old, plain(`"a"`))
	for _, ring := range []*payload.Ring{old, both, rotated} {
		opened, err := decode(ring, sealed)
		require.NoError(t, err)
		require.Equal(t, `"a"`, string(opened.GetData()))
	}
	fresh := encode(t, rotated, plain(`"b"`))
	require.Equal(t, "k2", string(fresh.GetMetadata()[payload.MetadataKeyID]))
	_, err := decode(both, fresh)
	require.NoError(t, err)
	_, err = decode(done, sealed)
	require.ErrorContains(t, err, `it is encrypted with key "k1", which is not in "`)
	require.ErrorContains(t, err, "payload.keys")
	_, err = decode(&payload.Ring{}, sealed)
	require.ErrorContains(t, err, `key "k1", and there is no key: name the file that holds it by --payload-key-file`)
}

func TestOpensNothingElse(t *testing.T) {
	t.Parallel()
	ring := ringOf(t, "k1 "+keyOf(1), "k2 "+keyOf(1))
	sealed := encode(t, ring, plain(`"a secret"`))
	wrong := ringOf(t, "k1 "+keyOf(3))
	_, err := decode(wrong, sealed)
	require.ErrorContains(t, err, `key "k1" of`)
	require.NotContains(t, err.Error(), keyOf(3)[:10])
	change := func(f func(p *commonpb.Payload)) *commonpb.Payload {
		p := proto.CloneOf(sealed)
		f(p)
		return p
	}
	for name, p := range map[string]*commonpb.Payload{
		"empty":       change(func(p *commonpb.Payload) { p.Data = nil }),
		"no nonce":    change(func(p *commonpb.Payload) { p.Data = p.Data[:11] }),
		"truncated":   change(func(p *commonpb.Payload) { p.Data = p.Data[:len(p.Data)-1] }),
		"longer":      change(func(p *commonpb.Payload) { p.Data = append(p.Data, 0) }),
		"nonce":       change(func(p *commonpb.Payload) { p.Data[0] ^= 1 }),
		"text":        change(func(p *commonpb.Payload) { p.Data[14] ^= 1 }),
		"tag":         change(func(p *commonpb.Payload) { p.Data[len(p.Data)-1] ^= 1 }),
		"another key": change(func(p *commonpb.Payload) { p.Metadata[payload.MetadataKeyID] = []byte("k2") }),
	} {
		_, err := decode(ring, p)
		require.ErrorContains(t, err, "it was changed", name)
	}
	_, err = decode(ring, change(func(p *commonpb.Payload) { delete(p.Metadata, payload.MetadataKeyID) }))
	require.ErrorContains(t, err, `key "", which is not in`)
}

func TestOthersPass(t *testing.T) {
	t.Parallel()
	ring := ringOf(t, "k1 "+keyOf(1))
	for _, p := range []*commonpb.Payload{
		plain(`{"uri":"file:///a"}`), {}, {Data: []byte("x")},
		{Metadata: map[string][]byte{"encoding": []byte("binary/zlib")}, Data: []byte{1, 2}},
		{Metadata: map[string][]byte{"encoding": []byte("binary/kms"), payload.MetadataKeyID: []byte("k1")}, Data: bytes.Repeat([]byte{9}, 64)},
	} {
		for _, r := range []*payload.Ring{ring, {}} {
			got, err := decode(r, p)
			require.NoError(t, err)
			require.Same(t, p, got)
		}
	}
	p := plain(`"a"`)
	require.Same(t, p, encode(t, &payload.Ring{}, p), "without a key nothing is encrypted")
	require.NotContains(t, string(encode(t, ring, plain(strings.Repeat("a", 50))).GetData()), "aaa")
}

func FuzzDecode(f *testing.F) {
	ring, err := payload.Parse([]byte("k " + keyOf(1)))
	require.NoError(f, err)
	f.Add([]byte("k"), []byte{})
	f.Add([]byte("k"), bytes.Repeat([]byte{0}, 40))
	f.Fuzz(func(t *testing.T, id, data []byte) {
		p := &commonpb.Payload{Metadata: map[string][]byte{"encoding": []byte(payload.Encoding), payload.MetadataKeyID: id}, Data: data}
		if _, err := decode(ring, p); err == nil {
			t.Fatalf("%x opens", data)
		}
	})
}
