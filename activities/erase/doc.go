// Package erase erases memory at a person's request: a session, a user, a project, or all that contains a text.
//
// An erasure changes the log, and everything else is rebuilt from the log: projections, vectors and files. A [Plan]
// decides the outcome of each event, as a function of the log and the scope of the erasure. Each payload says what remains
// of it: see [schema.Remaining].
//
//   - The streams of the scope are deleted.
//   - Whatever names something erased is erased: an event of another stream, or the element of a list in it. The
//     declarations of an erased event count as named, too, until nothing more is found.
//   - Things that other events are about as well stay, in the words of those events: a task that another session
//     mentions, or a fact that it states. The first of these events becomes the new declaration.
//   - A version of core memory loses the items that depend on something erased, and a dream that has read such content
//     loses its text. The days that it read count as unread: the next dream reads the rest of them.
//
// A tombstone keeps erased content out of the log. It contains a salted hash and no name. While an erasure is running,
// the streams that it changes accept no events.
package erase
