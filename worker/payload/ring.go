// Package payload encrypts the data that Temporal stores: inputs, results, signals, updates, memos and failures.
// Temporal and every reader of its database then see ciphertext. Names stay visible: of workflows, activities,
// projects, users and sessions.
//
// The package imports little, because hooks of agents use it.
package payload

import "axiommind/activities/session/keyring"

// Ring holds the keys of a file: see [keyring.Ring]. One without keys encrypts nothing.
type Ring struct{ keyring.Ring }

// Load reads a key file: see [keyring.Load].
func Load(path string) (*Ring, error) {
	ring, err := keyring.Load("payload", path)
	if err != nil {
		return nil, err
	}
	return &Ring{*ring}, nil
}

// Parse reads the text of a key file: see [keyring.Parse].
func Parse(text []byte) (*Ring, error) {
	ring, err := keyring.Parse(text)
	if err != nil {
		return nil, err
	}
	return &Ring{*ring}, nil
}

// NewFile returns the text of a key file with one new key.
func NewFile(id string) []byte { return keyring.NewFile(id) }
