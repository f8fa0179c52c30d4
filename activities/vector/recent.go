package vector

import (
	"maps"
	"sync"

	"axiommind/schema"
)

// maxRecent bounds the rows in each of the two maps of recent.
const maxRecent = 1 << 14

// recent caches the rows that this process has written or read, as long as no other process has written to the
// collection's stream since. It detects this by the head of the stream.
type recent struct {
	mu   sync.Mutex
	head schema.StreamHead
	// young gets the new rows. Once it is full, it replaces old, whose rows are forgotten.
	young, old map[string]Row
}

// at reports whether the head is the last one that this process has seen. If it is not, all rows are forgotten, and new
// ones are cached from this head on.
func (r *recent) at(head schema.StreamHead) (valid bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if valid = head.Known && head == r.head; !valid {
		r.head, r.young, r.old = head, nil, nil
	}
	return valid
}

// get returns the row with the job id, if it is cached.
func (r *recent) get(jobID string) (Row, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	row, ok := r.young[jobID]
	if !ok {
		row, ok = r.old[jobID]
	}
	return row, ok
}

// put caches rows.
func (r *recent) put(rows map[string]Row) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.young == nil || len(r.young)+len(rows) > maxRecent {
		r.young, r.old = make(map[string]Row, len(rows)), r.young
	}
	maps.Copy(r.young, rows)
}

// move sets the head after this process has written to the stream.
func (r *recent) move(head schema.StreamHead) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.head = head
}
