// Package grant signs permissions for a worker to read files outside of its source roots, and to erase. Whoever has the
// key, a file that only its owner can read, may grant. The package imports little, because hooks of agents use it.
package grant

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"axiommind/schema"
)

const keyBytes = 32

// A grant ends lasts days after it was made, because it is readable in the log and in Temporal's histories.
const (
	lasts = 90
	day   = 24 * 60 * 60
)

// Of returns the grant for the input's URI, project, user and agent, as of now. Real is the path that the URI leads to, without
// symbolic links. Two of one day are the same.
func Of(key []byte, real string, in schema.ProcessSessionInput, now time.Time) string {
	return until(key, real, in, now.Unix()/day+lasts)
}

// Admits reports whether the input carries a grant for the path that has not ended.
func Admits(key []byte, real string, in schema.ProcessSessionInput, now time.Time) bool {
	last, _, _ := strings.Cut(in.Grant, ".")
	n, err := strconv.ParseInt(last, 10, 64)
	return err == nil && now.Unix()/day <= n && hmac.Equal([]byte(until(key, real, in, n)), []byte(in.Grant))
}

// until returns the grant that ends with the day, counted since 1970.
func until(key []byte, real string, in schema.ProcessSessionInput, last int64) string {
	mac := hmac.New(sha256.New, key)
	end := strconv.FormatInt(last, 10)
	_, _ = mac.Write([]byte(schema.HashParts("source", in.URI, real, in.Project, in.User, in.Agent, end)))
	return end + "." + hex.EncodeToString(mac.Sum(nil))
}

// OfErasure returns the grant for the erasure of the scope under the id.
func OfErasure(key []byte, id string, s schema.ErasureScope) string {
	mac := hmac.New(sha256.New, key)
	_, _ = mac.Write([]byte(schema.HashParts("erasure", id, s.Project, s.User, s.Agent, s.SessionID, s.Query)))
	return hex.EncodeToString(mac.Sum(nil))
}

// Key returns the key in the file, and makes one if there is no file.
func Key(path string) ([]byte, error) {
	key, err := ReadKey(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err = makeKey(path); err == nil {
			key, err = ReadKey(path)
		}
	}
	return key, err
}

// ReadKey returns the key in the file. The error is an [fs.ErrNotExist] if there is no file.
func ReadKey(path string) ([]byte, error) {
	if path == "" {
		return nil, errors.New("read key of grants: there is no directory for it")
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("read key of grants: %w", err)
	}
	if info.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows" {
		return nil, fmt.Errorf("read key of grants: others can read %q: remove it, and a new one is made", path)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read key of grants: %w", err)
	}
	key, err := hex.DecodeString(strings.TrimSpace(string(text)))
	if err != nil || len(key) != keyBytes {
		return nil, fmt.Errorf("read key of grants: %q holds none: remove it, and a new one is made", path)
	}
	return key, nil
}

// makeKey writes a new key, unless another process does so at the same time. The file appears complete.
func makeKey(path string) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("make key of grants: %w", err)
		}
	}()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	key := make([]byte, keyBytes)
	_, _ = rand.Read(key) // It never fails.
	file, err := os.CreateTemp(filepath.Dir(path), "key-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(file.Name()) }()
	_, err = file.WriteString(hex.EncodeToString(key) + "\n")
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	if err := os.Link(file.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}
