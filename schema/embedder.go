package schema

// Types of the events in the stream that records which embedding version is in use: see [EmbedderStream].
const (
	EmbedderChosen  = "embedder_chosen"
	EmbedderUsed    = "embedder_used"
	EmbedderDropped = "embedder_dropped"
)

// EmbedderStream returns the name of the stream that records which embedding version searches use. No collection has
// this name.
func EmbedderStream() string { return VectorStream("embedder") }

// EmbedderChosenPayload starts the indexing of everything with an embedding version, which then replaces the one in
// use.
type EmbedderChosenPayload struct {
	Version string `json:"version"`
}

// EmbedderUsedPayload records that everything is indexed with the version chosen last. Searches use it from then on.
type EmbedderUsedPayload struct {
	Version string `json:"version"`
}

// EmbedderDroppedPayload records that the vectors of a version that is no longer in use are deleted.
type EmbedderDroppedPayload struct {
	Version string `json:"version"`
}
