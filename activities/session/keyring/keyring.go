// Package keyring reads key files and encrypts with their keys: the payloads that Temporal stores, and the text that
// redaction removed from messages. Keys can be rotated, because each ciphertext names its own.
//
// The package imports nothing of the project, because agent hooks use it.
package keyring

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
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
	raw  []byte
	aead cipher.AEAD
}

// keyID matches a valid key id. It is stored unencrypted next to each ciphertext.
var keyID = regexp.MustCompile(`^[A-Za-z0-9._-]{1,32}$`)

// Load reads a key file. An empty path gives a ring without keys. A file that others than its owner can read or change is
// refused. Errors name the purpose of the keys, such as "payload".
func Load(what, path string) (*Ring, error) {
	if path == "" {
		return &Ring{}, nil
	}
	ring, err := read(path)
	if err != nil {
		return nil, fmt.Errorf("read %s keys: %w", what, err)
	}
	return ring, nil
}

func read(path string) (*Ring, error) {
	file, err := os.Open(filepath.Clean(path))
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%q is no file", path)
	case info.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows":
		return nil, fmt.Errorf("others than its owner can read or change %q: run: chmod 600 %q", path, path)
	}
	text, err := io.ReadAll(io.LimitReader(file, maxFileBytes+1))
	if err != nil {
		return nil, err
	}
	ring, err := Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%q: %w", path, err)
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
	return key{id, raw, aead}, nil
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

// KeyID is the id of the key that encrypts. The ring must have one.
func (r *Ring) KeyID() string { return r.keys[0].id }

// File is the path of the file that the ring was read from.
func (r *Ring) File() string { return r.file }

// Has reports whether the ring has the key.
func (r *Ring) Has(id string) bool { return r.find(id) != nil }

func (r *Ring) find(id string) *key {
	i := slices.IndexFunc(r.keys, func(k key) bool { return k.id == id })
	if i < 0 {
		return nil
	}
	return &r.keys[i]
}

// ErrNoKey means that a ring does not have a key. It may be another one's.
var ErrNoKey = errors.New("there is no such key")

// Seal encrypts with the first key, whose id it returns. There must be one. The additional data are not part of the
// ciphertext, and Open wants the same ones.
func (r *Ring) Seal(plain, additional []byte) (id string, sealed []byte) {
	k := r.keys[0]
	return k.id, k.aead.Seal(nil, nil, plain, additional)
}

// Open decrypts a ciphertext that Seal returned for the key. Without the key, the error is [ErrNoKey].
func (r *Ring) Open(id string, sealed, additional []byte) ([]byte, error) {
	k := r.find(id)
	if k == nil {
		return nil, ErrNoKey
	}
	return k.aead.Open(nil, nil, sealed, additional)
}

// Derive returns a key that is derived from one of the ring, by HKDF-SHA256. The purpose tells keys apart that are derived
// from the same one. Without the key, the error is [ErrNoKey].
func (r *Ring) Derive(id, purpose string, size int) ([]byte, error) {
	k := r.find(id)
	if k == nil {
		return nil, ErrNoKey
	}
	return hkdf.Key(sha256.New, k.raw, nil, purpose, size)
}

// NewFile returns the text of a key file with one new key.
func NewFile(id string) []byte {
	raw := make([]byte, keyBytes)
	_, _ = rand.Read(raw) // It never fails.
	return []byte("# The first key encrypts, all of them decrypt. Data encrypted with a key can't be read without it.\n" +
		id + " " + base64.StdEncoding.EncodeToString(raw) + "\n")
}
