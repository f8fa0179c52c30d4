package exchange

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"axiommind/activities/transcript/format"
	"axiommind/schema"
	"axiommind/starter/command"
)

// written writes a file with one event, and returns its text.
func written(t testing.TB) string {
	t.Helper()
	e, err := schema.NewEvent(schema.FactsClearedPayload{Facts: 2}, schema.Event{TS: time.Unix(1, 0).UTC(), Actor: "ann", DedupeKey: "k<&>"})
	require.NoError(t, err)
	e.ID, e.Stream, e.Seq, e.Payload = schema.EventID("k<&>"), schema.MemoryStream("ann", ""), 3, []byte(`{"facts":2,"sections":0}`)
	sum := sha256.Sum256(e.Payload)
	e.Checksum = hex.EncodeToString(sum[:])
	path := filepath.Join(t.TempDir(), eventsFile)
	all := func(yield func(schema.Event, error) bool) { yield(e, nil) }
	h, err := writeLines(path, head{Format: linesFormat, Version: linesVersion, Scope: Scope{User: "ann"}}, all)
	require.NoError(t, err)
	require.Equal(t, []int{1, 1}, []int{h.Streams, h.Events})
	l, err := openLines(fileVolume(path))
	require.NoError(t, err)
	for _, err := range l.events() {
		require.NoError(t, err)
	}
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(text)
}

// Any file is read, or refused by an error that names it and its line.
func FuzzLines(f *testing.F) {
	text := written(f)
	for _, seed := range []string{"", text, text[:len(text)/2], strings.ToUpper(text), "{}\n", `{"format":"axiommind-events","version":1,"scope":{"all":true}}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		path := filepath.Join(t.TempDir(), "x")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		l, err := openLines(fileVolume(path))
		if err == nil {
			for e, failed := range l.events() {
				if err = failed; err == nil {
					require.NotEmpty(t, e.Stream)
				}
			}
		}
		if err != nil {
			require.True(t, command.IsUsage(err))
			require.Contains(t, err.Error(), path+":")
		}
	})
}

// An export that fails leaves no file behind.
func TestFailedExport(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	broken := errors.New("broken")
	var events iter.Seq2[schema.Event, error] = func(yield func(schema.Event, error) bool) { yield(schema.Event{}, broken) }
	_, err := writeLines(filepath.Join(dir, eventsFile), head{}, events)
	require.ErrorIs(t, err, broken)
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left)
}

// The files of a bundle are safe for every file system, different for every concept, and read back as they were written.
func TestBundleOfAnyNames(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	b := newBundle(dir)
	titles := []string{"", "..", "../../x", "a/b\\c", "con", "index", "log", "---", "\x00\x01", "é", "메모리 é", "مرحبا", strings.Repeat("長", 300), "\xff\xfe", "A", "a",
		"- [ ] x: {y}", "'\"`", "\u202e\u200b", "x\n---\ny"}
	for i, title := range titles {
		text := strings.ToValidUTF8(title, "")
		require.NoError(t, b.add(concept{dir: "entries", id: title + string(rune('a'+i)), body: text, head: conceptHead{Type: "Fact", Title: text, StaleAfter: "2027-01-01"}}))
	}
	require.NoError(t, b.finish(Scope{User: "ann [x](y)\n# z"}, time.Unix(0, 0)))
	files, err := filepath.Glob(filepath.Join(dir, "entries", "*"))
	require.NoError(t, err)
	require.Len(t, files, len(titles)+1)
	read := map[string]bool{}
	for _, file := range files {
		name := filepath.Base(file)
		require.True(t, utf8.ValidString(name) && len(name) < 100 && !strings.ContainsAny(name, `<>:"/\|?* `), name)
		if name == "index.md" {
			continue
		}
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		text, body, _, ok := format.SplitHead(data)
		require.True(t, ok, string(data))
		var h conceptHead
		require.NoError(t, yaml.Unmarshal([]byte(text), &h), text)
		require.Equal(t, "\n"+h.Title, body)
		require.Equal(t, day("2027-01-01"), h.StaleAfter)
		read[h.Title] = true
	}
	for _, title := range titles {
		require.True(t, read[strings.ToValidUTF8(title, "")], "%q", title)
	}
	index, err := os.ReadFile(filepath.Join(dir, "index.md"))
	require.NoError(t, err)
	require.Equal(t, "---\nokf_version: \"0.2\"\nconcepts: 20\n---\n\n# Memory of user ann \\[x\\](y) # z\n\n* [entries](entries/) - 20 concepts\n", string(index))
}
