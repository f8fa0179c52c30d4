package schema

// RebuildInput is the input of rebuild, which makes projections anew in tables beside the ones in use, and then puts
// them in their place.
type RebuildInput struct {
	// Projections are names. All are meant if there are none, unless Collections is set.
	Projections []string `json:"projections,omitempty"`
	// Collections makes the collection of the vector store anew.
	Collections bool `json:"collections,omitempty"`
	// Verify compares the new rows with those in use. DryRun does that and then drops the new ones.
	Verify bool `json:"verify,omitempty"`
	DryRun bool `json:"dry_run,omitempty"`
}

// RebuildWorkflowID is the id of the only run of rebuild.
const RebuildWorkflowID = "rebuild"

// RebuildFinished is the type of the event that records the end of a rebuild.
const RebuildFinished = "rebuild_finished"

// RebuildFinishedPayload is how long each phase of a rebuild took. One that failed is the last.
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
	// Phase is one of the Rebuild constants. Projection is the one that is filled.
	Phase      string `json:"phase"`
	Projection string `json:"projection,omitempty"`
	// Events counts those that were applied, of Total that are known so far: more come meanwhile.
	Events int `json:"events"`
	Total  int `json:"total"`
}

// RebuildResult is the result of rebuild.
type RebuildResult struct {
	// Restored are the tables and views that were not there.
	Restored    []string            `json:"restored,omitempty"`
	Projections []RebuiltProjection `json:"projections"`
	// Vectors is what became of the collection of the vector store.
	Vectors *RebuiltVectors `json:"vectors,omitempty"`
	// DryRun is true if the tables in use stayed where they are.
	DryRun bool `json:"dry_run,omitempty"`
	// Waited is how long those that write projections had to wait, in seconds.
	Waited float64 `json:"waited_seconds"`
}

// Differing counts the tables and collections that were found to hold something else than what the log says.
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

// RebuiltVectors is what became of the collection of the vector store.
type RebuiltVectors struct {
	Collection string `json:"collection"`
	// Items counts the objects of the new collection. Copied of them have their vector from the old one, and Embedded have
	// another. Failed could not be written, and Pending are left to the outbox.
	Items    int `json:"items"`
	Copied   int `json:"copied"`
	Embedded int `json:"embedded"`
	Failed   int `json:"failed"`
	Pending  int `json:"pending,omitempty"`
	// Missing, Extra and Changed count where the old collection differed from the log, if that was asked for.
	Missing  int      `json:"missing"`
	Extra    int      `json:"extra"`
	Changed  int      `json:"changed"`
	Examples []string `json:"examples,omitempty"`
	// Switched is true if the new collection is in use.
	Switched bool `json:"switched"`
}

// RebuiltProjection is what became of one projection.
type RebuiltProjection struct {
	Name string `json:"name"`
	// Events counts those that were applied, in Seconds.
	Events  int            `json:"events"`
	Rows    uint64         `json:"rows"`
	Seconds float64        `json:"seconds"`
	Tables  []RebuiltTable `json:"tables"`
}

// RebuiltTable is one table of a projection.
type RebuiltTable struct {
	Name string `json:"name"`
	Rows uint64 `json:"rows"`
	// Before and After are there if they were compared, the first unless the table was not there. Difference is there if
	// they are not the same.
	Before     *TableDigest     `json:"before,omitempty"`
	After      *TableDigest     `json:"after,omitempty"`
	Difference *TableDifference `json:"difference,omitempty"`
}

// TableDigest stands for the rows of a table.
type TableDigest struct {
	Rows uint64 `json:"rows"`
	// Sum and Xor combine the hashes of the rows, each with its own hash function.
	Sum uint64 `json:"sum"`
	Xor uint64 `json:"xor"`
}

// TableDifference is what the rows of a table became.
type TableDifference struct {
	OnlyBefore int `json:"only_before"`
	OnlyAfter  int `json:"only_after"`
	// Changed rows have a key that was there before, and other columns.
	Changed  int          `json:"changed"`
	Examples []RowExample `json:"examples"`
}

// RowExample is a row that is not the same, by the key of its table.
type RowExample struct {
	What string `json:"what"`
	Key  string `json:"key"`
}
