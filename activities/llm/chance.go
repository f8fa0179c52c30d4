package llm

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"sync"
)

// Chance describes how similar texts without anything in common are under an embedder.
type Chance struct {
	// Means holds the mean of the vectors of unrelated texts, for each of some languages: an embedder may know one of
	// them and distinguish the others by their script alone.
	Means [][]float32 `json:"means"`
	// Deviation is the standard deviation of the similarities of texts in one language from their mean. It is infinite where a
	// similarity means nothing.
	Deviation float64 `json:"deviation"`
}

// Calibrated is an embedder whose [Chance] is known. That of others is measured by [MeasureChance].
type Calibrated interface{ Chance() Chance }

// Similarity returns the mean similarity of a query, whose vector has length 1, to unrelated texts: own in its own
// language, which is the one with the highest mean, and all in all languages. Without means both are 0.
func (c Chance) Similarity(query []float32) (own, all float64) {
	for i, mean := range c.Means {
		similarity := dot(mean, query)
		all += similarity / float64(len(c.Means))
		if i == 0 || similarity > own {
			own = similarity
		}
	}
	return own, all
}

func dot(a, b []float32) float64 {
	sum := 0.0
	for i, x := range a {
		sum += float64(x) * float64(b[i])
	}
	return sum
}

// unrelated are eight unrelated sentences, in six languages: a query is nearer to texts in its own language, whatever
// they say.
var unrelated = [][]string{
	{
		"The train to Lisbon leaves at noon.", "Der Zug nach Lissabon fährt mittags ab.", "El tren a Lisboa sale al mediodía.",
		"Le train pour Lisbonne part à midi.", "リスボン行きの列車は正午に出る。", "去里斯本的火车中午出发。",
	},
	{
		"Photosynthesis turns light into sugar.", "Die Photosynthese verwandelt Licht in Zucker.", "La fotosíntesis convierte la luz en azúcar.",
		"La photosynthèse change la lumière en sucre.", "光合成は光を糖に変える。", "光合作用把光变成糖。",
	},
	{
		"He repaired the violin with old glue.", "Er reparierte die Geige mit altem Leim.", "Reparó el violín con cola vieja.",
		"Il a réparé le violon avec de la vieille colle.", "彼は古い膠でバイオリンを直した。", "他用旧胶修好了小提琴。",
	},
	{
		"The treaty was signed in 1648.", "Der Vertrag wurde 1648 unterzeichnet.", "El tratado se firmó en 1648.",
		"Le traité fut signé en 1648.", "条約は1648年に調印された。", "条约签订于1648年。",
	},
	{
		"Her telescope showed four moons.", "Ihr Fernrohr zeigte vier Monde.", "Su telescopio mostró cuatro lunas.",
		"Son télescope montrait quatre lunes.", "彼女の望遠鏡には四つの月が見えた。", "她的望远镜里有四颗卫星。",
	},
	{
		"Rent is due on the first of the month.", "Die Miete ist am Ersten fällig.", "El alquiler vence el primero de mes.",
		"Le loyer est dû le premier du mois.", "家賃は月の初めに払う。", "房租每月一号交。",
	},
	{
		"Bees dance to point at flowers.", "Bienen tanzen, um auf Blumen zu zeigen.", "Las abejas bailan para señalar flores.",
		"Les abeilles dansent pour indiquer les fleurs.", "蜂は踊って花の場所を示す。", "蜜蜂跳舞指示花的位置。",
	},
	{
		"The museum lent three paintings to Vienna.", "Das Museum lieh drei Gemälde nach Wien.", "El museo prestó tres cuadros a Viena.",
		"Le musée a prêté trois tableaux à Vienne.", "美術館は絵を三枚ウィーンに貸した。", "博物馆借给维也纳三幅画。",
	},
}

// MeasureChance computes the embedder's chance. It costs one call for 48 short sentences, 1.8 KB in all: a provider may split
// it into several requests.
func MeasureChance(ctx context.Context, e interface {
	Embed(ctx context.Context, texts []string) ([][]float32, error)
	Dimensions() int
},
) (Chance, error) {
	languages := len(unrelated[0])
	texts := slices.Concat(unrelated...)
	vectors, err := e.Embed(ctx, texts)
	if err != nil {
		return Chance{}, fmt.Errorf("calibrate the embedder: %w", err)
	}
	if len(vectors) != len(texts) {
		return Chance{}, uncalibrated("%d vectors for %d texts", len(vectors), len(texts))
	}
	c := Chance{Means: make([][]float32, languages)}
	for i := range c.Means {
		c.Means[i] = make([]float32, e.Dimensions())
	}
	for i, v := range vectors {
		mean := c.Means[i%languages]
		if len(v) != len(mean) || !normalize(v) {
			return Chance{}, uncalibrated("vector %d has %d dimensions or no direction, want %d dimensions", i, len(v), len(mean))
		}
		for n, x := range v {
			mean[n] += x / float32(len(unrelated))
		}
	}
	var squares, degrees float64
	for i, v := range vectors {
		var similarities []float64
		mean := 0.0
		for j := i % languages; j < len(vectors); j += languages {
			if j != i {
				s := dot(vectors[j], v)
				similarities = append(similarities, s)
				mean += s / float64(len(unrelated)-1)
			}
		}
		for _, s := range similarities {
			squares += (s - mean) * (s - mean)
		}
		degrees += float64(len(similarities) - 1)
	}
	if c.Deviation = math.Sqrt(squares / degrees); c.Deviation < 1e-6 {
		c.Deviation = math.Inf(1) // All texts are alike to it.
	}
	return c, nil
}

// uncalibrated says that an embedder returned unusable vectors. A retry gets the same.
func uncalibrated(format string, args ...any) error {
	return &Error{Provider: "embedder", Kind: KindInvalidRequest, Message: "calibrate the embedder: " + fmt.Sprintf(format, args...)}
}

//go:embed chance-local.json
var chanceFile []byte

// chanceLocal is the result of [MeasureChance] for [LocalEmbedder]: a program that searches once need not wait for it.
var chanceLocal = sync.OnceValue(func() (c Chance) {
	if err := json.Unmarshal(chanceFile, &c); err != nil {
		panic("llm: chance-local.json is damaged: " + err.Error())
	}
	return c
})
