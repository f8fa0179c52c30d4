package stategraph

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// START and END are the ends of every graph.
const (
	START = "__start__"
	END   = "__end__"
)

// Node is one step of a graph. It reads s and returns its changes.
type Node[C Context] func(ctx C, s State) (Result, error)

// Target is the destination of a branch: a node, END or a Send.
type Target struct {
	node   string
	packet []Write
	sent   bool
}

// To returns the target for a node or END.
func To(node string) Target { return Target{node: node} }

// Send returns a target that runs node once in the next superstep, with packet as its whole state. A packet may
// contain keys that are not in the schema.
func Send(node string, packet ...Write) Target {
	return Target{node: node, packet: packet, sent: true}
}

// Router decides where to go next. It sees the state before the superstep together with the writes of the node it
// follows. It must be pure. If it returns no targets, the branch ends.
type Router func(s State) ([]Target, error)

// Choose returns a Router to a single node or label.
func Choose(choose func(s State) string) Router {
	return func(s State) ([]Target, error) { return []Target{To(choose(s))}, nil }
}

// PathMap maps the labels that a conditional edge's router may return to nodes or END. A nil PathMap allows every
// node.
type PathMap map[string]string

// Paths returns the PathMap whose labels are the names of the nodes.
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

// StateGraph collects nodes and edges. Compile reports all mistakes at once. C is the type of the context that nodes
// get with the state: context.Context, or Temporal's workflow.Context.
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

// New returns an empty graph over the state of schema.
func New[C Context](schema *Schema) *StateGraph[C] {
	return &StateGraph[C]{schema: schema, nodes: map[string]*nodeSpec[C]{}}
}

// NodeOption is an option of a node.
type NodeOption func(*nodeOptions)

type nodeOptions struct {
	deferred bool
	ends     []string
	input    []AnyKey
	limited  bool
}

// Deferred delays a node until nothing else is left to run.
func Deferred() NodeOption { return func(o *nodeOptions) { o.deferred = true } }

// Ends declares the nodes to which the node's Commands may go.
func Ends(nodes ...string) NodeOption {
	return func(o *nodeOptions) { o.ends = append(o.ends, nodes...) }
}

// Input restricts the node's view of the state to these keys.
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

// AddSubgraph adds a compiled graph as a node. Keys with the same name are shared: the child starts with their
// values, and its writes to them, not its final state, become the update of the node.
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

// AddEdge makes the node to run after each superstep in which from ran.
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

// AddJoin makes the node to run once all of from have run, in any supersteps, and then starts over. If a run ends
// when only some of them have run, it fails with StuckJoinError.
func (g *StateGraph[C]) AddJoin(from []string, to string) *StateGraph[C] {
	return g.join(joinSpec{from: from, to: to})
}

// AddOptionalJoin is like AddJoin, for branches that may be skipped. A join that is still waiting at the end of the
// run is dropped.
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

// AddConditionalEdges makes router decide where to go after from. The name distinguishes the routers of a node, in
// errors and in drawings.
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

// InputKeys restricts the input of a run to these keys. Other keys are dropped.
func (g *StateGraph[C]) InputKeys(keys ...AnyKey) *StateGraph[C] {
	g.inputs, g.limitIn = append(g.inputs, keys...), true
	return g
}

// OutputKeys restricts the result of a run to these keys.
func (g *StateGraph[C]) OutputKeys(keys ...AnyKey) *StateGraph[C] {
	g.outputs, g.limitOut = append(g.outputs, keys...), true
	return g
}

// InterruptBefore stops a run each time one of nodes is about to run.
func (g *StateGraph[C]) InterruptBefore(nodes ...string) *StateGraph[C] {
	g.before = append(g.before, nodes...)
	return g
}

// InterruptAfter stops a run each time one of nodes has run and there is more to do.
func (g *StateGraph[C]) InterruptAfter(nodes ...string) *StateGraph[C] {
	g.after = append(g.after, nodes...)
	return g
}

func (g *StateGraph[C]) reject(node, key, reason string) {
	g.errs = append(g.errs, &BuildError{Node: node, Key: key, Reason: reason})
}
