package payload_test

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/worker/payload"
)

// keyOf is a key whose bytes are all the same.
func keyOf(b byte) string {
	return base64.StdEncoding.EncodeToString([]byte(strings.Repeat(string(rune(b)), 32)))
}

func ringOf(t *testing.T, lines ...string) *payload.Ring {
	t.Helper()
	path := filepath.Join(t.TempDir(), "payload.keys")
	require.NoError(t, os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o600))
	ring, err := payload.Load(path)
	require.NoError(t, err)
	return ring
}
