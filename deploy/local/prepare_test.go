package main

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/deploy/local/stack"
)

// A stack that ends takes its addresses with it, and leaves those of a stack that started later.
func TestAddressesAreForgotten(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "axiommind", "local.yaml")
	first, second := stack.Addresses{Temporal: "127.0.0.1:1"}, stack.Addresses{Temporal: "127.0.0.1:2"}
	require.NoError(t, forgetAddresses(path, first), "nothing was written yet")
	require.NoError(t, writeAddresses(path, first))
	require.NoError(t, writeAddresses(path, second))
	require.NoError(t, forgetAddresses(path, first))
	require.FileExists(t, path)
	require.NoError(t, forgetAddresses(path, second))
	require.NoFileExists(t, path)
}
