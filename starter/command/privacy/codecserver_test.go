package privacy_test

import (
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"

	"axiommind/starter/command"
	"axiommind/starter/command/commandtest"
	"axiommind/worker/payload"
)

// The codec server decrypts for web pages that the settings name, in the configured namespace, and stops when its context
// ends.
func TestCodecServer(t *testing.T) {
	t.Parallel()
	const token = "correct-horse-battery"
	keys := commandtest.Write(t, "payload.keys", string(payload.NewFile("k1")))
	command := commandtest.Down().Starter(t, "codec-server", "--address", "127.0.0.1:0", "--payload-key-file", keys,
		"--temporal-ui", "http://127.0.0.1:8233/namespaces", "--temporal-namespace", "memory", "--token-file", commandtest.Write(t, "token", token))
	stderr, err := command.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, command.Start())
	t.Cleanup(func() {
		_ = command.Process.Signal(os.Interrupt)
		require.NoError(t, command.Wait(), "it stops when it is told to")
	})
	line := make([]byte, 200)
	n, err := stderr.Read(line)
	require.NoError(t, err)
	_, said, ok := strings.Cut(strings.TrimSpace(string(line[:n])), "decrypting at ")
	require.True(t, ok, "%s", line[:n])
	url, pages, _ := strings.Cut(said, " for ")
	require.Equal(t, "programs and pages of [http://127.0.0.1:8233]", pages)

	ring, err := payload.Load(keys)
	require.NoError(t, err)
	sealed, err := ring.Encode([]*commonpb.Payload{{Data: []byte("a secret")}})
	require.NoError(t, err)
	remote := func(namespace, token, origin string) converter.PayloadCodec {
		return converter.NewRemotePayloadCodec(converter.RemotePayloadCodecOptions{Endpoint: url, ModifyRequest: func(r *http.Request) error {
			r.Header.Set("X-Namespace", namespace)
			r.Header.Set("Authorization", "Bearer "+token)
			r.Header.Set("Origin", origin)
			return nil
		}})
	}
	opened, err := remote("memory", token, "http://127.0.0.1:8233").Decode(sealed)
	require.NoError(t, err)
	require.Equal(t, "a secret", string(opened[0].GetData()))
	for _, refused := range []converter.PayloadCodec{
		remote("other", token, "http://127.0.0.1:8233"), remote("memory", token+"x", "http://127.0.0.1:8233"), remote("memory", token, "http://127.0.0.1:8080"),
	} {
		_, err := refused.Decode(sealed)
		require.Error(t, err)
	}
}

// Flags that would expose the histories to others are refused before anything is served.
func TestCodecServerFlags(t *testing.T) {
	t.Parallel()
	keys, token := commandtest.Write(t, "payload.keys", string(payload.NewFile("k1"))), commandtest.Write(t, "token", "correct-horse-battery")
	open := commandtest.Write(t, "open.keys", string(payload.NewFile("k1")))
	require.NoError(t, os.Chmod(open, 0o644))
	for says, args := range map[string][]string{
		"name the file of the keys":           nil,
		"no such file":                        {"--payload-key-file", keys + "x"},
		"run: chmod 600":                      {"--payload-key-file", open},
		"add --token-file FILE":               {"--payload-key-file", keys, "--address", ":0"},
		"or use 127.0.0.1":                    {"--payload-key-file", keys, "--address", "0.0.0.0:0"},
		"want an address":                     {"--payload-key-file", keys, "--address", "here"},
		`--origin "here": want the URL`:       {"--payload-key-file", keys, "--origin", "here"},
		`--temporal-ui "here": want the URL`:  {"--payload-key-file", keys, "--temporal-ui", "here"},
		"no such file or directory":           {"--payload-key-file", keys, "--token-file", token + "x"},
		"want at least 16 letters, digits or": {"--payload-key-file", keys, "--token-file", commandtest.Write(t, "short", "short")},
	} {
		o := commandtest.Down().Run(append([]string{"codec-server"}, args...)...)
		require.Equal(t, command.ExitUsage, o.Code, "%q: %s", args, o)
		require.Contains(t, o.Err, says)
	}
}

// Messages about unreachable servers name them without passwords.
func TestDoctorTellsNoPassword(t *testing.T) {
	t.Parallel()
	for _, password := range []string{"sesame", "12/se-same", "%73esame", "ses[same"} {
		for _, server := range [][]string{
			{"--clickhouse-dsn", "http://bob:" + password + "@127.0.0.1:1/default"}, {"--weaviate-url", "http://bob:" + password + "@127.0.0.1:1"},
		} {
			for _, name := range []string{"doctor", "facts"} {
				c := commandtest.Down()
				c.Env["TEMPORAL_API_KEY"], c.Env["WEAVIATE_API_KEY"] = "sesame", "sesame"
				c.Servers = append(c.Servers, server...)
				o := c.Run(name)
				require.NotEqual(t, command.ExitOK, o.Code)
				require.NotContains(t, o.String(), "same", "%q %q", name, server)
			}
		}
	}
}

// An unusable key file is a usage error without advice to start servers.
func TestPayloadKeysThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	c := commandtest.Down()
	c.Servers = append(c.Servers, "--payload-key-file", commandtest.Write(t, "payload.keys", "k1 short"))
	o := c.Run("queue")
	require.Equal(t, command.ExitUsage, o.Code, o)
	require.Contains(t, o.Err, "line 1: the key")
	require.NotContains(t, o.Err, "Is it up?")
	require.Contains(t, c.Run("doctor").Out, "correct that setting")
}
