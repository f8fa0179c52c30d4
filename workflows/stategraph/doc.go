// Package stategraph runs graphs of nodes over a typed, shared state.
//
// A state schema is a set of typed keys. A key's kind says what several writes
// mean: LastValue takes one per superstep, Reduce and Fold combine them, Topic
// lists them, Ephemeral and Any live for one superstep. A key is a handle: it
// reads itself from a State and makes the Writes of an Update, so a write of
// the wrong type or kind does not compile.
//
// A run goes in supersteps. All nodes of a superstep see the same state, by
// value. When all have returned, their writes are applied in order of node
// name (bytewise), then those of Sends in the order they were sent, whatever
// order the nodes finished in. Then edges, joins, routers and Commands say
// which nodes run next. If a node, reducer or router fails, nothing of the
// superstep is applied; the error is that of the first failed task in the same
// order.
//
// Values are copied when a write is made and when a key is read, so no node can
// change what another one sees. Plain values cost nothing. Slices, maps,
// pointers and exported fields are copied deep; a type with a method Clone() T
// copies itself; a pointer to a struct with unexported fields is shared. A key's
// Copy replaces all that.
//
// How the tasks of a superstep run is the Runner's affair: InOrder, Goroutines
// or, in a Temporal workflow, the runner of package durable. The result is the
// same on each. Retries and timeouts belong to what a node calls, durability to
// the workflow the run is part of; a Thread can nevertheless stop at a
// breakpoint or a question and go on later in the same process or workflow.
//
// Reducers and routers must be pure, and nodes deterministic where the runner
// replays them.
package stategraph
