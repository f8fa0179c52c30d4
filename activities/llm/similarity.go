package llm

// Baselined is an embedder that gives even unrelated texts a high cosine.
type Baselined interface {
	// Baseline is the mean cosine of unrelated texts.
	Baseline() float64
}

// baselineE5 is the mean cosine of unrelated sentences by multilingual-e5-small, in one language and across.
// baselineLocal is that of [LocalEmbedder], which subtracts the common part of all vectors: see TestBaseline.
const (
	baselineE5    = 0.77
	baselineLocal = 0.2
)

// Similarity puts the cosine of two vectors of the embedder on the scale on which unrelated texts are about 0 and equal ones
// are 1, so that one threshold serves all embedders. The embedder may be nil.
func Similarity(embedder any, cosine float64) float64 {
	b, ok := embedder.(Baselined)
	if !ok {
		return cosine
	}
	baseline := b.Baseline()
	return max((cosine-baseline)/(1-baseline), -1)
}
