// Package eventlog is the append-only event log in ClickHouse, the source of truth that everything
// else is a projection of.
//
// # What it promises
//
// Delivery is at least once; the effect is exactly once, because reads are deduplicated. A caller
// whose [Store.Append] failed in any way, also without an answer, calls it again with the same dedupe
// keys, and each event is read once and does not change after it was read.
//
// A stream has one writer, the workflow whose id is its name, and positions from 1 without gaps,
// which alone decide order. Where there are more writers all the same, they stay correct and become
// slow:
//
//   - The end of the stream is read first, then which dedupe keys the log holds. The rest is one
//     block under a deduplication token that names the stream and the first position claimed. The
//     server keeps one block per token, so of writers that saw the same end one wins, and an attempt
//     that arrives late is dropped. It drops in silence: each insert is read back, and a loser
//     begins anew, up to [ErrConcurrentWriter]. A token can be spent with nothing stored, by a
//     server that died between the two or by rows that were erased; the next one is then tried.
//   - The server remembers 10,000 tokens. Should a block come later than that, or from a server that
//     deduplicates nothing, or should one key be appended to two streams at once, rows may be
//     stored twice. Every read of this package and the view events show one of them, the one
//     recorded first. What can go wrong then: a hidden copy leaves a gap in its stream, and an
//     attempt more than 10,000 inserts late takes the place of its own retry.
//
// The view finds such copies by going through all ids, in the order of an index: about 0.1 s for each
// million events on two cores, whatever is selected. Filters use the primary and the skip indexes.
// Reads of this package look up only the ids of their page.
//
// Which messages a session_ingested event holds is known without its payload: see [Store.Headings]. The server takes
// it from the payload when it stores the row. No checksum covers it; a reader compares it with the payload once it
// reads that.
//
// Payloads are stored in their canonical form (RFC 8785) with its SHA-256, which is compared on
// every read. Integers that JSON readers would round are refused.
//
// # Projections
//
// A [Projector] makes rows out of events. Each rebuild begins a new generation of its tables, and offsets of
// older generations count no more. A rebuild empties the tables in place, while others may project:
//
//   - Who writes a projection reads the generation first, and writes for the time of a lease at most before it
//     reads it again. A rebuild notes the new generation, waits out the leases, and only then empties the
//     tables: no row that was made of the old ones is written after that.
//   - Who comes in between waits until the tables are empty, and then applies its stream from the beginning.
//     It need not wait for the rest: rows of different streams do not meet, and applying the same events twice,
//     also at the same time, leaves the same rows.
//   - What plans new events by the rows of its own stream does so in [Store.Steady]: it never takes a table
//     that a rebuild has emptied for all there is.
//   - A rebuild that is killed before the tables are empty is taken over after three times that wait by whoever
//     waits for it. One that is killed later leaves streams behind, which [Store.Standings] counts and calling
//     it again mends.
//
// The version of the code that made the rows is stored with the generation. A program of another version adds
// nothing to them and returns a [StaleError], which is worth retrying: what waits goes on once somebody has
// rebuilt the projection. No worker rebuilds by itself: that can take long, and searches miss what is not
// applied yet, so a person decides when.
//
// # Grants
//
// The package has no update and no delete of events. The role of a worker needs SELECT on the
// database, INSERT on events_raw, projection_offsets_raw and schema_migrations, what its projectors
// need on their own tables (INSERT, and TRUNCATE and ALTER DELETE for [Store.Renew]), and, to migrate, CREATE TABLE,
// CREATE VIEW and DROP VIEW. It should have no ALTER and no TRUNCATE on events_raw.
package eventlog
