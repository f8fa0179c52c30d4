package stategraph

import "iter"

// Write is one value for one key. The key's Set, Add and Overwrite methods make it.
type Write struct {
	ch        *channel
	val       any
	overwrite bool
}

// Key returns the name of the written key.
func (w Write) Key() string { return w.ch.name }

// Value returns a copy of the written value: the items for a Topic, the operand for a reducer.
func (w Write) Value() any {
	if w.overwrite {
		return w.ch.copyOf(w.val)
	}
	return w.ch.copyWrite(w.val)
}

// IsOverwrite reports whether the write replaces the value of a reducer.
func (w Write) IsOverwrite() bool { return w.overwrite }

// Update is the list of writes of a node. Keys that are not in it keep their values.
type Update []Write

// Command is an Update together with where to go next. Goto adds to the node's edges and does not replace them.
type Command struct {
	Update Update
	Goto   []Target
	// Parent ends a subgraph after this superstep. Update and Goto then apply to the graph that contains it.
	Parent bool
}

// Commands is a list of commands of one node, applied in order.
type Commands []Command

// Result is the return value of a node: an Update, a Command, Commands, or nil.
type Result interface{ result() }

func (Update) result()   {}
func (Command) result()  {}
func (Commands) result() {}

type unsetValue struct{ _ byte }

// unset marks a key to which nothing was written.
var unset any = &unsetValue{}

// State is the view of a node or router: the values before the superstep, or the packet of a Send. A State passed to a
// node is valid until the node returns.
type State struct {
	view *view
	task *scratch
}

type view struct {
	schema  *Schema
	vals    []any
	overlay []staged
	visible []bool // nil: all
	packet  []Write
	sent    bool
}

func (s State) load(ch *channel) (any, bool) {
	v := s.view
	if v == nil {
		return nil, false
	}
	if v.sent {
		for i := len(v.packet) - 1; i >= 0; i-- {
			if v.packet[i].ch == ch {
				return v.packet[i].val, true
			}
		}
		return nil, false
	}
	i, ok := v.schema.index[ch]
	if !ok || (v.visible != nil && !v.visible[i]) {
		return nil, false
	}
	return v.at(i)
}

func (v *view) at(i int) (any, bool) {
	val := v.vals[i]
	for j := range v.overlay {
		if v.overlay[j].key == i {
			val = v.overlay[j].val
		}
	}
	if val != unset {
		return val, true
	}
	ch := v.schema.keys[i]
	return ch.def, ch.hasDef
}

// All yields the name and a copy of the value of every key that has a value. The order is that of the schema or, for
// a Send, that of the packet.
func (s State) All() iter.Seq2[string, any] {
	return func(yield func(string, any) bool) {
		v := s.view
		if v == nil {
			return
		}
		if v.sent {
			for _, w := range v.packet {
				if !yield(w.ch.name, w.Value()) {
					return
				}
			}
			return
		}
		for i, ch := range v.schema.keys {
			if v.visible != nil && !v.visible[i] {
				continue
			}
			if val, ok := v.at(i); ok && !yield(ch.name, ch.copyOf(val)) {
				return
			}
		}
	}
}
