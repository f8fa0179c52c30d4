package llm

import (
	"context"
	"encoding/json"
	"flag"
	"math"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write chance-local.json")

// chance-local.json is measured by the model itself.
func TestChanceOfLocalEmbedder(t *testing.T) {
	t.Parallel()
	e := local(t)
	measured, err := MeasureChance(t.Context(), e)
	require.NoError(t, err)
	for _, mean := range measured.Means {
		for i, x := range mean {
			mean[i] = float32(math.Round(1e4*float64(x)) / 1e4)
		}
	}
	measured.Deviation = math.Round(1e4*measured.Deviation) / 1e4
	if *update {
		data, err := json.Marshal(measured)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile("chance-local.json", append(data, '\n'), 0o600))
		return
	}
	known := e.(Calibrated).Chance()
	require.InDelta(t, measured.Deviation, known.Deviation, 0.002)
	require.Len(t, known.Means, len(measured.Means))
	for i, mean := range measured.Means {
		require.InDeltaSlice(t, mean, known.Means[i], 0.01, "run the test with -update")
	}
	q, err := e.EmbedQuery(t.Context(), "Who wrote the opera?")
	require.NoError(t, err)
	own, all := known.Similarity(q)
	require.InDelta(t, baselineLocal, all, 0.15)
	require.Greater(t, own, all)
}

// angled is an embedder whose vectors have a known angle between texts, or else the given length.
type angled struct{ length int }

func (a angled) Dimensions() int { return 49 }

func (a angled) Embed(_ context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i := range texts {
		out[i] = make([]float32, a.length)
		out[i][0], out[i][i+1] = 2, 2
	}
	return out, nil
}

func TestMeasureChance(t *testing.T) {
	t.Parallel()
	c, err := MeasureChance(t.Context(), angled{49})
	require.NoError(t, err)
	require.True(t, math.IsInf(c.Deviation, 1), "all have the same angle")
	v := make([]float32, 49)
	v[0] = 1
	own, all := c.Similarity(v)
	require.InDelta(t, math.Sqrt2/2, own, 1e-6)
	require.InDelta(t, math.Sqrt2/2, all, 1e-6)
	_, err = MeasureChance(t.Context(), angled{50})
	require.ErrorContains(t, err, "50 dimensions")
	require.Equal(t, KindInvalidRequest, KindOf(err))
	own, all = Hash{}.Chance().Similarity(v)
	require.Zero(t, own+all)
	require.True(t, math.IsInf(Hash{}.Chance().Deviation, 1))
}

// monolingual is an embedder for which texts in one language have nothing to do with those in another, and deviate among
// themselves.
type monolingual struct{}

func (monolingual) Dimensions() int { return 54 }

func (m monolingual) Embed(_ context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i := range texts {
		out[i] = make([]float32, m.Dimensions())
		out[i][i%6], out[i][6+i] = 1, 1
	}
	return out, nil
}

// Languages are no deviation: among texts in one of them all similarities are equal here.
func TestChanceIsOfOneLanguage(t *testing.T) {
	t.Parallel()
	c, err := MeasureChance(t.Context(), monolingual{})
	require.NoError(t, err)
	require.True(t, math.IsInf(c.Deviation, 1))
	q := make([]float32, 54)
	q[3] = 1
	own, all := c.Similarity(q)
	require.InDelta(t, math.Sqrt2/2, own, 1e-6)
	require.InDelta(t, math.Sqrt2/12, all, 1e-6)
}
