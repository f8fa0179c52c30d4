// Package text contains the shared rules of written language: its scripts, invisible characters,
// sentence boundaries, and the normal forms in which spellings of one text are equal.
package text
