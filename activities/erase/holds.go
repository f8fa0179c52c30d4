package erase

import "axiommind/schema"

// Matches reports whether the text contains the one that the scope erases. Case, width and white space do not
// count, nor do list marks at the beginning of the scope's text.
func Matches(scope schema.ErasureScope, text string) bool { return newGone(scope).Contains(text) }
