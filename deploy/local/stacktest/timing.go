package stacktest

import (
	"time"

	"axiommind/schema"
)

// Timing returns short durations for a worker of a test. They leave a busy machine enough time.
func Timing() schema.Timing {
	return schema.Timing{
		Graduation: 300 * time.Millisecond,
		Messages:   100 * time.Millisecond,
		Files:      200 * time.Millisecond,
		Idle:       20 * time.Second,
		Busy:       100 * time.Millisecond,
		Again:      200 * time.Millisecond,
		Tries:      time.Second,
		Report:     500 * time.Millisecond,
		Heartbeat:  6 * time.Second,
		Sticky:     time.Second,
		Lease:      2 * time.Second,
		Embedder:   time.Second,
		Follow:     100 * time.Millisecond,
		Vectors:    time.Second,
		Version:    500 * time.Millisecond,
	}
}
