package transcript

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
	"strings"

	"axiommind/activities/boundary"
	"axiommind/schema"
)

const keyBytes = 32

// Grant signs the input's file, project, user and agent with the key, which it makes if there is none. With
// the grant in the input, a worker that has the same key, so one of the same user on the same machine, reads
// the file although it lies outside the worker's roots. A grant is void once the URI leads to another path.
func Grant(keyFile string, in schema.ProcessSessionInput) (string, error) {
	path, err := absolutePath(in.URI)
	if err != nil {
		return "", err
	}
	key, err := readKey(keyFile)
	if errors.Is(err, fs.ErrNotExist) {
		if err = makeKey(keyFile); err == nil {
			key, err = readKey(keyFile)
		}
	}
	if err != nil {
		return "", fmt.Errorf("grant access to %q: %w", path, err)
	}
	f, err := resolve(path)
	if err != nil {
		return "", fmt.Errorf("grant access to %q: %w", path, err)
	}
	defer f.close()
	return grantOf(key, f.path, in), nil
}

func grantOf(key []byte, real string, in schema.ProcessSessionInput) string {
	mac := hmac.New(sha256.New, key)
	_, _ = mac.Write([]byte(schema.HashParts("source", in.URI, real, in.Project, in.User, in.Agent)))
	return hex.EncodeToString(mac.Sum(nil))
}

// grantBelow returns the grant for a file of a directory that the worker may read, none if it lies in a root.
func (a *Access) grantBelow(real string, in schema.ProcessSessionInput) (string, error) {
	if within(real, realPaths(a.Roots())) {
		return "", nil
	}
	key, err := readKey(a.options.KeyFile)
	if err != nil {
		return "", boundary.Invalid(schema.ErrorSourceForbidden, err)
	}
	return grantOf(key, real, in), nil
}

// granted reports whether the input carries a grant for the file. The key is read each time, because the
// starter makes a new one when the old one is gone.
func (a *Access) granted(real string, in schema.ProcessSessionInput) bool {
	if in.Grant == "" || a.options.KeyFile == "" {
		return false
	}
	key, err := readKey(a.options.KeyFile)
	return err == nil && hmac.Equal([]byte(grantOf(key, real, in)), []byte(in.Grant))
}

func readKey(path string) ([]byte, error) {
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
