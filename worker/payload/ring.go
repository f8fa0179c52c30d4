// Package payload encrypts what Temporal stores: inputs, results, signals, updates, memos and failures. Temporal and
// whoever reads its database then see ciphers. What they still see are names: of workflows, activities, projects, users
// and sessions.
//
// The package imports little, because hooks of agents use it.
package payload

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
)

const (
	// keyBytes is the size of a key of AES-256.
	keyBytes = 32
	// maxFileBytes bounds a key file: some hundred keys.
	maxFileBytes = 1 << 16
)

// Ring holds the keys of a file. The first one encrypts and all of them decrypt, so that keys can be rotated. One without
// keys encrypts nothing.
type Ring struct {
	file string
	keys []key
}

type key struct {
	id   string
	aead cipher.AEAD
}

// keyID is what an id may be: it stands in each payload, in the open.
var keyID = regexp.MustCompile(`^[A-Za-z0-9._-]{1,32}$`)

// Load reads a key file. An empty path gives a ring without keys. A file that others than its owner can read or change is
// refused.
func Load(path string) (*Ring, error) {
	if path == "" {
		return &Ring{}, nil
	}
	file, err := os.Open(filepath.Clean(path))
	if err != nil {
		return nil, fmt.Errorf("read payload keys: %w", err)
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	switch {
	case err != nil:
		return nil, fmt.Errorf("read payload keys: %w", err)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("read payload keys: %q is no file", path)
	case info.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows":
		return nil, fmt.Errorf("read payload keys: others than its owner can read or change %q: run: chmod 600 %q", path, path)
	}
	text, err := io.ReadAll(io.LimitReader(file, maxFileBytes+1))
	if err != nil {
		return nil, fmt.Errorf("read payload keys: %w", err)
	}
	ring, err := Parse(text)
	if err != nil {
		return nil, fmt.Errorf("read payload keys of %q: %w", path, err)
	}
	ring.file = path
	return ring, nil
}

// Parse reads the text of a key file: lines of an id and a key in base64. Empty lines and those that begin with # say
// nothing. No error tells any part of a key.
func Parse(text []byte) (*Ring, error) {
	if len(text) > maxFileBytes {
		return nil, fmt.Errorf("it has more than %d bytes", maxFileBytes)
	}
	ring := &Ring{}
	for n, line := range bytes.Split(text, []byte("\n")) {
		words := strings.Fields(string(line))
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		if len(words) != 2 {
			return nil, fmt.Errorf("line %d: want an id and a key in base64, with a space between them", n+1)
		}
		// A key that stands in the place of the id must not be told.
		id := words[0]
		if !keyID.MatchString(id) {
			return nil, fmt.Errorf("line %d: want an id of at most 32 letters, digits, dots, hyphens and underscores", n+1)
		}
		if ring.find(id) != nil {
			return nil, fmt.Errorf("line %d: there is another key with the id %q above", n+1, id)
		}
		raw, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(words[1], "="))
		switch {
		case err != nil:
			return nil, fmt.Errorf("line %d: the key is not in base64", n+1)
		case len(raw) != keyBytes:
			return nil, fmt.Errorf("line %d: the key has %d bytes, want %d: make one by: openssl rand -base64 %d", n+1, len(raw), keyBytes, keyBytes)
		}
		k, err := newKey(id, raw)
		if err != nil {
			return nil, err
		}
		ring.keys = append(ring.keys, k)
	}
	if len(ring.keys) == 0 {
		return nil, errors.New("it has no key: want lines of an id and a key in base64")
	}
	return ring, nil
}

func newKey(id string, raw []byte) (key, error) {
	block, err := aes.NewCipher(raw)
	if err != nil {
		return key{}, fmt.Errorf("make a cipher: %w", err)
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return key{}, fmt.Errorf("make a cipher: %w", err)
	}
	return key{id, aead}, nil
}

// Encrypts reports whether the ring has keys.
func (r *Ring) Encrypts() bool { return len(r.keys) > 0 }

// KeyIDs are the ids of the keys. The first one encrypts.
func (r *Ring) KeyIDs() []string {
	ids := make([]string, len(r.keys))
	for i, k := range r.keys {
		ids[i] = k.id
	}
	return ids
}

func (r *Ring) find(id string) *key {
	i := slices.IndexFunc(r.keys, func(k key) bool { return k.id == id })
	if i < 0 {
		return nil
	}
	return &r.keys[i]
}

// NewFile returns the text of a key file with one new key.
func NewFile(id string) []byte {
	raw := make([]byte, keyBytes)
	_, _ = rand.Read(raw) // It never fails.
	return []byte("# The first key encrypts what Temporal stores, all of them decrypt. Without them it can't be read any longer.\n" +
		id + " " + base64.StdEncoding.EncodeToString(raw) + "\n")
}
