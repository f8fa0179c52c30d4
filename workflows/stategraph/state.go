package stategraph

import "iter"

// Write is one value for one key, made by the key's Set, Add or Overwrite.
type Write struct {
	ch        *channel
	val       any
	overwrite bool
}

// Key is the name of the key written.
func (w Write) Key() string { return w.ch.name }

// Value is a copy of the value written: for a Topic its items, for a reducer
// the operand.
func (w Write) Value() any {
	if w.overwrite {
		return w.ch.copyOf(w.val)
	}
	return w.ch.copyWrite(w.val)
}

// IsOverwrite reports whether the write replaces the value of a reducer.
func (w Write) IsOverwrite() bool { return w.overwrite }

// Update is what a node changes. Keys it does not name keep their values.
type Update []Write

// Command is an Update together with where to go next. Goto adds to the
// node's edges, it does not replace them.
type Command struct {
	Update Update
	Goto   []Target
	// Parent ends a subgraph after this superstep; Update and Goto are then
	// for the graph that contains it.
	Parent bool
}

// Commands is several commands of one node, applied in order.
type Commands []Command

// Result is what a node returns: an Update, a Command, Commands, or nil.
type Result interface{ result() }

func (Update) result()   {}
func (Command) result()  {}
func (Commands) result() {}

type unsetValue struct{ _ byte }

// unset marks a slot nothing was written to.
var unset any = &unsetValue{}

// State is what a node or router sees: the values before the superstep, or
// the packet of a Send. A State given to a node is valid until it returns.
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

// All yields the name and a copy of the value of every key that has one, in
// the order of the schema; for a Send, in the order of the packet.
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
