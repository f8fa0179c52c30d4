// Package tier keeps the three tiers of an agent's memory of a user. The context of a session is flushed to the daily
// record: a summary for each day. At night a dream consolidates the daily records, and the facts and entries of these
// days, into core memory: MEMORY.md, a list of statements.
//
// The stream of the memory contains all of it. The files are projections of the stream: see [Root]. A person's edit of
// a file is recorded as an event.
//
// A dream can neither invent nor destroy. A statement enters core memory if a source says so: a daily record, an entry,
// a fact or core memory itself states all of it, or each of its sentences is the whole of one. A statement leaves core
// memory only for another one that says the same or, as the answer says, replaces it. All else is carried over. Every
// version is kept, and records the statements it dropped and the reasons. See [Compose].
package tier
