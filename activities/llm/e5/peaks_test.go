package e5

import (
	"bufio"
	"encoding/json"
	"flag"
	"math"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/activities/llm/onnx"
)

var recordTexts = flag.String("texts", "", "write peaks.bin for the texts of this file, one JSON string in a line")

func TestRecordPeaks(t *testing.T) {
	if *recordTexts == "" {
		t.Skip("run with -texts FILE after the weights were pinned")
	}
	dir := install(t)
	f, err := find(dir)
	require.NoError(t, err)
	w, err := load(f)
	require.NoError(t, err)
	library, err := onnx.FindLibrary(dir)
	require.NoError(t, err)
	const width = layers * (3*Dimensions + inner)
	session, err := onnx.OpenBytes(library, (&graph{w: w}).model())
	require.NoError(t, err)
	e := w.encoder(session, width)
	largest := make([]float64, width)
	texts, err := os.Open(*recordTexts)
	require.NoError(t, err)
	lines := bufio.NewScanner(texts)
	for lines.Scan() {
		var text string
		require.NoError(t, json.Unmarshal(lines.Bytes(), &text))
		for _, prefix := range []string{"query: ", "passage: "} {
			tokens := w.tokenizer.Tokens(prefix + plain(text))
			row := append([]int32{w.bos}, append(tokens[:min(len(tokens), window-2)], w.eos)...)
			require.NoError(t, e.Hidden([][]int32{row}, func(values []float32) error {
				for i, v := range values {
					largest[i%width] = max(largest[i%width], math.Abs(float64(v)))
				}
				return nil
			}))
		}
	}
	require.NoError(t, lines.Err())
	out := make([]byte, width)
	for i, v := range largest {
		out[i] = byte(min(max(math.Ceil(perOctave*math.Log2(v)+unitPeak), 0), math.MaxUint8))
	}
	require.NoError(t, os.WriteFile("peaks.bin", out, 0o600))
}
