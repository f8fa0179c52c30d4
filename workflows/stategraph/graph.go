package stategraph

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// The ends of every graph.
const (
	START = "__start__"
	END   = "__end__"
)

// Node is one step of a graph. It reads s and returns what it changes.
type Node[C Context] func(ctx C, s State) (Result, error)

// Target is where a branch goes: a node, END, or a Send.
type Target struct {
	node   string
	packet []Write
	sent   bool
}

// To is the target node, or END.
func To(node string) Target { return Target{node: node} }

// Send runs node once in the next superstep with packet as its whole state.
// A packet may carry keys that the schema does not have.
func Send(node string, packet ...Write) Target {
	return Target{node: node, packet: packet, sent: true}
}

// Router decides where to go from the state before the superstep and the
// writes of the node it follows. It must be pure. No targets end the branch.
type Router func(s State) ([]Target, error)

// Choose is a Router to a single node or label.
func Choose(choose func(s State) string) Router {
	return func(s State) ([]Target, error) { return []Target{To(choose(s))}, nil }
}

// PathMap says where a conditional edge may lead: label -> node or END. A nil
// PathMap allows every node.
type PathMap map[string]string

// Paths is the PathMap whose labels are the nodes themselves.
func Paths(nodes ...string) PathMap {
	m := make(PathMap, len(nodes))
	for _, n := range nodes {
		m[n] = n
	}
	return m
}

type nodeSpec[C Context] struct {
	name     string
	fn       Node[C]
	child    *Graph[C]
	deferred bool
	ends     []string
	input    []AnyKey
	limited  bool
}

type routerSpec struct {
	from, name string
	route      Router
	paths      PathMap
}

type joinSpec struct {
	from     []string
	to       string
	optional bool
}

// StateGraph collects nodes and edges. Mistakes are kept and all reported by
// Compile. C is what nodes are given beside the state: context.Context, or
// Temporal's workflow.Context.
type StateGraph[C Context] struct {
	schema   *Schema
	nodes    map[string]*nodeSpec[C]
	edges    [][2]string
	joins    []joinSpec
	routers  []routerSpec
	inputs   []AnyKey
	outputs  []AnyKey
	before   []string
	after    []string
	errs     []error
	limitIn  bool
	limitOut bool
}

// New begins a graph over the state of schema.
func New[C Context](schema *Schema) *StateGraph[C] {
	return &StateGraph[C]{schema: schema, nodes: map[string]*nodeSpec[C]{}}
}

// NodeOption changes how a node takes part in the graph.
type NodeOption func(*nodeOptions)

type nodeOptions struct {
	deferred bool
	ends     []string
	input    []AnyKey
	limited  bool
}

// Deferred holds a node back until nothing else is left to run.
func Deferred() NodeOption { return func(o *nodeOptions) { o.deferred = true } }

// Ends names the nodes that the node's Commands may go to.
func Ends(nodes ...string) NodeOption {
	return func(o *nodeOptions) { o.ends = append(o.ends, nodes...) }
}

// Input limits what the node sees of the state to these keys.
func Input(keys ...AnyKey) NodeOption {
	return func(o *nodeOptions) { o.input, o.limited = append(o.input, keys...), true }
}

// AddNode adds a node.
func (g *StateGraph[C]) AddNode(name string, fn Node[C], opts ...NodeOption) *StateGraph[C] {
	if fn == nil {
		g.reject(name, "", "has no function")
		return g
	}
	return g.add(&nodeSpec[C]{name: name, fn: fn}, opts)
}

// AddSubgraph adds a compiled graph as a node. Keys of the same name are
// shared: the child begins with their values, and what it wrote to them, not
// its final state, is the update of the node.
func (g *StateGraph[C]) AddSubgraph(name string, child *Graph[C], opts ...NodeOption) *StateGraph[C] {
	if child == nil {
		g.reject(name, "", "has no graph")
		return g
	}
	return g.add(&nodeSpec[C]{name: name, child: child}, opts)
}

func (g *StateGraph[C]) add(n *nodeSpec[C], opts []NodeOption) *StateGraph[C] {
	var o nodeOptions
	for _, opt := range opts {
		opt(&o)
	}
	n.deferred, n.ends, n.input, n.limited = o.deferred, o.ends, o.input, o.limited
	switch {
	case n.name == "":
		g.reject("", "", "a node has no name")
	case n.name == START || n.name == END:
		g.reject(n.name, "", "the name is reserved")
	case strings.ContainsAny(n.name, "|:"):
		g.reject(n.name, "", "the characters | and : are reserved")
	case g.nodes[n.name] != nil:
		g.reject(n.name, "", "is already present")
	default:
		g.nodes[n.name] = n
	}
	return g
}

// AddEdge runs to after each superstep in which from ran.
func (g *StateGraph[C]) AddEdge(from, to string) *StateGraph[C] {
	switch {
	case from == END:
		g.reject(END, "", "an edge cannot start here")
	case to == START:
		g.reject(START, "", "an edge cannot end here")
	default:
		g.edges = append(g.edges, [2]string{from, to})
	}
	return g
}

// AddJoin runs to once all of from have run, in whatever supersteps, and
// begins anew after that. A run that ends while the join has seen only some of
// them fails with StuckJoinError.
func (g *StateGraph[C]) AddJoin(from []string, to string) *StateGraph[C] {
	return g.join(joinSpec{from: from, to: to})
}

// AddOptionalJoin is AddJoin for branches that may be skipped: a join that
// still waits at the end of the run is dropped.
func (g *StateGraph[C]) AddOptionalJoin(from []string, to string) *StateGraph[C] {
	return g.join(joinSpec{from: from, to: to, optional: true})
}

func (g *StateGraph[C]) join(j joinSpec) *StateGraph[C] {
	if len(j.from) == 0 {
		g.reject(j.to, "", "a join has no sources")
		return g
	}
	if j.to == START || j.to == END {
		g.reject(j.to, "", "a join cannot end here")
		return g
	}
	j.from = slices.Compact(slices.Sorted(slices.Values(j.from)))
	g.joins = append(g.joins, j)
	return g
}

// AddConditionalEdges lets router decide where to go after from. The name
// tells the routers of a node apart, in errors and drawings too.
func (g *StateGraph[C]) AddConditionalEdges(from, name string, router Router, paths PathMap) *StateGraph[C] {
	switch {
	case from == END:
		g.reject(END, "", "an edge cannot start here")
	case router == nil:
		g.reject(from, "", fmt.Sprintf("router %q has no function", name))
	case slices.ContainsFunc(g.routers, func(r routerSpec) bool { return r.from == from && r.name == name }):
		g.reject(from, "", fmt.Sprintf("router %q is already present", name))
	default:
		g.routers = append(g.routers, routerSpec{from, name, router, maps.Clone(paths)})
	}
	return g
}

// InputKeys limits what a run takes of its input; other keys are dropped.
func (g *StateGraph[C]) InputKeys(keys ...AnyKey) *StateGraph[C] {
	g.inputs, g.limitIn = append(g.inputs, keys...), true
	return g
}

// OutputKeys limits what the result of a run shows.
func (g *StateGraph[C]) OutputKeys(keys ...AnyKey) *StateGraph[C] {
	g.outputs, g.limitOut = append(g.outputs, keys...), true
	return g
}

// InterruptBefore stops a run each time one of nodes is about to run.
func (g *StateGraph[C]) InterruptBefore(nodes ...string) *StateGraph[C] {
	g.before = append(g.before, nodes...)
	return g
}

// InterruptAfter stops a run each time one of nodes has run and more is to do.
func (g *StateGraph[C]) InterruptAfter(nodes ...string) *StateGraph[C] {
	g.after = append(g.after, nodes...)
	return g
}

func (g *StateGraph[C]) reject(node, key, reason string) {
	g.errs = append(g.errs, &BuildError{Node: node, Key: key, Reason: reason})
}
