package main_test

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/deploy/local/sharedtest"
)

// Shape of the measured sessions.
const (
	conversationTurns = 10
	conversationLeast = 8_000
	conversationMost  = 13_000
)

// conversations writes files of sessions, each of 10 messages and about 10 KB, and returns their URIs. They are real
// conversations of the shared data, and made-up ones where there is none.
func conversations(t testing.TB) []string {
	t.Helper()
	dir := t.TempDir()
	var uris []string
	keep := func(turns []turn) {
		uris = append(uris, write(t, filepath.Join(dir, fmt.Sprintf("%d.jsonl", len(uris))), conversationLines(turns)...))
	}
	if shared := sharedtest.Data.Dir(t); shared != "" {
		readConversations(t, filepath.Join(shared, "longmemeval", "sessions-dev.jsonl.gz"), keep)
	}
	if len(uris) == 0 {
		for n := range 10 {
			keep(madeUp(n))
		}
	}
	return uris
}

type turn struct{ Role, Content string }

func conversationLines(turns []turn) []string {
	lines := make([]string, len(turns))
	for i, turn := range turns {
		lines[i] = said(i, turn.Role, turn.Content)
	}
	return lines
}

func readConversations(t testing.TB, path string, keep func([]turn)) {
	t.Helper()
	f, err := os.Open(path)
	require.NoError(t, err)
	defer func() { _ = f.Close() }()
	plain, err := gzip.NewReader(f)
	require.NoError(t, err)
	lines := bufio.NewScanner(plain)
	lines.Buffer(nil, 8<<20)
	for lines.Scan() {
		var c struct{ Turns []turn }
		require.NoError(t, json.Unmarshal(lines.Bytes(), &c))
		size := 0
		for _, turn := range c.Turns {
			size += len(turn.Content)
		}
		if len(c.Turns) == conversationTurns && size >= conversationLeast && size <= conversationMost {
			keep(c.Turns)
		}
	}
	require.NoError(t, lines.Err())
}

// madeUp is a conversation with something to remember in each message.
func madeUp(n int) []turn {
	turns := make([]turn, conversationTurns)
	for i := range turns {
		turns[i] = turn{
			[]string{"user", "assistant"}[i%2],
			fmt.Sprintf("We decided to use database %d for part %d. I prefer tea number %d. We need to fix the importer of part %d-%d.\n%s",
				i, n, i, n, i, strings.Repeat(fmt.Sprintf("Part %d reads its settings once and passes them on by value. ", n), 15)),
		}
	}
	return turns
}
