// Package short is imported by programs that end at once. Its initialization turns the collection of garbage off, below a
// bound that such a program does not reach: collecting while the other packages initialize took a fifth of its time.
package short

import "runtime/debug"

// memory is the bound from which on garbage is collected after all, in bytes.
const memory = 256 << 20

func init() {
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(memory)
}
