package projection

import (
	"context"
	"fmt"
	"time"

	"axiommind/schema"
)

// Projector turns events into rows. The rows depend on the events alone, and not on their division into calls of Apply.
// Applying events again changes nothing: after a crash, or when two programs project the same stream, Apply gets
// overlapping ranges of events that begin and end anywhere.
type Projector interface {
	// Name is the key of the projector's offsets. It must never change.
	Name() string
	// Version is the version of the code that makes the rows. Increase it with every change that makes different rows
	// from the same events. Rows of two versions are never mixed.
	Version() uint32
	// Types are the event types to apply. None means all.
	Types() []string
	// StreamPrefix is the prefix of the names of the streams to apply.
	StreamPrefix() string
	// Tables are all tables that Apply writes.
	Tables() []Table
	// Apply inserts the rows for events of one stream, which are in order, by [clickhouse.Insert] with its context. That may
	// keep the rows, to write them with others before the offset is recorded. Each call inserts into all tables in the same
	// order, even no rows. If a table says which events were applied, it is the last one.
	Apply(ctx context.Context, events []schema.Event) error
}

// Partial is a [Projector] for one stream only among those with a prefix. It has no backlog in the others, whether or
// not it may read them.
type Partial interface {
	OneOf() (prefix, stream string)
}

// Progress is the work that a projection has done so far.
type Progress struct {
	// Streams counts the streams that were behind, and Events the events that were applied.
	Streams int
	Events  int
}

// Offset is a projector's position in a stream.
type Offset struct {
	LastSeq     uint64
	LastTS      time.Time
	LastEventID string
}

func projectError(p Projector, stream string, err error) error {
	return fmt.Errorf("project %q of %q: %w", stream, p.Name(), err)
}

// versioned is a projector as another version of the code has it.
type versioned struct {
	Projector
	version uint32
}

func (v versioned) Version() uint32 { return v.version }

// Table is a table that a projector writes.
type Table struct {
	Name string
	// Column and Value select the projector's rows in a table that several projectors share.
	Column, Value string
	// Hidden is the SQL condition of stored rows that no view shows.
	Hidden string
	// Varying are the columns that no view shows and whose values depend on how the events were split into pages.
	Varying []string
}

// StaleError refuses to mix rows of two versions of a projector in one table.
type StaleError struct {
	Projector string
	// Stored is the version that wrote the rows. Program is the version in this program.
	Stored, Program uint32
}

func (e *StaleError) Error() string {
	if e.Stored > e.Program {
		return fmt.Sprintf("projection %q was made by version %d of its code, which is newer than this program's %d: run the newer program, or rebuild it with: starter rebuild %s",
			e.Projector, e.Stored, e.Program, e.Projector)
	}
	return fmt.Sprintf("projection %q was made by version %d of its code, and this program has version %d: rebuild it with: starter rebuild %s",
		e.Projector, e.Stored, e.Program, e.Projector)
}

// Retryable is true: a rebuild of the projection clears the error.
func (e *StaleError) Retryable() bool { return true }
