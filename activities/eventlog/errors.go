package eventlog

import (
	"errors"
	"fmt"

	"axiommind/activities/clickhouse"
)

// Errors that callers branch on.
var (
	// ErrNotFound is returned if no event has the id, or if the stream has no events.
	ErrNotFound = errors.New("event not found")
	// ErrInvalid is wrapped by every [InvalidError].
	ErrInvalid = errors.New("invalid event")
	// ErrConcurrentWriter is returned if other writers of the stream always appended first. Nothing is lost or
	// duplicated: append again.
	ErrConcurrentWriter = clickhouse.Temporary("stream has another writer")
	// ErrCorrupt is returned if a stored payload does not match its checksum.
	ErrCorrupt = errors.New("event is corrupt")
)

// InvalidError refuses an event or a batch. A retry with the same input fails too.
type InvalidError struct {
	// Index is the event's position in the batch, or -1 if the batch as a whole is refused.
	Index int
	// Field is the name of a field of schema.Event, or "stream" or "batch".
	Field  string
	Reason string
}

func (e *InvalidError) Error() string {
	if e.Index < 0 {
		return fmt.Sprintf("invalid %s: %s", e.Field, e.Reason)
	}
	return fmt.Sprintf("invalid event %d: %s: %s", e.Index, e.Field, e.Reason)
}

// Unwrap makes errors.Is(err, ErrInvalid) true.
func (e *InvalidError) Unwrap() error { return ErrInvalid }
