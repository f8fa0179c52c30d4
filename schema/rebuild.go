package schema

// RebuildInput is the input of rebuild, which rebuilds projections into shadow tables and then swaps them in.
type RebuildInput struct {
	// Projections are names. None means all, unless Collections is set.
	Projections []string `json:"projections,omitempty"`
	// Collections rebuilds the collection of the vector store.
	Collections bool `json:"collections,omitempty"`
	// Verify compares the new rows with those in use. DryRun does that and then drops the new ones.
	Verify bool `json:"verify,omitempty"`
	DryRun bool `json:"dry_run,omitempty"`
}

// RebuildWorkflowID is the id of the only run of rebuild.
const RebuildWorkflowID = "rebuild"

// RebuildFinished is the type of the event that records the end of a rebuild.
const RebuildFinished = "rebuild_finished"

// RebuildFinishedPayload contains the duration of each phase of a rebuild. A phase that failed is the last.
type RebuildFinishedPayload struct {
	RebuildID   string       `json:"rebuild_id"`
	Projections []string     `json:"projections"`
	Metrics     []StepMetric `json:"metrics"`
}

// RebuildStream returns the name of the stream of a rebuild.
func RebuildStream(rebuildID string) string { return streamName(RebuildPrefix, rebuildID) }

// Phases of a rebuild.
const (
	RebuildPrepare = "prepare"
	RebuildFill    = "fill"
	RebuildCatchUp = "catch_up"
	RebuildSwitch  = "switch"
	RebuildCompare = "compare"
	RebuildFinish  = "finish"
	RebuildVectors = "vectors"
	RebuildDone    = "done"
)

// RebuildProgress is the answer of rebuild to QueryProgress.
type RebuildProgress struct {
	RebuildInput
	// Phase is one of the Rebuild constants. Projection is the one being filled.
	Phase      string `json:"phase"`
	Projection string `json:"projection,omitempty"`
	// Events counts the applied events, of Total that are known so far. More arrive meanwhile.
	Events int `json:"events"`
	Total  int `json:"total"`
}

// RebuildResult is the result of rebuild.
type RebuildResult struct {
	// Restored lists the tables and views that were missing.
	Restored    []string            `json:"restored,omitempty"`
	Projections []RebuiltProjection `json:"projections"`
	// Vectors is the result for the collection of the vector store.
	Vectors *RebuiltVectors `json:"vectors,omitempty"`
	// DryRun is true if the tables in use were not swapped.
	DryRun bool `json:"dry_run,omitempty"`
	// Waited is how long the writers of projections had to wait, in seconds.
	Waited float64 `json:"waited_seconds"`
}

// Differing counts the tables and collections whose content differed from the log.
func (r RebuildResult) Differing() int {
	n := 0
	for _, p := range r.Projections {
		for _, t := range p.Tables {
			if t.Difference != nil {
				n++
			}
		}
	}
	if v := r.Vectors; v != nil && v.Missing+v.Extra+v.Changed > 0 {
		n++
	}
	return n
}

// RebuiltVectors is the result of rebuilding the collection of the vector store.
type RebuiltVectors struct {
	Collection string `json:"collection"`
	// Items counts the objects of the new collection. Copied of them took their vector from the old one, and Embedded
	// got a new vector. Failed could not be written, and Pending are left to the outbox.
	Items    int `json:"items"`
	Copied   int `json:"copied"`
	Embedded int `json:"embedded"`
	Failed   int `json:"failed"`
	Pending  int `json:"pending,omitempty"`
	// Missing, Extra and Changed count the differences of the old collection from the log, if they were requested.
	Missing  int      `json:"missing"`
	Extra    int      `json:"extra"`
	Changed  int      `json:"changed"`
	Examples []string `json:"examples,omitempty"`
	// Switched is true if the new collection is in use.
	Switched bool `json:"switched"`
}

// RebuiltProjection is the result of rebuilding one projection.
type RebuiltProjection struct {
	Name string `json:"name"`
	// Events counts the applied events. It took Seconds to apply them.
	Events  int            `json:"events"`
	Rows    uint64         `json:"rows"`
	Seconds float64        `json:"seconds"`
	Tables  []RebuiltTable `json:"tables"`
}

// RebuiltTable is one table of a projection.
type RebuiltTable struct {
	Name string `json:"name"`
	Rows uint64 `json:"rows"`
	// Before and After are set if they were compared. Before is nil if the table was missing. Difference is set if they
	// differ.
	Before     *TableDigest     `json:"before,omitempty"`
	After      *TableDigest     `json:"after,omitempty"`
	Difference *TableDifference `json:"difference,omitempty"`
}

// TableDigest is a digest of the rows of a table.
type TableDigest struct {
	Rows uint64 `json:"rows"`
	// Sum and Xor combine the hashes of the rows, each with its own hash function.
	Sum uint64 `json:"sum"`
	Xor uint64 `json:"xor"`
}

// TableDifference counts the rows that differ between two versions of a table.
type TableDifference struct {
	OnlyBefore int `json:"only_before"`
	OnlyAfter  int `json:"only_after"`
	// Changed counts the rows with the same key and other columns.
	Changed  int          `json:"changed"`
	Examples []RowExample `json:"examples"`
}

// RowExample is a row that differs, with its key.
type RowExample struct {
	Kind string `json:"what"`
	Key  string `json:"key"`
}
