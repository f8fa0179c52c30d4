package format

import (
	"bytes"
	"encoding/json"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"axiommind/schema"
)

var update = flag.Bool("update", false, "write what the samples are read as, and the topic's list of formats")

const golden = ".golden.json"

// sample is a transcript in testdata, in a directory of its format's name. The path from there on represents the
// harness's own place for it.
type sample struct {
	format, path, name string
	data               []byte
}

// sampleTime is the time at which the samples are read.
var sampleTime = time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)

// options are those for a sample whose format is detected, if it can be.
func (s sample) options() Options {
	opts := Options{Name: s.name, Now: sampleTime}
	if f, err := lookup(s.format); err == nil && f.migrated {
		opts.Format = f.Name
	}
	return opts
}

func samples(t testing.TB) []sample {
	t.Helper()
	var out []sample
	err := filepath.WalkDir("testdata", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.HasSuffix(path, golden) {
			return err
		}
		name, err := filepath.Rel("testdata", path)
		if err != nil {
			return err
		}
		format, name, inDir := strings.Cut(filepath.ToSlash(name), "/")
		if !inDir || format == "fuzz" {
			return nil
		}
		data, err := os.ReadFile(path)
		out = append(out, sample{format, path, name, data})
		return err
	})
	require.NoError(t, err)
	return out
}

// Each format has samples, which are detected by their content and path, and read as the golden files say.
func TestSamples(t *testing.T) {
	t.Parallel()
	of := make(map[string][]sample)
	for _, s := range samples(t) {
		of[s.format] = append(of[s.format], s)
	}
	for _, f := range All() {
		require.NotEmpty(t, of[f.Name], "format %q has no sample: add a transcript of it under testdata/%[1]s/, with user and "+
			"assistant, run go test ./activities/transcript/format -update, and read the %s that it writes", f.Name, golden)
		for _, s := range of[f.Name] {
			t.Run(f.Name+"/"+s.name, func(t *testing.T) {
				t.Parallel()
				s.requireRead(t, &f)
			})
		}
		delete(of, f.Name)
	}
	for name := range of {
		require.Fail(t, "no format", "testdata/%s is of no format: list the format in registry (formats.go), or remove it", name)
	}
}

func (s sample) requireRead(t *testing.T, f *Format) {
	opts := s.options()
	if detected, err := detect(s.name, s.data[:min(len(s.data), headSize)]); f.migrated {
		require.NotEqual(t, f.Name, detected, "memory of other systems is read only where a person names it")
	} else {
		require.NoError(t, err)
		require.Equal(t, f.Name, detected, "another format comes before %q in registry, or its isRecord matches less", f.Name)
	}
	sessions, err := Parse(t.Context(), bytes.NewReader(s.data), opts)
	require.NoError(t, err)
	requireSound(t, sessions)
	users := 0
	for _, one := range sessions {
		require.Empty(t, one.Skipped)
		require.Equal(t, sessions[0].Format, one.Format)
		for _, m := range one.Messages {
			if m.Role == schema.RoleUser || m.Kind == schema.KindStatement {
				users++
			}
		}
	}
	require.NotZero(t, users, "nobody says anything in this sample")
	if f.readsItself() {
		require.Equal(t, f.Name, sessions[0].Format)
	}
	named, err := Parse(t.Context(), bytes.NewReader(s.data), Options{Name: s.name, Format: f.Name, Now: sampleTime})
	require.NoError(t, err)
	require.Equal(t, sessions, named, "the format given reads what the format detected does")

	var got bytes.Buffer
	e := json.NewEncoder(&got)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	require.NoError(t, e.Encode(sessions))
	if *update {
		require.NoError(t, os.WriteFile(s.path+golden, got.Bytes(), 0o644))
	}
	want, err := os.ReadFile(s.path + golden)
	require.NoError(t, err, "run go test ./activities/transcript/format -update, and read what it writes")
	require.Equal(t, string(want), got.String(), "what is read has changed: where that is meant, run with -update and read the difference")
}

// readsItself reports whether the sessions have the format's name, not that of the tables found.
func (f *Format) readsItself() bool {
	return f.reader != nil || f.readText != nil || f.tables.read != nil
}
