package llm

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"sync"
)

// Chance describes how similar texts without anything in common are under an embedder.
type Chance struct {
	// Mean is the mean of the vectors of unrelated texts. Its product with the vector of a query is the query's mean
	// similarity to them. An empty one stands for 0.
	Mean []float32 `json:"mean"`
	// Deviation is the standard deviation of the similarities from that mean. It is infinite where a similarity means
	// nothing.
	Deviation float64 `json:"deviation"`
}

// Calibrated is an embedder whose [Chance] is known. That of others is measured by [MeasureChance].
type Calibrated interface{ Chance() Chance }

// Similarity returns the mean similarity of a query, whose vector has length 1, to unrelated texts.
func (c Chance) Similarity(query []float32) float64 {
	sum := 0.0
	for i, x := range c.Mean {
		sum += float64(x) * float64(query[i])
	}
	return sum
}

// unrelated are eight sentences that have nothing in common, in six languages: a query is nearer to texts in its own
// language, whatever they say.
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

// MeasureChance embeds 48 sentences and computes the embedder's chance from them.
func MeasureChance(ctx context.Context, e interface {
	Embed(ctx context.Context, texts []string) ([][]float32, error)
	Dimensions() int
},
) (Chance, error) {
	var texts []string
	var topics []int
	for topic, translations := range unrelated {
		for _, text := range translations {
			texts, topics = append(texts, text), append(topics, topic)
		}
	}
	vectors, err := e.Embed(ctx, texts)
	if err != nil {
		return Chance{}, fmt.Errorf("calibrate the embedder: %w", err)
	}
	if len(vectors) != len(texts) {
		return Chance{}, uncalibrated("%d vectors for %d texts", len(vectors), len(texts))
	}
	c := Chance{Mean: make([]float32, e.Dimensions())}
	for i, v := range vectors {
		if len(v) != len(c.Mean) || !normalize(v) {
			return Chance{}, uncalibrated("vector %d has %d dimensions or no direction, want %d dimensions", i, len(v), len(c.Mean))
		}
		for n, x := range v {
			c.Mean[n] += x / float32(len(vectors))
		}
	}
	var squares, pairs float64
	for i, v := range vectors {
		var similarities []float64
		mean := 0.0
		for j, other := range vectors {
			if topics[i] != topics[j] {
				similarities = append(similarities, Chance{Mean: other}.Similarity(v))
				mean += similarities[len(similarities)-1]
			}
		}
		mean /= float64(len(similarities))
		for _, s := range similarities {
			squares, pairs = squares+(s-mean)*(s-mean), pairs+1
		}
	}
	if c.Deviation = math.Sqrt(squares / pairs); c.Deviation < 1e-6 {
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

// chanceLocal is what [MeasureChance] returns for [LocalEmbedder]: a program that searches once need not wait for it.
var chanceLocal = sync.OnceValue(func() (c Chance) {
	if err := json.Unmarshal(chanceFile, &c); err != nil {
		panic("llm: chance-local.json is damaged: " + err.Error())
	}
	return c
})
