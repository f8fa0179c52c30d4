package stategraph

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

var plainName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// reservedNames are words that Mermaid does not accept as the id of a node.
var reservedNames = map[string]bool{
	"end": true, "graph": true, "subgraph": true, "flowchart": true, "default": true,
	"style": true, "class": true, "classDef": true, "click": true, "linkStyle": true, "direction": true,
}

// Mermaid returns the graph as a Mermaid flowchart. Edges are solid arrows, joins thick ones, and conditional edges
// and the declared ends of Commands dotted ones. Subgraphs have a double border. Deferred nodes are hexagons.
func (g *Graph[C]) Mermaid() string {
	d := drawing{}
	d.line("flowchart TD")
	d.line(`    %s(["start"])`, START)
	for i := range g.nodes {
		n := &g.nodes[i]
		shape := `%s["%s"]`
		switch {
		case n.child != nil:
			shape = `%s[["%s"]]`
		case n.deferred:
			shape = `%s{{"%s"}}`
		}
		d.line("    "+shape, g.mermaidID(i), escapeLabel(n.name))
	}
	d.line(`    %s(["end"])`, END)
	g.drawExits(&d, START, &g.start, nil)
	for i := range g.nodes {
		n := &g.nodes[i]
		g.drawExits(&d, g.mermaidID(i), &n.exits, n.ends)
	}
	for _, j := range g.joins {
		from := make([]string, len(j.from))
		for k, i := range j.from {
			from[k] = g.mermaidID(i)
		}
		d.line("    %s ==> %s", strings.Join(from, " & "), g.mermaidID(j.to))
	}
	return d.String()
}

type drawing struct{ strings.Builder }

func (d *drawing) line(format string, args ...any) { fmt.Fprintf(&d.Builder, format+"\n", args...) }

func (g *Graph[C]) drawExits(d *drawing, id string, e *exits, ends []int) {
	for _, to := range e.edges {
		d.line("    %s --> %s", id, g.mermaidID(to))
	}
	if e.final {
		d.line("    %s --> %s", id, END)
	}
	for _, i := range ends {
		d.line("    %s -.-> %s", id, g.mermaidID(i))
	}
	for _, r := range e.routers {
		for _, label := range r.labels {
			d.line(`    %s -. "%s: %s" .-> %s`, id, escapeLabel(r.name), escapeLabel(label), g.mermaidID(r.paths[label]))
		}
		if r.paths == nil {
			for i := range g.nodes {
				d.line(`    %s -. "%s" .-> %s`, id, escapeLabel(r.name), g.mermaidID(i))
			}
			d.line(`    %s -. "%s" .-> %s`, id, escapeLabel(r.name), END)
		}
	}
	if len(e.edges)+len(e.arms)+len(e.routers)+len(ends) == 0 && !e.final && id != START {
		d.line("    %s --> %s", id, END)
	}
}

// mermaidID returns the node's name if Mermaid accepts it as an id, or else a substitute.
func (g *Graph[C]) mermaidID(i int) string {
	if i == end {
		return END
	}
	name := g.nodes[i].name
	if plainName.MatchString(name) && !reservedNames[strings.ToLower(name)] {
		return name
	}
	return "node" + strconv.Itoa(i)
}

func escapeLabel(s string) string {
	return strings.NewReplacer(`"`, "#quot;", "\n", " ").Replace(s)
}
