// Package evidence decides which text of a session proves an entry. A model returns quotes; an
// [Aligner] finds each in the messages it was taken from and gives the exact span, and [Verify]
// checks a stored span against its source again.
//
// Stages, from the strictest: exact; normalized (Unicode forms, case, whitespace, quotes, dashes,
// ellipses, Markdown emphasis, punctuation); approximate (contiguous, similarity of at least 0.85,
// differences of typing only). What changes a meaning (a number, a negation, a name) is never
// approximately equal. What may change it, in a quote that is damaged or that begins or ends within
// a word or a number, is found with its doubts: see [schema.Doubt].
package evidence
