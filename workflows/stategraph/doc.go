// Package stategraph runs graphs of nodes over a typed, shared state.
//
// A state schema is a set of typed keys. The kind of a key decides how several writes combine: LastValue accepts one
// per superstep, Reduce and Fold combine them, Topic lists them, Ephemeral and Any keep a value for one superstep. A
// key is a handle: it reads its value from a State and makes the Writes of an Update, so a write of the wrong type or
// kind does not compile.
//
// A run proceeds in supersteps. All nodes of a superstep see the same state, by value. When all have returned, their
// writes are applied in order of node name (bytewise), followed by the writes of Sends in the order in which they
// were sent. The order in which the nodes finished does not matter. Then edges, joins, routers and Commands determine
// which nodes run next. If a node, reducer or router fails, nothing of the superstep is applied. The error is that of
// the first failed task in the same order.
//
// Values are copied when a write is made and when a key is read, so no node can change the state that another one sees.
// Copying plain values costs nothing. Slices, maps, pointers and exported fields are copied deeply. A type with a
// method Clone() T copies itself. A pointer to a struct with unexported fields is shared. A key's Copy method replaces
// these rules.
//
// A Runner decides how the tasks of a superstep run: InOrder, Goroutines or, in a Temporal workflow, the runner of
// package durable. All of them give the same result. Retries and timeouts are up to the functions that a node calls.
// Durability is up to the workflow that contains the run. A Thread can stop at a breakpoint or a question and
// continue later in the same process or workflow.
//
// Reducers and routers must be pure. Nodes must be deterministic if the runner replays them.
package stategraph
