package session_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/activities/session"
	"axiommind/activities/session/keyring"
	"axiommind/schema"
)

func ringOf(t *testing.T, ids ...string) *keyring.Ring {
	t.Helper()
	var text []byte
	for _, id := range ids {
		text = append(text, keyring.NewFile(id)...)
	}
	ring, err := keyring.Parse(text)
	require.NoError(t, err)
	return ring
}

func redactedMessage(index int, taken ...string) schema.Message {
	m := schema.Message{Index: index, Key: fmt.Sprintf("key%d-0", index), Text: "Use" + strings.Repeat(" "+schema.Redacted("named-secret"), len(taken)), TakenOut: taken}
	return m
}

func sealed(t *testing.T, ring *keyring.Ring, id string, m schema.Message) schema.OriginalSealedPayload {
	t.Helper()
	p, changed, err := session.SealOriginal(ring, schema.SessionKey{Scope: schema.Scope{Project: "p", User: "u"}, SessionID: id}, m)
	require.NoError(t, err)
	require.True(t, changed)
	return p
}

func TestSealOriginal(t *testing.T) {
	t.Parallel()
	ring := ringOf(t, "k1")
	m := redactedMessage(3, "a lock's number", "한국어")
	p := sealed(t, ring, "s", m)
	taken, err := session.OpenOriginal(ring, p)
	require.NoError(t, err)
	require.Equal(t, m.TakenOut, taken)
	data, err := json.Marshal(p)
	require.NoError(t, err)
	require.NotContains(t, string(data), "lock")

	require.Equal(t, p, sealed(t, ring, "s", m), "a retry stores the same bytes")
	require.NotEqual(t, p.Sealed, sealed(t, ring, "other", m).Sealed, "each session has keys of its own")
	require.NotEqual(t, p.Sealed, sealed(t, ring, "s", redactedMessage(4, m.TakenOut...)).Sealed)
	require.Len(t, sealed(t, ring, "s", redactedMessage(3, "short", "x")).Sealed, len(p.Sealed), "the size tells nothing of short secrets")

	rotated, err := keyring.Parse(append(keyring.NewFile("k2"), keyring.NewFile("k3")...))
	require.NoError(t, err)
	_, err = session.OpenOriginal(rotated, p)
	require.ErrorContains(t, err, `encrypted with key "k1", which is not in`)
	_, err = session.OpenOriginal(&keyring.Ring{}, p)
	require.ErrorContains(t, err, "name the file that holds it by --raw-key-file")
	_, err = session.OpenOriginal(ringOf(t, "k1"), p)
	require.ErrorContains(t, err, "is not the one that it was encrypted with")
}

// Neither the sealed text nor the fields next to it can be changed or exchanged.
func TestSealedOriginalIsWhole(t *testing.T) {
	t.Parallel()
	ring := ringOf(t, "k1", "k2")
	p := sealed(t, ring, "s", redactedMessage(3, "x"))
	for what, change := range map[string]func(*schema.OriginalSealedPayload){
		"the session":    func(p *schema.OriginalSealedPayload) { p.SessionID = "t" },
		"the project":    func(p *schema.OriginalSealedPayload) { p.Project = "q" },
		"the position":   func(p *schema.OriginalSealedPayload) { p.Index = 4 },
		"the message":    func(p *schema.OriginalSealedPayload) { p.Message = "key4-0" },
		"the key":        func(p *schema.OriginalSealedPayload) { p.KeyID = "k2" },
		"the nonce":      func(p *schema.OriginalSealedPayload) { p.Sealed[0] ^= 1 },
		"the ciphertext": func(p *schema.OriginalSealedPayload) { p.Sealed[20] ^= 1 },
		"its end":        func(p *schema.OriginalSealedPayload) { p.Sealed = p.Sealed[:len(p.Sealed)-1] },
		"all of it":      func(p *schema.OriginalSealedPayload) { p.Sealed = nil },
	} {
		changed := p
		changed.Sealed = append([]byte(nil), p.Sealed...)
		change(&changed)
		_, err := session.OpenOriginal(ring, changed)
		require.ErrorContains(t, err, "it was changed", what)
	}
}

func TestSealOriginalOfNothing(t *testing.T) {
	t.Parallel()
	ring := ringOf(t, "k1")
	key := schema.SessionKey{SessionID: "s"}
	own := redactedMessage(0, schema.Redacted("named-secret")) // A person wrote the placeholder.
	for _, m := range []schema.Message{{Text: "Nothing."}, own} {
		_, changed, err := session.SealOriginal(ring, key, m)
		require.NoError(t, err)
		require.False(t, changed)
	}
	p := sealed(t, ring, "s", redactedMessage(0, strings.Repeat("x", session.MaxOriginalBytes+1)))
	require.Equal(t, session.MaxOriginalBytes+1, p.TooLong)
	require.Empty(t, p.Sealed)
}

// Removed text can't get into a log, an error or JSON by mistake.
func TestTakenOutTellsNothing(t *testing.T) {
	t.Parallel()
	m := redactedMessage(0, "a lock's number")
	data, err := json.Marshal(map[string]any{"message": m, "taken": m.TakenOut})
	require.NoError(t, err)
	for _, text := range []string{string(data), fmt.Sprint(m), fmt.Sprintf("%+v %#v %s %q %x", m, m, m.TakenOut, m.TakenOut, m.TakenOut), m.TakenOut.LogValue().String()} {
		require.NotContains(t, text, "lock")
		require.NotContains(t, text, fmt.Sprintf("%x", "lock"))
	}
}
