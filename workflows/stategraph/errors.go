package stategraph

import (
	"errors"
	"fmt"
	"strings"
)

// Reasons for which a graph is refused or a run ends without a result.
var (
	ErrInvalidGraph    = errors.New("invalid graph")
	ErrUnreachable     = errors.New("unreachable node")
	ErrNoEntryPoint    = errors.New("no entry point")
	ErrInvalidUpdate   = errors.New("invalid update")
	ErrUnknownNode     = errors.New("unknown node")
	ErrStuckJoin       = errors.New("stuck join")
	ErrRecursionLimit  = errors.New("recursion limit reached")
	ErrInvalidLimit    = errors.New("recursion limit must be at least 1")
	ErrEmptyInput      = errors.New("no input")
	ErrAmbiguousResume = errors.New("ambiguous resume")
	ErrNotResumable    = errors.New("question in a run that cannot be resumed")
	ErrInterrupted     = errors.New("interrupted")
	ErrPanic           = errors.New("panic")
	ErrTaskLost        = errors.New("task did not finish")
)

// BuildError is one mistake in a graph, found by Compile. It matches ErrInvalidGraph and, if the mistake has a
// sentinel error of its own, that one too.
type BuildError struct {
	Node   string // the node concerned, if any
	Key    string // the key concerned, if any
	Reason string
	kind   error
}

func (e *BuildError) Error() string {
	var b strings.Builder
	b.WriteString("compile graph: ")
	if e.Node != "" {
		fmt.Fprintf(&b, "node %q: ", e.Node)
	}
	if e.Key != "" {
		fmt.Fprintf(&b, "key %q: ", e.Key)
	}
	b.WriteString(e.Reason)
	return b.String()
}

func (e *BuildError) Unwrap() []error {
	if e.kind == nil {
		return []error{ErrInvalidGraph}
	}
	return []error{ErrInvalidGraph, e.kind}
}

// InvalidUpdateError is a write that cannot be applied: a second write to a key that accepts one, a write to a key
// that is not in the schema, or a packet for no node.
type InvalidUpdateError struct {
	Channel string   // the key written
	Nodes   []string // the writing nodes, in write order; "__start__" is the input
	Values  []any    // the written values
	Reason  string
	Err     error
}

func (e *InvalidUpdateError) Error() string {
	var b strings.Builder
	b.WriteString("apply update")
	if e.Channel != "" {
		fmt.Fprintf(&b, " of channel %q", e.Channel)
	}
	for i, n := range e.Nodes {
		if i == 0 {
			b.WriteString(" from")
		} else {
			b.WriteString(",")
		}
		fmt.Fprintf(&b, " node %q", n)
		if i < len(e.Values) {
			fmt.Fprintf(&b, " with value %v", e.Values[i])
		}
	}
	b.WriteString(": " + e.Reason)
	return b.String()
}

func (e *InvalidUpdateError) Unwrap() []error {
	if e.Err == nil {
		return []error{ErrInvalidUpdate}
	}
	return []error{ErrInvalidUpdate, e.Err}
}

// UnknownNodeError is a route to a node that is not in the graph, or to a label that is not in the path map.
type UnknownNodeError struct {
	From   string // the node that routed
	Router string // the conditional edge; empty for a Command
	Target string
}

func (e *UnknownNodeError) Error() string {
	if e.Router == "" {
		return fmt.Sprintf("route from node %q: unknown node %q", e.From, e.Target)
	}
	return fmt.Sprintf("route from node %q by %q: unknown node or label %q", e.From, e.Router, e.Target)
}

func (e *UnknownNodeError) Unwrap() error { return ErrUnknownNode }

// NodeError is the error of a node in a superstep. Supersteps are counted from 1.
type NodeError struct {
	Node string
	Step int
	Err  error
}

func (e *NodeError) Error() string {
	return fmt.Sprintf("run node %q in superstep %d: %v", e.Node, e.Step, e.Err)
}

func (e *NodeError) Unwrap() error { return e.Err }

// RouterError is the error of a conditional edge's router.
type RouterError struct {
	From, Router string
	Err          error
}

func (e *RouterError) Error() string {
	return fmt.Sprintf("route from node %q by %q: %v", e.From, e.Router, e.Err)
}

func (e *RouterError) Unwrap() error { return e.Err }

// ReducerError is the error of a key's operator for one node's write.
type ReducerError struct {
	Channel string
	Node    string
	Value   any
	Err     error
}

func (e *ReducerError) Error() string {
	return fmt.Sprintf("reduce channel %q with value %v of node %q: %v", e.Channel, e.Value, e.Node, e.Err)
}

func (e *ReducerError) Unwrap() error { return e.Err }

// PanicError is a recovered panic in a node, router or reducer.
type PanicError struct {
	Value any
	Stack string
}

func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v", e.Value) }

func (e *PanicError) Unwrap() []error {
	if err, ok := e.Value.(error); ok {
		return []error{ErrPanic, err}
	}
	return []error{ErrPanic}
}

// WaitingJoin is a join that only some of its sources have reached.
type WaitingJoin struct {
	To      string
	Missing []string
}

// StuckJoinError is returned if a run ends while joins are still waiting.
type StuckJoinError struct{ Joins []WaitingJoin }

func (e *StuckJoinError) Error() string {
	parts := make([]string, len(e.Joins))
	for i, j := range e.Joins {
		parts[i] = fmt.Sprintf("node %q waits for %q", j.To, j.Missing)
	}
	return "end run: " + strings.Join(parts, "; ")
}

func (e *StuckJoinError) Unwrap() error { return ErrStuckJoin }

// RecursionError is returned if a run is not finished after its last allowed superstep.
type RecursionError struct {
	Limit int
	Next  []string
}

func (e *RecursionError) Error() string {
	return fmt.Sprintf("run graph: limit of %d supersteps reached before nodes %q", e.Limit, e.Next)
}

func (e *RecursionError) Unwrap() error { return ErrRecursionLimit }

// Interrupt is a question that a node has asked, or a breakpoint if Question is nil.
type Interrupt struct {
	ID       string // path of node name and task index, stable across runs
	Node     string
	Question any
}

// InterruptError is returned by a run that stopped and can be continued. Pending holds the questions. It is empty at
// a breakpoint.
type InterruptError struct {
	Pending []Interrupt
	Next    []string
}

func (e *InterruptError) Error() string {
	ids := make([]string, len(e.Pending))
	for i, p := range e.Pending {
		ids[i] = p.ID
	}
	return fmt.Sprintf("run graph: interrupted before %q, waiting for answers to %q", e.Next, ids)
}

func (e *InterruptError) Unwrap() error { return ErrInterrupted }
