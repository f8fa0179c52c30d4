// Package eventlog is the append-only event log in ClickHouse. It is the source of truth: everything else is a
// projection of it (package projection).
//
// # Guarantees
//
// Events are delivered at least once and take effect exactly once, because reads are deduplicated. If [Store.Append]
// fails in any way, or gets no answer, the caller calls it again with the same dedupe keys. Each event is then read
// once and does not change after it was first read.
//
// A stream has one writer, the workflow with the stream's name as its id. Positions begin at 1 and have no gaps; they
// alone decide the order. If a stream has several writers all the same, the log stays correct but becomes slow:
//
//   - Append first reads the end of the stream and then which dedupe keys the log already holds, in one request. The
//     only writer of a stream that hands on its head ([WithHead]) knows both from its last appends and reads. Append
//     inserts the rest as one block, with a deduplication token that names the stream and the first position claimed.
//     The server keeps one block per token: of several writers that saw the same end one wins, and an attempt that
//     arrives late is dropped. The server drops blocks silently, so each insert is read back. A writer that lost starts
//     again, and finally gives up with [ErrConcurrentWriter]. A token can be used up without anything being stored, if
//     the server died in between or the rows were erased later. Append then tries the next token.
//   - The server remembers 10,000 tokens. Rows may be stored twice if a block arrives later than that, if the server
//     does not deduplicate, or if one key is appended to two streams at once. The append that reads such a copy back
//     hides all copies of the event but the first recorded one, before it returns: it puts a row without text at their
//     places, whose precedence replaces all others there. Every read of this package and the view events leave out such
//     rows. [Store.HideCopies] looks for copies whose writer died before it could hide them. Two faults remain possible: a hidden copy leaves a gap in its stream, and an attempt
//     that is more than 10,000 inserts late takes the place of its own retry.
//
// A read of the view costs only the rows that it selects. Filters by stream and position use the primary index. A page
// of a stream is one request, sized by a budget of bytes.
//
// [Store.Headings] lists the messages of a session_ingested event without reading its payload. Append derives these
// headings from the payload and stores them in the same row. No checksum covers them, but readers compare them with the
// payload when they read it.
//
// Payloads are stored in their canonical form (RFC 8785) with its SHA-256, which is compared on every read. Integers
// that JSON readers would round are refused.
//
// # Erasing
//
// A [Store] never updates or deletes events. An [Eraser] does, with a connection of its own, whose role has more rights.
package eventlog
