package e5

import (
	_ "embed"
	"encoding/binary"
	"encoding/json"
	"math"
	"unicode"
	"unicode/utf8"

	"axiommind/activities/llm/onnx"
)

// The model's vectors lie in narrow cones, one for each script: the mean of a script's texts has the length 0.9, and
// unrelated texts a cosine of 0.77. So a question is nearer to any text in its own language than to its answer in
// another, and an index that keeps one bit of each dimension keeps nearly the same bits of all. Without the mean of its
// script, a text's vector shows its meaning. Of the questions of the repository's gold set whose answer is in another
// language, 5 of 7 find it first instead of 2. Of the ten turns of a conversation that are nearest to a question, 88 %
// are among the first 50 by the bits instead of 49 %.
//
// means are those of some 120 sentences of each script, 780 of Latin, half from the Universal Declaration of Human
// Rights and half from the messages of a web framework. That of no script is the mean of the others.
var means = func() map[string]meanVectors {
	var m map[string]meanVectors
	if err := json.Unmarshal(meanFile, &m); err != nil {
		panic("e5: mean.json is damaged: " + err.Error())
	}
	return m
}()

//go:embed mean.json
var meanFile []byte

// meanVectors are subtracted from the vectors of the texts of a script.
type meanVectors struct{ Passage, Query mean }

type mean [Dimensions]float32

// UnmarshalJSON reads the numbers as the file holds them: 16 bits each, of 1/32767.
func (m *mean) UnmarshalJSON(data []byte) error {
	var raw []byte
	if err := json.Unmarshal(data, &raw); err != nil {
		return err
	}
	var numbers [Dimensions]int16
	if _, err := binary.Decode(raw, binary.LittleEndian, &numbers); err != nil {
		return err
	}
	for i, n := range numbers {
		m[i] = float32(n) / math.MaxInt16
	}
	return nil
}

// scripts are those that have a mean of their own. Japanese is recognized by its syllables.
var scripts = func() map[string]*unicode.RangeTable {
	out := map[string]*unicode.RangeTable{}
	for name := range means {
		if table, ok := unicode.Scripts[name]; ok {
			out[name] = table
		}
	}
	return out
}()

const kana = "Kana"

// scriptOf returns the script of most of the text's letters, or "" if it has none.
func scriptOf(text string) string {
	count := map[string]int{}
	for _, r := range text {
		switch {
		case r < utf8.RuneSelf:
			if unicode.IsLetter(r) {
				count["Latin"]++
			}
		case unicode.In(r, unicode.Hiragana, unicode.Katakana):
			count[kana]++
		default:
			for name, table := range scripts {
				if unicode.Is(table, r) {
					count[name]++
				}
			}
		}
	}
	if count[kana] > 0 {
		count[kana] += count["Han"]
	}
	best := ""
	for name, n := range count {
		if n > count[best] || n == count[best] && name < best {
			best = name
		}
	}
	return best
}

// centered subtracts from each vector the mean of its text's script, and makes its length 1 again.
func centered(texts []string, vectors [][]float32, of func(meanVectors) *mean) [][]float32 {
	for n, v := range vectors {
		m := of(means[scriptOf(onnx.Head(texts[n]))])
		var sum float64
		for i := range v {
			v[i] -= m[i]
			sum += float64(v[i]) * float64(v[i])
		}
		length := float32(math.Sqrt(sum))
		for i := range v {
			v[i] /= length
		}
	}
	return vectors
}
