// Package text is what all rooms know of written language: its scripts, the characters that show
// nothing, where sentences end, and the normal forms in which spellings of one text are equal.
package text
