package main_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"

	"axiommind/activities/batch"
	"axiommind/activities/transcript"
	"axiommind/deploy/local/sharedtest"
	"axiommind/schema"
)

// Variables that say how many transcripts, and how many inputs of workflows, are damaged, and where the random numbers
// begin.
//
//	AXIOMMIND_POISON_FILES=100 AXIOMMIND_POISON_PAYLOADS=100 go test -tags campaign ./worker -run TestCampaignI8Poisoned -v
const (
	poisonFiles    = "AXIOMMIND_POISON_FILES"
	poisonPayloads = "AXIOMMIND_POISON_PAYLOADS"
	poisonSeed     = "AXIOMMIND_POISON_SEED"
)

// damages are the kinds of damage that a crash, a bad disk, another program or an attacker does to a file.
var damages = []func(r *rand.Rand, data []byte) []byte{
	func(r *rand.Rand, data []byte) []byte { return data[:r.IntN(len(data))] },
	func(r *rand.Rand, data []byte) []byte { return data[r.IntN(len(data)):] },
	func(r *rand.Rand, data []byte) []byte { // bits of a bad disk
		for range 1 + len(data)/50 {
			data[r.IntN(len(data))] ^= 1 << r.IntN(8)
		}
		return data
	},
	func(r *rand.Rand, data []byte) []byte { // a block that was never written
		from := r.IntN(len(data))
		clear(data[from:min(len(data), from+4096)])
		return data
	},
	func(_ *rand.Rand, data []byte) []byte { // another encoding
		var out []byte
		for _, unit := range utf16.Encode([]rune(string(data))) {
			out = append(out, byte(unit), byte(unit>>8))
		}
		return out
	},
	func(_ *rand.Rand, data []byte) []byte {
		var out bytes.Buffer
		w := gzip.NewWriter(&out)
		_, _ = w.Write(data)
		_ = w.Close()
		return out.Bytes()
	},
	func(r *rand.Rand, _ []byte) []byte { return []byte(strings.Repeat("[", 1+r.IntN(100_000))) },
	func(r *rand.Rand, _ []byte) []byte { return []byte(strings.Repeat(`{"message":`, 1+r.IntN(20_000))) },
	func(_ *rand.Rand, data []byte) []byte {
		return bytes.ReplaceAll(data, []byte(`":"`), []byte(`":-1e999,"`))
	},
	func(_ *rand.Rand, data []byte) []byte { return bytes.ReplaceAll(data, []byte(`"`), []byte(`'`)) },
	func(_ *rand.Rand, data []byte) []byte { return bytes.ReplaceAll(data, []byte("\n"), nil) },
	func(_ *rand.Rand, data []byte) []byte { return bytes.ToUpper(data) },
	func(*rand.Rand, []byte) []byte { return nil },
	func(*rand.Rand, []byte) []byte { return []byte("null\n[]\n\"\"\n0\n") },
	func(r *rand.Rand, data []byte) []byte { // objects become lists
		return []byte(strings.NewReplacer("{", "[", "}", "]").Replace(string(data)))
	},
}

// realTranscripts returns real transcripts: those of the shared data, and the samples.
func realTranscripts(t *testing.T) (found [][]byte) {
	t.Helper()
	roots := []string{filepath.Join("..", "deploy", "local", "launcher", "samples")}
	if shared := sharedtest.Data.Dir(t); shared != "" {
		roots = append(roots, filepath.Join(shared, "transcripts"))
	}
	for _, root := range roots {
		require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			uri, err := transcript.FileURI(path)
			require.NoError(t, err)
			if _, _, err := transcript.ReadSource(t.Context(), uri, ""); err != nil {
				return nil //nolint:nilerr // licences and such are no transcripts
			}
			data, err := os.ReadFile(path)
			if len(data) > 0 {
				found = append(found, data)
			}
			return err
		}))
	}
	require.NotEmpty(t, found)
	return found
}

// poison writes n files that cannot be read as transcripts, each real one damaged, and returns their paths.
func poison(t *testing.T, r *rand.Rand, dir string, n int) (paths []string) {
	t.Helper()
	texts := realTranscripts(t)
	for try := 0; len(paths) < n; try++ {
		require.Less(t, try, 100*n, "the damages leave too many transcripts readable")
		data := damages[r.IntN(len(damages))](r, bytes.Clone(texts[r.IntN(len(texts))]))
		path := filepath.Join(dir, fmt.Sprintf("독 '%d'%s", len(paths), []string{".jsonl", ".json", ".txt", ".md"}[r.IntN(4)]))
		require.NoError(t, os.WriteFile(path, data, 0o600))
		uri, err := transcript.FileURI(path)
		require.NoError(t, err)
		if _, _, err := transcript.ReadSource(t.Context(), uri, ""); err != nil {
			paths = append(paths, path)
			continue
		}
		require.NoError(t, os.Remove(path))
	}
	return paths
}

// requireClear checks that a person can understand the reason.
func requireClear(t *testing.T, reason, what string) {
	t.Helper()
	require.NotEmpty(t, strings.TrimSpace(reason), what)
	for _, ours := range []string{"panic", "runtime error", "nil pointer", "out of range", "goroutine"} {
		require.NotContains(t, reason, ours, what)
	}
	require.Less(t, len(reason), 4000, what)
}

// Damaged transcripts among others are refused one by one, each with its name and the reason, and the healthy sessions
// are processed. Given alone, each fails with an error of its own.
func TestI8PoisonedTranscripts(t *testing.T) {
	t.Parallel()
	poisonedTranscripts(t, 6, 2)
}

func poisonedTranscripts(t *testing.T, n, healthy int) {
	t.Helper()
	seed := uint64(fromVariable(t, poisonSeed, 15))
	t.Logf("%s=%d", poisonSeed, seed)
	b := newBench(t)
	b.start(t)
	dir := directoryOf(t, healthy)
	paths := poison(t, rand.New(rand.NewPCG(seed, 1)), dir, n)
	giant := filepath.Join(dir, "0 giant id.jsonl") // the first one: the files after it are listed all the same
	require.NoError(t, os.WriteFile(giant, fmt.Appendf(nil,
		`{"type":"user","uuid":"u1","sessionId":%q,"message":{"role":"user","content":"hello"}}`+"\n", strings.Repeat("x", 62_000)), 0o600))
	paths = append(paths, giant)
	began := time.Now()
	result := b.importAll(t, b.importing(t, dir))
	t.Logf("%d damaged and %d healthy files: %.1f s", n, healthy, time.Since(began).Seconds())
	require.Equal(t, healthy, result.Statuses[schema.BuildSuccess], "%v", result.Statuses)
	report, err := batch.Read(t.Context(), b.Log.Store, result.Batch)
	require.NoError(t, err)
	reasons := map[string]string{}
	for _, p := range report.PassedOver {
		reasons[p.Name] = p.Reason
	}
	for i, item := range report.Items {
		if item.Refused != "" {
			require.NotEqual(t, schema.FailureBug, schema.ClassOf(item.RefusedType), item.Name)
			reasons[item.Name] = item.Refused
		} else if o := report.Outcomes[i]; o.Error != "" {
			require.NotEqual(t, schema.FailureBug, schema.ClassOf(o.ErrorType), item.Name)
			reasons[item.Name] = o.Error
		}
	}
	for _, path := range paths {
		requireClear(t, reasons[path], path)
	}
	require.Contains(t, reasons[giant], "has 62000 bytes, more than 200")
	// Given by name, a file is not passed over.
	for _, path := range paths[:(n+4)/5] {
		uri, err := transcript.FileURI(path)
		require.NoError(t, err)
		_, err = b.try(t.Context(), b.input("", uri))
		var failure *temporal.ApplicationError
		require.ErrorAs(t, err, &failure, path)
		require.Equal(t, schema.FailureInput, schema.ClassOf(failure.Type()), "%s: %v", path, err)
		requireClear(t, failure.Message(), path)
		require.Contains(t, failure.Message(), filepath.Base(path))
	}
	t.Logf("survived: %d damaged transcripts", n)
}

// A damaged input of a workflow ends the run at once with the reason, and a concurrent session is processed.
func TestI8PoisonedInputs(t *testing.T) {
	t.Parallel()
	poisonedInputs(t, 12)
}

func poisonedInputs(t *testing.T, n int) {
	t.Helper()
	seed := uint64(fromVariable(t, poisonSeed, 15))
	t.Logf("%s=%d", poisonSeed, seed)
	r := rand.New(rand.NewPCG(seed, 2))
	b := newBench(t)
	b.start(t)
	uri := eventful(t, 1)
	valid, err := json.Marshal(b.input("payload", uri))
	require.NoError(t, err)
	inputs := [][2]string{
		{schema.WorkflowProcessSession, string(valid)},
		{schema.WorkflowImportSessions, fmt.Sprintf(`{"uri":%q,"project":%q,"at_once":3}`, uri, b.project)},
		{schema.WorkflowDeepDream, `{"user":"u","date":"2026-03-01","lookback_days":3}`},
		{schema.WorkflowRealignSession, fmt.Sprintf(`{"project":%q,"user":"u","session_id":"s"}`, b.project)},
	}
	encodings := []string{"json/plain", "json/plain", "json/plain", "binary/null", "binary/plain", "json/protobuf", "x"}
	refused, began := 0, time.Now()
	for i := range n {
		input := inputs[r.IntN(len(inputs))]
		name, data := input[0], damages[r.IntN(len(damages))](r, []byte(input[1]))
		encoding := encodings[r.IntN(len(encodings))]
		what := fmt.Sprintf("%s, %s, %.300q", name, encoding, data)
		run, err := b.Temporal.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{
			ID: fmt.Sprint("poison-", i), TaskQueue: schema.QueueMain, WorkflowExecutionTimeout: time.Minute,
		}, name, converter.NewRawValue(&common.Payload{Metadata: map[string][]byte{converter.MetadataEncoding: []byte(encoding)}, Data: data}))
		require.NoError(t, err, what)
		err = run.Get(t.Context(), nil)
		if err == nil {
			continue // The damage left a valid input.
		}
		refused++
		var failure *temporal.ApplicationError
		require.True(t, errors.As(err, &failure), "%s: %v", what, err)
		require.NotEqual(t, schema.FailureBug, schema.ClassOf(failure.Type()), "%s: %v", what, err)
		requireClear(t, failure.Message(), what)
	}
	t.Logf("%d of %d inputs refused: %.1f s", refused, n, time.Since(began).Seconds())
	require.Greater(t, refused, n/2)
	require.Equal(t, schema.BuildSuccess, b.process(t, b.input("beside", eventful(t, 2))).Status)
	t.Logf("survived: %d damaged inputs of workflows", n)
}
