package erase

import "axiommind/schema"

// Matches reports whether the text contains the one that the scope erases. Case, width and white space do not count.
func Matches(scope schema.ErasureScope, text string) bool { return newGone(scope).Contains(text) }
