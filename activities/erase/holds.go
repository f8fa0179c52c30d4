package erase

import "axiommind/schema"

// Holds reports whether the text holds the one that the scope is to erase: case, width and white space do not count.
func Holds(scope schema.ErasureScope, text string) bool { return newGone(scope).holds(text) }
