// Package tier keeps the three tiers of an agent's memory of a user. The context of a session is flushed to the daily
// record: a summary for each day. At night a dream consolidates the daily records, and what was proven or learned that
// day, into core memory: MEMORY.md, a list of statements.
//
// All of it stands in the stream of the memory. The files are projections of it: see [Root]. What a person writes into
// a file is taken in as an event.
//
// A dream can neither invent nor destroy. A statement enters core memory if a source says so: a daily record, an entry,
// a fact or core memory itself states all of it, or each of its sentences is the whole of one. A statement
// leaves it only for another one that says the same or, as the answer says, replaces it. All else is carried over. Every
// version is kept, and tells what it dropped and why. See [Compose].
package tier
