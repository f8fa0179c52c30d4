package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"axiommind/deploy/local/stack"
)

func writeAddresses(path string, a stack.Addresses) error {
	if path == "" {
		return nil
	}
	text, err := addressesText(a)
	if err != nil {
		return fmt.Errorf("write addresses: %w", err)
	}
	dir := filepath.Dir(path)
	if err := errors.Join(os.MkdirAll(dir, 0o700), os.Chmod(dir, 0o700)); err != nil {
		return fmt.Errorf("write addresses: %w", err)
	}
	if err := stack.WritePrivate(path, text); err != nil {
		return fmt.Errorf("write addresses: %w", err)
	}
	return nil
}

// forgetAddresses removes the file of writeAddresses, unless another stack has written it since.
func forgetAddresses(path string, a stack.Addresses) error {
	text, err := addressesText(a)
	if err != nil || path == "" {
		return err
	}
	if there, err := os.ReadFile(path); err != nil || !bytes.Equal(there, text) {
		return nil //nolint:nilerr // There is nothing to remove, or it is another's.
	}
	return os.Remove(path)
}
