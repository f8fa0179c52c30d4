package session

import (
	"bytes"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"axiommind/activities/eventlog"
	"axiommind/activities/session/keyring"
	"axiommind/schema"
)

const (
	// originalsPurpose begins the purpose of the keys of a session. Another format of the sealed text has another purpose.
	originalsPurpose = "axiommind originals 1\n"
	// MaxOriginalBytes bounds the removed text of a message. A private passage may be a whole file.
	MaxOriginalBytes = 4 << 20
	// paddedTo is the unit to which the plaintext is padded, so that the size of a ciphertext does not reveal that of a
	// password.
	paddedTo = 64
	keyBytes = 32
)

// SealOriginal encrypts the text that redaction removed from the message. It returns false if there is none.
//
// Each session has keys of its own, derived from the first key of the ring and the name of the session's stream by
// HKDF-SHA256. AES-256-GCM encrypts, with the session, the message and its position as additional data. The nonce is an
// HMAC of all that, as in SIV: a retry gives the same bytes, and equal nonces mean equal messages.
//
// Only the id of the ring's key is stored, so no key of a session can be lost, and concurrent attempts agree. Random keys,
// wrapped by the ring's, would be in the same stream: erasing them would mean erasing the stream.
func SealOriginal(ring *keyring.Ring, key schema.SessionKey, m schema.Message) (schema.OriginalSealedPayload, bool, error) {
	p := schema.OriginalSealedPayload{SessionKey: key, Index: m.Index, Message: m.Key, KeyID: ring.KeyID()}
	size, changed := 0, false
	for i, place := range schema.Redactions(m.Text) {
		if i < len(m.TakenOut) {
			size += len(m.TakenOut[i])
			changed = changed || m.TakenOut[i] != m.Text[place[0]:place[1]]
		}
	}
	if !changed {
		return p, false, nil
	}
	if size > MaxOriginalBytes {
		p.KeyID, p.TooLong = "", size
		return p, true, nil
	}
	plain, err := json.Marshal([]string(m.TakenOut))
	if err != nil {
		return p, false, fmt.Errorf("seal message %d of session %q: %w", m.Index, key.SessionID, err)
	}
	plain = append(plain, bytes.Repeat([]byte(" "), (paddedTo-len(plain)%paddedTo)%paddedTo)...)
	aead, mac, err := sessionKeys(ring, p)
	if err != nil {
		return p, false, err
	}
	additional := additionalData(p)
	nonce := syntheticNonce(mac, additional, plain, aead.NonceSize())
	p.Sealed = aead.Seal(nonce, nonce, plain, additional)
	return p, true, nil
}

// OpenOriginal decrypts the output of SealOriginal.
func OpenOriginal(ring *keyring.Ring, p schema.OriginalSealedPayload) (schema.Removed, error) {
	aead, _, err := sessionKeys(ring, p)
	switch {
	case errors.Is(err, keyring.ErrNoKey) && !ring.Encrypts():
		return nil, fmt.Errorf("it is encrypted with key %q, and there is no key: name the file that holds it by --raw-key-file", p.KeyID)
	case errors.Is(err, keyring.ErrNoKey):
		return nil, fmt.Errorf("it is encrypted with key %q, which is not in %q: add that key to the file, below the first one", p.KeyID, ring.File())
	case err != nil:
		return nil, err
	}
	changed := fmt.Errorf("it was changed, or key %q of %q is not the one that it was encrypted with", p.KeyID, ring.File())
	if len(p.Sealed) < aead.NonceSize() {
		return nil, changed
	}
	nonce, sealed := p.Sealed[:aead.NonceSize()], p.Sealed[aead.NonceSize():]
	plain, err := aead.Open(nil, nonce, sealed, additionalData(p))
	if err != nil {
		return nil, changed
	}
	var taken []string
	if err := json.Unmarshal(plain, &taken); err != nil { // The error may quote it.
		return nil, fmt.Errorf("key %q of %q opens it, and there is no text in it", p.KeyID, ring.File())
	}
	return taken, nil
}

// sessionKeys derives the key for encryption and the key for nonces.
func sessionKeys(ring *keyring.Ring, p schema.OriginalSealedPayload) (cipher.AEAD, []byte, error) {
	keys, err := ring.Derive(p.KeyID, originalsPurpose+p.Stream(), 2*keyBytes)
	if err != nil {
		return nil, nil, err
	}
	block, err := aes.NewCipher(keys[:keyBytes])
	if err != nil {
		return nil, nil, err
	}
	aead, err := cipher.NewGCM(block)
	return aead, keys[keyBytes:], err
}

// additionalData authenticates the fields that are unencrypted next to the ciphertext, so that they can't be exchanged.
func additionalData(p schema.OriginalSealedPayload) []byte {
	return []byte(schema.HashParts(p.Stream(), fmt.Sprint(p.Index), p.Message, p.KeyID))
}

func syntheticNonce(mac, additional, plain []byte, size int) []byte {
	h := hmac.New(sha256.New, mac)
	h.Write(additional) // Its length is always the same.
	h.Write(plain)
	return h.Sum(nil)[:size]
}

// Original is a message as it was before redaction.
type Original struct {
	// Message is the message in the log.
	schema.Message
	// Original is its text before redaction. If it is not available, Problem says why.
	Original string `json:"original,omitempty"`
	Problem  string `json:"problem,omitempty"`
}

// Originals returns the messages whose removed text is in the log, in their order, decrypted with the keys of the ring.
func (s *Session) Originals(ctx context.Context, ring *keyring.Ring) ([]Original, error) {
	sealed := map[string]schema.OriginalSealedPayload{}
	for event, err := range s.log.Stream(ctx, s.Stream(), eventlog.StreamOptions{Types: []string{schema.OriginalSealed}}) {
		var p schema.OriginalSealedPayload
		if err == nil {
			p, err = schema.Decode[schema.OriginalSealedPayload](event)
		}
		if err != nil {
			return nil, fmt.Errorf("read originals of session %q: %w", s.SessionID, err)
		}
		p.SessionKey = s.SessionKey // The key is that of the stream, whatever the payload says.
		sealed[p.Message] = p
	}
	var out []Original
	if len(sealed) == 0 {
		return nil, nil
	}
	for m, err := range s.From(ctx, 0) {
		if err != nil {
			return nil, err
		}
		p, kept := sealed[m.Key]
		if !kept {
			continue
		}
		o := Original{Message: m}
		if o.Original, err = original(ring, p, m.Text); err != nil {
			o.Original, o.Problem = "", err.Error()
		}
		out = append(out, o)
	}
	return slices.Clip(out), nil
}

func original(ring *keyring.Ring, p schema.OriginalSealedPayload, text string) (string, error) {
	if p.TooLong > 0 {
		return "", fmt.Errorf("%d bytes were taken out of it, and more than %d are not kept", p.TooLong, MaxOriginalBytes)
	}
	taken, err := OpenOriginal(ring, p)
	if err != nil {
		return "", err
	}
	return taken.Restore(text)
}
