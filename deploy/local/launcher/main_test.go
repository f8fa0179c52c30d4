package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"axiommind/activities/text"

	"github.com/stretchr/testify/require"
)

const hostile = "a\x1b[2J\u202eb\u200bc\u2028d"

// Nothing that the program is given or meets commands the terminal, or hides on it.
func TestOutputIsVisible(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), hostile)
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	const shown = "a<U+001B>[2J<U+202E>b<U+200B>c<U+2028>d"
	for _, args := range [][]string{
		{"status", "--dir", t.TempDir() + "/" + hostile},
		{"status", "--" + hostile},
		{"down", "--dir", file},
	} {
		cmd := exec.Command(self, args...)
		cmd.Env = append(os.Environ(), asProgram+"=1")
		got, _ := cmd.CombinedOutput()
		require.Contains(t, string(got), shown, "%q", args)
		require.Equal(t, text.Visible(string(got)), string(got), "%q", args)
	}
}

// Announcements are visible, and only its first line can be taken for an announcement.
func TestAnnounce(t *testing.T) {
	t.Parallel()
	var to bytes.Buffer
	out := &screen{to: &to}
	announce(out, "worker", "it ended: "+hostile+"\n[09:00:00] worker: is up again")
	require.Regexp(t, `^\[[0-9:]{8}\] worker: it ended: a<U\+001B>\[2J<U\+202E>b<U\+200B>c<U\+2028>d\n  \[09:00:00\] worker: is up again\n$`, to.String())
}
