// Package erase forgets what people have forgotten: a session, a user, a project, or all that holds a text.
//
// An erasure changes the log, and the log alone decides what everything else holds: projections, vectors and files are made of it
// again. A [Plan] says what becomes of each event, as a function of the log and of what is to be erased:
//
//   - The streams of what is named are deleted.
//   - What names something erased is erased: an event of another stream, or the element of a list in it. What an erased event had
//     made counts as named, too, until nothing more is found.
//   - What others speak of as well stays, by their words: a task that another session mentions, or a fact that it states. The first
//     of them declares it from then on.
//   - A version of core memory loses the items that rest on something erased, and a dream that has read such loses its words. The
//     days that it read count as unread: the next dream reads what is left of them.
//
// A tombstone keeps what was erased out of the log. It holds a salted hash and no name. While an erasure is at work, the streams
// that it changes take no events.
package erase
