package keyring_test

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/activities/session/keyring"
)

// keyOf is a key whose bytes are all the same.
func keyOf(b byte) string {
	return base64.StdEncoding.EncodeToString([]byte(strings.Repeat(string(rune(b)), 32)))
}

func TestParse(t *testing.T) {
	t.Parallel()
	unpadded := strings.TrimRight(keyOf(2), "=")
	ring, err := keyring.Parse([]byte("# ours\n\n 2026-11 \t" + keyOf(1) + "\r\nold_1.a " + unpadded))
	require.NoError(t, err)
	require.Equal(t, []string{"2026-11", "old_1.a"}, ring.KeyIDs())
	require.True(t, ring.Encrypts())
	for text, want := range map[string]string{
		"":                                   "it has no key",
		"# none\n":                           "it has no key",
		"a":                                  "line 1: want an id and a key",
		keyOf(1):                             "line 1: want an id and a key",
		"\na b c":                            "line 2: want an id and a key",
		"a " + keyOf(1)[4:]:                  "line 1: the key has 29 bytes, want 32: make one by: openssl rand -base64 32",
		"a %%%":                              "line 1: the key is not in base64",
		keyOf(1) + " a":                      "line 1: want an id of at most 32",
		"a " + keyOf(1) + "\na " + keyOf(2):  `line 2: there is another key with the id "a" above`,
		strings.Repeat("#", 1<<16+1):         "it has more than 65536 bytes",
		strings.Repeat("a", 33) + keyOf(1):   "line 1: want an id and a key",
		strings.Repeat("a", 33) + " " + "bb": "line 1: want an id of at most 32",
	} {
		_, err := keyring.Parse([]byte(text))
		require.ErrorContains(t, err, want, text)
		require.NotContains(t, err.Error(), keyOf(1)[4:20])
	}
}

func TestLoad(t *testing.T) {
	t.Parallel()
	none, err := keyring.Load("payload", "")
	require.NoError(t, err)
	require.False(t, none.Encrypts())

	dir := t.TempDir()
	path := filepath.Join(dir, "payload.keys")
	require.NoError(t, os.WriteFile(path, keyring.NewFile("k1"), 0o600))
	ring, err := keyring.Load("payload", path)
	require.NoError(t, err)
	require.Equal(t, []string{"k1"}, ring.KeyIDs())
	require.NotEqual(t, keyring.NewFile("k1"), keyring.NewFile("k1"))

	for _, mode := range []os.FileMode{0o640, 0o604, 0o602} {
		require.NoError(t, os.Chmod(path, mode))
		_, err = keyring.Load("payload", path)
		require.ErrorContains(t, err, "run: chmod 600", mode)
	}
	_, err = keyring.Load("payload", filepath.Join(dir, "absent"))
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = keyring.Load("payload", dir)
	require.ErrorContains(t, err, "is no file")
	bad := filepath.Join(dir, "bad")
	require.NoError(t, os.WriteFile(bad, []byte("k1 short"), 0o600))
	_, err = keyring.Load("payload", bad)
	require.ErrorContains(t, err, bad)
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("a " + keyOf(1)))
	f.Add(keyring.NewFile("k1"))
	f.Add([]byte("# x\n\r\n a\tb\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		ring, err := keyring.Parse(text)
		if err != nil {
			if ring != nil {
				t.Fatal("a ring and an error")
			}
			// A word of the text that is long enough to be a key is never told.
			for _, word := range strings.Fields(string(text)) {
				if len(word) > 32 && strings.Contains(err.Error(), word) {
					t.Fatalf("%v tells %q", err, word)
				}
			}
			return
		}
		ids := ring.KeyIDs()
		if len(ids) == 0 || !ring.Encrypts() {
			t.Fatal("a ring without keys")
		}
		seen := map[string]bool{}
		for _, id := range ids {
			if id == "" || len(id) > 32 || seen[id] {
				t.Fatalf("id %q", id)
			}
			seen[id] = true
		}
	})
}

func TestDerive(t *testing.T) {
	t.Parallel()
	ring, err := keyring.Parse([]byte("a " + keyOf(1) + "\nb " + keyOf(2)))
	require.NoError(t, err)
	derive := func(id, purpose string) string {
		key, err := ring.Derive(id, purpose, 32)
		require.NoError(t, err)
		require.Len(t, key, 32)
		return string(key)
	}
	require.Equal(t, derive("a", "x"), derive("a", "x"), "the same each time")
	require.NotEqual(t, derive("a", "x"), derive("a", "y"), "another purpose, another key")
	require.NotEqual(t, derive("a", "x"), derive("b", "x"), "another key, another one derived from it")
	_, err = ring.Derive("c", "x", 32)
	require.ErrorIs(t, err, keyring.ErrNoKey)
	_, err = ring.Open("c", nil, nil)
	require.ErrorIs(t, err, keyring.ErrNoKey)
}
