package schema

// EntriesRetrieved is the type of the events in the streams usage/{project}/{shard}.
const EntriesRetrieved = "entries_retrieved"

// Retrieval says what returned entries to somebody.
type Retrieval string

// Retrievals.
const (
	RetrievedBySearch  Retrieval = "search"
	RetrievedByContext Retrieval = "context"
)

// EntriesRetrievedPayload names the entries that a request returned. What was asked for is not kept.
type EntriesRetrievedPayload struct {
	Scope
	RequestID string    `json:"request_id"`
	By        Retrieval `json:"by"`
	EntryIDs  []string  `json:"entry_ids"`
}
