package vector

import (
	"maps"
	"sync"

	"axiommind/schema"
)

// maxRecent limits how many rows a process remembers: twice as many at most.
const maxRecent = 1 << 14

// recent remembers the rows that this process has written or read, as long as no other process has written to the
// collection's stream since. The head of the stream tells.
type recent struct {
	mu   sync.Mutex
	head schema.StreamHead
	// young takes what is new. Once it is full, it becomes old, and what was old is forgotten.
	young, old map[string]Row
}

// at forgets everything unless the stream still ends where this process has seen it end. It reports whether it does.
// Otherwise it remembers what comes from here on.
func (r *recent) at(head schema.StreamHead) (valid bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if valid = head.Known && head == r.head; !valid {
		r.head, r.young, r.old = head, nil, nil
	}
	return valid
}

// get returns the row with the job id, if it is remembered.
func (r *recent) get(jobID string) (Row, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	row, ok := r.young[jobID]
	if !ok {
		row, ok = r.old[jobID]
	}
	return row, ok
}

// put remembers rows.
func (r *recent) put(rows map[string]Row) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.young == nil || len(r.young)+len(rows) > maxRecent {
		r.young, r.old = make(map[string]Row, len(rows)), r.young
	}
	maps.Copy(r.young, rows)
}

// move says that this process has written to the stream, which now ends at the head.
func (r *recent) move(head schema.StreamHead) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.head = head
}
