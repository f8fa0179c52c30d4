package main_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"axiommind/activities/build"
	"axiommind/activities/llm"
	"axiommind/activities/session"
	"axiommind/activities/session/keyring"
	"axiommind/activities/transcript"
	"axiommind/activities/transcript/redact/redacttest"
	"axiommind/schema"
	"axiommind/worker/runner"
	"axiommind/worker/runner/runnertest"
	"axiommind/worker/service"
)

// keepRaw has the worker keep raw messages, and returns the keys.
func (b *bench) keepRaw(t *testing.T) *keyring.Ring {
	t.Helper()
	b.cfg.KeepRaw, b.cfg.RawKeyFile = true, filepath.Join(t.TempDir(), "raw.keys")
	require.NoError(t, os.WriteFile(b.cfg.RawKeyFile, keyring.NewFile("r1"), 0o600))
	ring, err := keyring.Load("raw", b.cfg.RawKeyFile)
	require.NoError(t, err)
	return ring
}

func (b *bench) originals(t *testing.T, ring *keyring.Ring, id string) []session.Original {
	t.Helper()
	logged, err := session.Open(t.Context(), b.Log.Store, schema.SessionKey{Scope: schema.Scope{Project: b.project, User: "u"}, SessionID: id})
	require.NoError(t, err)
	all, err := logged.Originals(t.Context(), ring)
	require.NoError(t, err)
	return all
}

// With --keep-raw no byte of a secret is in a store, a log, a history, a file or a prompt, and the owner of the key can
// read all of them. (I9)
func TestI9RawMessagesAreKeptEncrypted(t *testing.T) {
	t.Parallel()
	rawMessagesAreKeptEncrypted(t, 10)
}

func rawMessagesAreKeptEncrypted(t *testing.T, secrets int) {
	t.Helper()
	all := redacttest.Cases(23)
	var cases []redacttest.Case
	for i := range secrets {
		cases = append(cases, all[(i*89)%len(all)])
	}
	b, model := newBench(t), newEcho(t)
	ring := b.keepRaw(t)
	b.cfg.Model = llm.Config{Provider: llm.ProviderOpenAI, Model: "echo", BaseURL: model.url, ResponseFormat: llm.FormatNone}
	var logged runnertest.Log
	b.startLogging(t, slog.New(slog.NewTextHandler(&logged, &slog.HandlerOptions{Level: slog.LevelDebug})))
	uri := secretFiles(t, cases)[0]
	in := b.input("raw", uri)
	in.IncludeTools = true
	require.Equal(t, schema.BuildSuccess, b.process(t, in).Status)
	b.awaitIndexed(t)
	b.awaitGraduated(t.Context(), t)

	before := b.rows(t)
	require.Equal(t, schema.BuildUnchanged, b.process(t, in).Status, "the same session again keeps nothing anew")
	require.Equal(t, before, b.rows(t))

	places := b.places(t)
	places["the worker's log"], places["what the model was shown"] = logged.String(), model.shown.String()
	require.Contains(t, places["the table events_raw"], schema.OriginalSealed)
	for place, text := range places {
		if place != "the table events_raw" {
			require.NotContains(t, text, schema.OriginalSealed, place)
		}
	}
	sealed := column(t, b.ClickHouse, "SELECT base64Decode(JSONExtractString(payload_json, 'sealed')) FROM events WHERE event_type = 'original_sealed'")
	require.Greater(t, len(sealed), len(cases))
	places["the ciphertexts"] = strings.Join(sealed, "\n")
	requireNowhere(t, places, cases)

	var restored strings.Builder
	originals := b.originals(t, ring, "raw")
	require.Greater(t, len(originals), len(cases))
	for _, o := range originals {
		require.Empty(t, o.Problem)
		require.NotEqual(t, o.Text, o.Original)
		restored.WriteString(o.Original + "\n")
	}
	for _, c := range cases {
		require.Contains(t, restored.String(), c.Text)
	}
	t.Logf("survived: %d secrets kept encrypted", secrets)
}

// An attempt of ingest that died between keeping raw messages and storing the messages is repeated by the next: each is
// kept once, in the same bytes. (I2)
func TestI2RawMessagesAreKeptOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ring := b.keepRaw(t)
	access, err := transcript.NewAccess(transcript.AccessOptions{Roots: b.cfg.SourceRoots, RawKeys: ring})
	require.NoError(t, err)
	rooms, err := transcript.NewActivities(b.Log.Store, access)
	require.NoError(t, err)
	secret := "my password is " + redacttest.NewMaker(3).Of(20)
	in := transcript.IngestInput{
		Session: b.input("once", write(t, filepath.Join(t.TempDir(), "s.jsonl"), said(1, "user", decision), said(2, "user", secret), said(3, "user", secret))),
		At:      time.Now().UTC(),
	}
	in.Build.SessionKey = in.Session.Key()
	in.Build.Ordinal, in.Build.BuildID = 1, build.ID(in.Build.SessionKey, 1)

	// The state that the dead attempt has left.
	sessions, _, err := access.ReadSource(t.Context(), in.Session)
	require.NoError(t, err)
	left := sessions[0].Messages[1]
	sealed, changed, err := session.SealOriginal(ring, in.Build.SessionKey, left)
	require.NoError(t, err)
	require.True(t, changed)
	event, err := schema.NewEvent(sealed, schema.Event{TS: left.At, Actor: "pipeline", DedupeKey: schema.OriginalSealedKey(in.Build.SessionKey, left.Key), Sensitivity: schema.SensitivitySealed})
	require.NoError(t, err)
	_, err = b.Log.Append(t.Context(), in.Build.Stream(), []schema.Event{event})
	require.NoError(t, err)

	for range 2 {
		_, err := transcript.Ingest(t.Context(), rooms, in)
		require.NoError(t, err)
	}
	events := column(t, b.ClickHouse, "SELECT event_type FROM events ORDER BY seq")
	require.Equal(t, []string{schema.OriginalSealed, schema.BuildStarted, schema.OriginalSealed, schema.SessionIngested}, events)
	require.Equal(t, []string{"sealed"}, column(t, b.ClickHouse, "SELECT DISTINCT sensitivity FROM events WHERE event_type = 'original_sealed'"))
	originals := b.originals(t, ring, "once")
	require.Len(t, originals, 2)
	for i, o := range originals {
		require.Equal(t, i+1, o.Index)
		require.Equal(t, secret, o.Original)
	}
}

// Without a key nothing is kept in the open: the worker does not start.
func TestKeepRawNeedsAKey(t *testing.T) {
	t.Parallel()
	var cfg service.Config
	cfg.KeepRaw = true
	require.ErrorContains(t, runner.Run(t.Context(), cfg, quiet, nil), "name the file of the keys by --raw-key-file")
	cfg.RawKeyFile = filepath.Join(t.TempDir(), "absent")
	require.ErrorIs(t, runner.Run(t.Context(), cfg, quiet, nil), os.ErrNotExist)
	cfg.RawKeyFile = filepath.Join(t.TempDir(), "open")
	require.NoError(t, os.WriteFile(cfg.RawKeyFile, keyring.NewFile("r1"), 0o644)) //nolint:gosec // it is to be refused
	require.ErrorContains(t, runner.Run(t.Context(), cfg, quiet, nil), "chmod 600")
}
