package format

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func addSeeds(f *testing.F, add func(name, format string, data []byte)) {
	f.Helper()
	for _, s := range samples(f) {
		add(s.name, s.format, s.data)
		add("", "", s.data[:len(s.data)*2/3])
	}
	for _, in := range []string{"", "[[[", `{"role":`, "User: \xff\x00", "\xff\xfeU\x00", "\x1f\x8b\x08", "\x28\xb5\x2f\xfd\x00", string(sqliteMagic)} {
		add("x.jsonl", "", []byte(in))
	}
}

func FuzzParse(f *testing.F) {
	addSeeds(f, func(name, format string, data []byte) { f.Add(name, format, data) })
	f.Fuzz(func(t *testing.T, name, format string, data []byte) {
		opts := Options{Name: name, Format: format, MaxLine: 1 << 16, MaxDocument: 1 << 18, Now: sampleTime}
		sessions, err := Parse(t.Context(), bytes.NewReader(data), opts)
		if err != nil {
			return
		}
		requireSound(t, sessions)
		again, err := Parse(t.Context(), bytes.NewReader(data), opts)
		require.NoError(t, err)
		require.Equal(t, sessions, again)
	})
}

func FuzzDetect(f *testing.F) {
	addSeeds(f, func(name, _ string, data []byte) { f.Add(name, data) })
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		format, err := detect(name, data)
		if err != nil {
			require.True(t, errors.Is(err, ErrUnknownFormat) || errors.Is(err, ErrNotTranscript))
			return
		}
		_, err = lookup(format)
		require.NoError(t, err)
	})
}

func FuzzSplitInjected(f *testing.F) {
	f.Add("a\n<system-reminder>b</system-reminder>\nc")
	f.Add("User: [System note: x]\n<command-name>")
	f.Add("[System: Previous conversation summary]\na\n---\n<memory>\n```\n</memory>\nb\nUser Context:\n- Work: c\n- Pe\n...")
	f.Fuzz(func(t *testing.T, text string) {
		var joined strings.Builder
		for _, s := range allMarks().split(text) {
			joined.WriteString(s.text)
		}
		require.Equal(t, text, joined.String())
	})
}
