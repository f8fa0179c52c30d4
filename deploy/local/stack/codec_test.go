package stack_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"

	"axiommind/deploy/local/stack"
	"axiommind/worker/payload"
)

// Temporal's web interface asks its own proxy to decrypt. Pages of other origins get nothing.
func TestInterfaceDecrypts(t *testing.T) {
	t.Parallel()
	ring, err := payload.Parse(payload.NewFile("k1"))
	require.NoError(t, err)
	s := start(t, stack.Options{Temporal: true, Ephemeral: true, Codec: func(origins []string) http.Handler {
		return ring.Handler(payload.HandlerOptions{Origins: origins})
	}})
	ui := s.Addresses().TemporalUI
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, ui+"/api/v1/settings", nil)
	require.NoError(t, err)
	response, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer func() { _ = response.Body.Close() }()
	var settings struct{ Codec struct{ Endpoint string } }
	require.NoError(t, json.NewDecoder(response.Body).Decode(&settings))
	require.True(t, strings.HasPrefix(settings.Codec.Endpoint, ui+"/"), settings)

	sealed, err := ring.Encode([]*commonpb.Payload{{Data: []byte("a secret")}})
	require.NoError(t, err)
	from := func(origin string) ([]*commonpb.Payload, error) {
		return converter.NewRemotePayloadCodec(converter.RemotePayloadCodecOptions{Endpoint: settings.Codec.Endpoint, ModifyRequest: func(r *http.Request) error {
			r.Header.Set("Origin", origin)
			return nil
		}}).Decode(sealed)
	}
	opened, err := from(ui)
	require.NoError(t, err)
	require.Equal(t, "a secret", string(opened[0].GetData()))
	for _, origin := range []string{"http://evil.example", "null", "http://127.0.0.1:1", strings.Replace(ui, "127.0.0.1", "localhost", 1)} {
		_, err := from(origin)
		require.Error(t, err, origin)
	}
}
