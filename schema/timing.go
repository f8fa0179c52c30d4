package schema

import (
	"cmp"
	"time"
)

// Timing contains the durations that background work waits for. The zero value means the defaults, which suit a laptop
// and a cluster. Tests make them short. All workers of a namespace must have the same values, because workflows compare
// times with them and a replay must decide as the run did.
type Timing struct {
	// Graduation is how long a pass over a project's sessions waits for other sessions, so that sessions that end at
	// about the same time share one pass. Default 20 s.
	Graduation time.Duration
	// Messages is how long the messages of a session wait to be indexed, so that its entries come first. Default 3 s.
	Messages time.Duration
	// Files is how long the files of a memory may lag behind the log, so that the additions of several sessions are
	// written at once. Default 5 s.
	Files time.Duration
	// Idle is how long a writer waits for more work before it ends. The next update or signal starts it again. Default
	// one minute.
	Idle time.Duration
	// Busy is the first pause before a retry to start a workflow whose id another run has. It doubles up to 30 times
	// itself. Default 1 s.
	Busy time.Duration
	// Again is the first pause before failed background work is retried. It doubles up to 600 times itself. Default 1
	// s.
	Again time.Duration
	// Tries is the first pause before a queue retries a session with a passing failure. It doubles up to 60 times
	// itself. Default one minute.
	Tries time.Duration
	// Report is how long a list of sessions collects outcomes before it records them. Default 10 s.
	Report time.Duration
	// Heartbeat is how long a worker may be silent before its activities run on another one. It sends a heartbeat six
	// times as often. Default 30 s.
	Heartbeat time.Duration
	// Sticky is how long a workflow's next task waits for the worker that ran the last one. Default 5 s.
	Sticky time.Duration
	// Lease is how long a projector may write its tables before it checks whether they are being rebuilt. A rebuild
	// waits a little longer than that. All programs that use one database must have the same, or rows are lost. Default
	// 3 s.
	Lease time.Duration
	// Offsets is how long the checkpoint of a projection waits for others to be saved with it. Default 1 s.
	Offsets time.Duration
	// Embedder is how long a vector writer uses an embedding version before it asks for the current one. Default 30 s.
	Embedder time.Duration
	// Follow is the first pause between two checks of an embedder that is being introduced. It doubles up to 30 times
	// itself. Default 500 ms.
	Follow time.Duration
	// Vectors is how long the vectors of an earlier embedder or generation are kept after the switch, for searches that
	// began before it. Default 2 s.
	Vectors time.Duration
	// Version is how often a worker with a build id asks whether it is the current version. Default 10 s.
	Version time.Duration
}

// WithDefaults returns the timing with the default for each duration that is 0.
func (t Timing) WithDefaults() Timing {
	for _, d := range []struct {
		value        *time.Duration
		defaultValue time.Duration
	}{
		{&t.Graduation, 20 * time.Second},
		{&t.Messages, 3 * time.Second},
		{&t.Files, 5 * time.Second},
		{&t.Idle, time.Minute},
		{&t.Busy, time.Second},
		{&t.Again, time.Second},
		{&t.Tries, time.Minute},
		{&t.Report, 10 * time.Second},
		{&t.Heartbeat, 30 * time.Second},
		{&t.Sticky, 5 * time.Second},
		{&t.Lease, 3 * time.Second},
		{&t.Offsets, time.Second},
		{&t.Embedder, 30 * time.Second},
		{&t.Follow, 500 * time.Millisecond},
		{&t.Vectors, 2 * time.Second},
		{&t.Version, 10 * time.Second},
	} {
		*d.value = cmp.Or(*d.value, d.defaultValue)
	}
	return t
}
