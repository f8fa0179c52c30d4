// Package evidence decides which text of a session proves an entry. A model returns quotes; an
// [Aligner] finds each in the messages it was taken from and gives the exact span, and [Verify]
// checks a stored span against its source again.
//
// Three words, each stricter than the one before. A quote is found when its place is known. It is aligned
// when it was found word for word. It is proven when it is whole sentences or lines of one message: see
// [Rule]. Finding judges no meaning. A quote with another number, or without its "not", may be found
// approximately; it proves nothing, and is shown within the sentence that was said.
//
// A quote is looked for verbatim; then in normal form 1, and without the punctuation between its words; then
// in pieces, where it has ellipses; then approximately, by a similarity of at least [MinSimilarity] to one
// stretch of a message.
package evidence
