package privacy_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"axiommind/activities/eventlog"
	"axiommind/activities/projection"
	"axiommind/activities/session"
	"axiommind/activities/session/keyring"
	"axiommind/activities/transcript/redact/redacttest"
	"axiommind/schema"
	"axiommind/starter/command"
	"axiommind/starter/command/commandtest"
	"axiommind/worker/service"
)

// An original kept with --keep-raw is printed with its key, and with no other key.
func TestSessionRaw(t *testing.T) {
	t.Parallel()
	c := commandtest.NewCLI(t)
	keyFile := func(ids ...string) string {
		var text []byte
		for _, id := range ids {
			text = append(text, keyring.NewFile(id)...)
		}
		path := filepath.Join(t.TempDir(), "raw.keys")
		require.NoError(t, os.WriteFile(path, text, 0o600))
		return path
	}
	keys := keyFile("r1")
	c.Work(t, "--keep-raw", "--raw-key-file", keys)
	secret := redacttest.NewMaker(uint64(time.Now().UnixNano())).Of(24)
	o := c.Process(commandtest.Write(t, "s.jsonl", commandtest.Said(1, "user", commandtest.Decision)+commandtest.Said(2, "user", "my password is "+secret+", keep it")), "--session", "today")
	require.Zero(t, o.Code, o)
	require.NotContains(t, o.String(), secret)

	raw := func(file string, more ...string) commandtest.Output {
		return c.Run(append([]string{"session", "raw", "today", "--project", c.Project, "--raw-key-file", file}, more...)...)
	}
	o = raw(keys)
	require.Zero(t, o.Code, o)
	require.Equal(t, "message 1 (user)\n  │ my password is "+secret+", keep it\n", o.Out)
	all := commandtest.Decode[[]session.Original](t, raw(keys, "--output", "json"))
	require.Equal(t, "my password is "+schema.Redacted("named-secret")+", keep it", all[0].Text)
	require.Equal(t, "my password is "+secret+", keep it", all[0].Original)
	require.Contains(t, raw(keys, "--message", "0").Out, "nothing is kept")

	for want, o := range map[string]commandtest.Output{
		"--raw-key-file: name the file":                   c.Run("session", "raw", "today", "--project", c.Project),
		"no such file":                                    raw(keys + "x"),
		`message 1: it is encrypted with key "r1", which`: raw(keyFile("r2")),
		"is not the one that it was encrypted with":       raw(keyFile("r1")),
		`there is no session "yesterday"`:                 c.Run("session", "raw", "yesterday", "--project", c.Project, "--raw-key-file", keys),
		`there is no session "today"`:                     c.Run("session", "raw", "today", "--project", c.Project, "--user", "other", "--raw-key-file", keys),
		"--message -2: want a position":                   raw(keys, "--message", "-2"),
	} {
		require.NotZero(t, o.Code, want)
		require.Contains(t, o.Err, want)
		require.NotContains(t, o.String(), secret)
	}

	token := "ghp_" + redacttest.NewMaker(uint64(time.Now().UnixNano())).Of(36)
	o = c.Process(commandtest.Write(t, "named.jsonl", commandtest.Said(1, "user", commandtest.Decision)), "--session", token)
	require.NotZero(t, o.Code, o)
	require.Contains(t, o.String(), "holds a credential, and ids are stored as they are")
	require.NotContains(t, o.String(), token)

	// An attacker with write access to the log changes a byte of the original.
	conn, err := service.ConnectClickHouse(t.Context(), c.Config(t), commandtest.Quiet)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	log := projection.New(conn, eventlog.Options{})
	key := schema.SessionKey{Scope: schema.Scope{Project: c.Project, User: "default"}, SessionID: "forged"}
	var sealed schema.OriginalSealedPayload
	for event, err := range log.Stream(t.Context(), schema.SessionKey{Scope: key.Scope, SessionID: "today"}.Stream(), eventlog.StreamOptions{}) {
		require.NoError(t, err)
		require.False(t, bytes.Contains(event.Payload, []byte(secret)))
		switch event.Type {
		case schema.OriginalSealed:
			sealed, err = schema.Decode[schema.OriginalSealedPayload](event)
			require.NoError(t, err)
			sealed.SessionKey, sealed.Sealed[20] = key, sealed.Sealed[20]^1
			forge(t, log, key, sealed, schema.OriginalSealedKey(key, sealed.Message))
		case schema.SessionIngested:
			p, err := schema.Decode[schema.SessionIngestedPayload](event)
			require.NoError(t, err)
			p.SessionKey = key
			forge(t, log, key, p, schema.SessionIngestedKey(key, p.Messages))
		}
	}
	require.NotEmpty(t, sealed.Sealed)
	o = c.Run("session", "raw", "forged", "--project", c.Project, "--raw-key-file", keys)
	require.Equal(t, command.ExitFailed, o.Code, o)
	require.Contains(t, o.Err, "1 of 1 message could not be read: message 1: it was changed, or key \"r1\"")
}

func forge(t *testing.T, log *projection.Store, key schema.SessionKey, payload any, dedupe string) {
	t.Helper()
	event, err := schema.NewEvent(payload, schema.Event{TS: time.Now(), Actor: "a", SessionID: key.SessionID, Project: key.Project, DedupeKey: dedupe})
	require.NoError(t, err)
	_, err = log.Append(t.Context(), key.Stream(), []schema.Event{event})
	require.NoError(t, err)
}
