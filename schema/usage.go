package schema

// EntriesRetrieved is the type of the events in the streams usage/{project}/{shard}.
const EntriesRetrieved = "entries_retrieved"

// Retrieval is the kind of request that returned entries.
type Retrieval string

// Retrievals.
const (
	RetrievedBySearch  Retrieval = "search"
	RetrievedByContext Retrieval = "context"
)

// EntriesRetrievedPayload names the entries that a request returned. The question itself is not kept.
type EntriesRetrievedPayload struct {
	Scope
	RequestID string    `json:"request_id"`
	By        Retrieval `json:"by"`
	EntryIDs  []string  `json:"entry_ids"`
}
