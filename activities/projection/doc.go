// Package projection turns the events of the log into rows of tables, and rebuilds them.
//
// A [Projector] turns events into rows. Each rebuild begins a new generation of its tables, and the offsets of older
// generations no longer count. A rebuild makes the rows in a [Shadow], a database of its own with the same tables, while
// other programs read and project, and then exchanges the tables:
//
//   - [Shadow.Fill] reads the log in its order, page by page over all streams, and [Shadow.CatchUp] applies the events
//     appended meanwhile. Offsets are kept in the shadow. After a crash, both resume where they stopped, in constant memory.
//   - A program that writes projections first reads their generations. It then writes for at most the time of a lease
//     before it reads them again. [Shadow.Switch] records the new generation, waits until all leases have expired,
//     applies the last events, and only then exchanges the tables, each at once. A program that arrives in between
//     waits. A page that takes longer than the lease is applied in parts.
//   - Whether a switch goes ahead is decided by renaming an empty table, which succeeds once. A program that has waited
//     for long calls the switch off: the generation before goes on, with its offsets. If the switch was decided, it
//     finishes it. A table is exchanged under a name that only one program knows, so never twice.
//   - Code that plans new events from the rows of its own stream does so in [Store.Steady], so that all rows it reads are
//     of one generation.
//   - Projectors that share a table are rebuilt together. Rows of one that began meanwhile are copied.
//
// Checkpoints are saved in the background, a second later and for many streams at once. If a program ends before that,
// the next one applies the last events again.
//
// The version of the code that made the rows is stored with the generation. A program of another version adds no rows
// and returns a [StaleError]. This error is worth retrying, because a rebuild of the projection clears it. No worker
// rebuilds by itself: a rebuild can take long, and sessions wait for a projection of another version, so a person
// decides when.
package projection
