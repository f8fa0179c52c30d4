package main

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/protobuf/proto"

	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
	"axiommind/worker/payload"
	"axiommind/worker/settings"
)

// With a key, a hook's signal and the queue start that comes with it can only be read with that key.
func TestHookEncrypts(t *testing.T) {
	t.Parallel()
	h := newHome(t, stacktest.Temporal(t))
	config := filepath.Join(h.dir, "cache", "axiommind", "local.yaml")
	require.NoError(t, os.MkdirAll(filepath.Dir(config), 0o700))
	keys := filepath.Join(h.dir, "payload.keys")
	require.NoError(t, os.WriteFile(config, []byte("payload-key-file: "+keys+"\n"), 0o600))
	h.call(t, "Stop", "kept")
	require.Equal(t, 1, h.waiting(t), "without the key that is wanted nothing is sent, and nothing is lost")

	require.NoError(t, os.WriteFile(keys, payload.NewFile("k1"), 0o600))
	require.Eventually(t, func() bool {
		h.call(t, "Stop", "sent")
		return h.waiting(t) == 0
	}, time.Minute, 20*time.Millisecond)
	raw, id := dial(t, h.temporal), schema.WorkflowID(schema.QueueStream(h.user, ""))
	events := raw.GetWorkflowHistory(t.Context(), id, "", false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		event, err := events.Next()
		require.NoError(t, err)
		wire, err := proto.Marshal(event)
		require.NoError(t, err)
		for _, word := range []string{"projects", "transcript", ".jsonl", "queue of", "json/plain"} {
			require.False(t, strings.Contains(string(wire), word), "%s in %v", word, event)
		}
	}
	options, err := settings.Servers{TemporalAddress: h.temporal, PayloadKeyFile: keys}.TemporalOptions()
	require.NoError(t, err)
	options.Logger = slog.New(slog.DiscardHandler)
	keyed, err := client.DialContext(t.Context(), options)
	require.NoError(t, err)
	defer keyed.Close()
	threads := h.enqueued(t, keyed)
	require.Equal(t, 1, count(threads, "kept"), threads)
	require.Contains(t, threads, "sent")
}
