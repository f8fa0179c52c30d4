package stategraph

import (
	"errors"
	"fmt"
	"maps"
	"slices"
)

// Graph is a compiled graph. It is immutable, and any number of runs may share it.
type Graph[C Context] struct {
	schema  *Schema
	nodes   []node[C] // by name
	byName  map[string]int
	start   exits
	joins   []join
	inputs  []bool // nil: all
	outputs []bool // nil: all
	before  []bool // nil: none
	after   []bool // nil: none
}

type node[C Context] struct {
	name     string
	fn       Node[C]
	child    *Graph[C]
	shared   []sharedKey
	deferred bool
	visible  []bool
	ends     []int
	exits
}

// exits is everything that happens after a node has run.
type exits struct {
	edges   []int
	arms    []arm
	routers []router
	final   bool // an edge leads to END
}

type arm struct{ join, source int }

type join struct {
	from     []int
	to       int
	optional bool
}

// end is the index of END when it is a target.
const end = -1

type router struct {
	name   string
	route  Router
	paths  map[string]int // nil: every node
	labels []string       // of paths, sorted
}

type sharedKey struct{ parent, child int }

// Compile checks the graph and makes it runnable. The error joins all mistakes found, each a BuildError.
func (g *StateGraph[C]) Compile() (*Graph[C], error) {
	c := &compiler[C]{src: g, errs: slices.Concat(g.schema.errs, g.errs)}
	c.out = &Graph[C]{schema: g.schema, byName: make(map[string]int, len(g.nodes))}
	c.addNodes()
	c.addEdges()
	c.addRouters()
	c.out.inputs = c.keySet("", g.inputs, g.limitIn)
	c.out.outputs = c.keySet("", g.outputs, g.limitOut)
	c.out.before = c.nodeSet(g.before)
	c.out.after = c.nodeSet(g.after)
	if len(c.errs) == 0 {
		c.checkReach()
	}
	if len(c.errs) > 0 {
		return nil, errors.Join(c.errs...)
	}
	return c.out, nil
}

type compiler[C Context] struct {
	src  *StateGraph[C]
	out  *Graph[C]
	errs []error
}

func (c *compiler[C]) fail(kind error, node, key, format string, args ...any) {
	c.errs = append(c.errs, &BuildError{Node: node, Key: key, Reason: fmt.Sprintf(format, args...), kind: kind})
}

func (c *compiler[C]) addNodes() {
	names := slices.Sorted(maps.Keys(c.src.nodes))
	for i, name := range names {
		c.out.byName[name] = i
	}
	for _, name := range names {
		n := c.src.nodes[name]
		if _, taken := c.src.schema.byName[name]; taken {
			c.fail(nil, name, name, "a node cannot have the name of a key")
		}
		out := node[C]{name: name, fn: n.fn, child: n.child, deferred: n.deferred}
		out.visible = c.keySet(name, n.input, n.limited)
		for _, e := range n.ends {
			if i, ok := c.lookup(name, "ends name", e); ok && i != end {
				out.ends = append(out.ends, i)
			}
		}
		if n.child != nil {
			out.shared = c.share(name, n.child)
		}
		c.out.nodes = append(c.out.nodes, out)
	}
}

// share pairs the keys of graph and subgraph that have the same name.
func (c *compiler[C]) share(node string, child *Graph[C]) []sharedKey {
	var shared []sharedKey
	for i, ch := range c.src.schema.keys {
		j, ok := child.schema.byName[ch.name]
		if !ok {
			continue
		}
		other := child.schema.keys[j]
		if other.kind != ch.kind || other.value != ch.value || other.write != ch.write {
			c.fail(nil, node, ch.name, "is %v of %v here and %v of %v in the subgraph",
				ch.kind, ch.value, other.kind, other.value)
			continue
		}
		shared = append(shared, sharedKey{i, j})
	}
	return shared
}

func (c *compiler[C]) keySet(node string, keys []AnyKey, limited bool) []bool {
	if !limited {
		return nil
	}
	set := make([]bool, len(c.src.schema.keys))
	for _, k := range keys {
		i, ok := c.src.schema.index[k.spec()]
		if !ok {
			c.fail(nil, node, k.Name(), "the schema has no such key")
			continue
		}
		set[i] = true
	}
	return set
}

func (c *compiler[C]) nodeSet(names []string) []bool {
	if len(names) == 0 {
		return nil
	}
	set := make([]bool, len(c.out.nodes))
	for _, name := range names {
		if i, ok := c.out.byName[name]; ok {
			set[i] = true
		} else {
			c.fail(ErrUnknownNode, name, "", "is to be interrupted but not present")
		}
	}
	return set
}

// lookup returns the index of a target of the node named at.
func (c *compiler[C]) lookup(at, what, name string) (int, bool) {
	if name == END {
		return end, true
	}
	i, ok := c.out.byName[name]
	if !ok {
		c.fail(ErrUnknownNode, at, "", "%s unknown node %q", what, name)
	}
	return i, ok
}

func (c *compiler[C]) exitsOf(name, what string) *exits {
	if name == START {
		return &c.out.start
	}
	i, ok := c.out.byName[name]
	if !ok {
		c.fail(ErrUnknownNode, name, "", "%s starts at this unknown node", what)
		return nil
	}
	return &c.out.nodes[i].exits
}

func (c *compiler[C]) addEdges() {
	for _, e := range c.src.edges {
		from := c.exitsOf(e[0], "an edge")
		to, ok := c.lookup(e[0], "an edge ends at", e[1])
		if from != nil && ok && to == end {
			from.final = true
		}
		if from != nil && ok && to != end && !slices.Contains(from.edges, to) {
			from.edges = append(from.edges, to)
		}
	}
	for _, j := range c.src.joins {
		to, ok := c.lookup(j.to, "a join ends at", j.to)
		out := join{to: to, optional: j.optional}
		for _, name := range j.from {
			from := (*exits)(nil)
			if name == START || name == END {
				c.fail(nil, j.to, "", "a join cannot wait for %q", name)
			} else {
				from = c.exitsOf(name, "a join")
			}
			if from == nil || !ok {
				continue
			}
			from.arms = append(from.arms, arm{len(c.out.joins), len(out.from)})
			out.from = append(out.from, c.out.byName[name])
		}
		c.out.joins = append(c.out.joins, out)
	}
}

func (c *compiler[C]) addRouters() {
	for _, r := range c.src.routers {
		from := c.exitsOf(r.from, "a conditional edge")
		out := router{name: r.name, route: r.route}
		if r.paths != nil {
			out.paths = make(map[string]int, len(r.paths))
			out.labels = slices.Sorted(maps.Keys(r.paths))
		}
		for _, label := range out.labels {
			if to, ok := c.lookup(r.from, fmt.Sprintf("router %q leads to", r.name), r.paths[label]); ok {
				out.paths[label] = to
			}
		}
		if from != nil {
			from.routers = append(from.routers, out)
		}
	}
}

// checkReach finds the nodes that are reachable from START. The target of a join is reachable if all of the join's
// sources are. This also finds joins that wait for a node that follows them.
func (c *compiler[C]) checkReach() {
	g := c.out
	if !c.hasEntry() {
		c.fail(ErrNoEntryPoint, "", "", "no edge leaves START")
		return
	}
	reached := make([]bool, len(g.nodes))
	arrived := make([]int, len(g.joins))
	var queue []int
	visit := func(i int) {
		if i != end && !reached[i] {
			reached[i] = true
			queue = append(queue, i)
		}
	}
	leave := func(e *exits) {
		for _, to := range e.edges {
			visit(to)
		}
		for _, a := range e.arms {
			if arrived[a.join]++; arrived[a.join] == len(g.joins[a.join].from) {
				visit(g.joins[a.join].to)
			}
		}
		for _, r := range e.routers {
			if r.paths == nil {
				for i := range g.nodes {
					visit(i)
				}
			}
			for _, label := range r.labels {
				visit(r.paths[label])
			}
		}
	}
	leave(&g.start)
	for len(queue) > 0 {
		n := &g.nodes[queue[0]]
		queue = queue[1:]
		leave(&n.exits)
		for _, i := range n.ends {
			visit(i)
		}
	}
	for j, join := range g.joins {
		if arrived[j] == 0 || arrived[j] == len(join.from) {
			continue
		}
		for _, i := range join.from {
			if !reached[i] {
				c.fail(ErrStuckJoin, g.nodes[join.to].name, "",
					"its join can never complete: nothing runs %q before it", g.nodes[i].name)
			}
		}
	}
	for i := range g.nodes {
		if !reached[i] {
			c.fail(ErrUnreachable, g.nodes[i].name, "", "is not reachable from START")
		}
	}
}

func (c *compiler[C]) hasEntry() bool {
	s := &c.out.start
	return len(s.edges) > 0 || len(s.routers) > 0 || s.final
}

// nodeName returns the name of node i, or START for the input.
func (g *Graph[C]) nodeName(i int) string {
	if i < 0 {
		return START
	}
	return g.nodes[i].name
}
