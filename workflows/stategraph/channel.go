package stategraph

import "maps"

// volatile reports whether the key is emptied by a superstep that does not write it.
func (ch *channel) volatile() bool {
	switch ch.kind {
	case kindEphemeral, kindAny:
		return true
	case kindTopic:
		return !ch.accumulate
	default:
		return false
	}
}

// nodeWrite is a write and the node that made it.
type nodeWrite struct {
	Write
	node string
}

// staged is the next value of a key, computed but not applied.
type staged struct {
	key  int
	val  any
	seen map[string]struct{} // the published ids of a unique Topic, if changed
}

// merge computes the value after the writes of one superstep, in write order. cur is unset or the previous value.
// merge changes neither cur nor seen.
func (ch *channel) merge(cur any, seen map[string]struct{}, writes []nodeWrite, owner PanicOwner) (any, map[string]struct{}, error) {
	last := writes[len(writes)-1].val
	switch ch.kind {
	case kindLast:
		if len(writes) > 1 {
			return nil, nil, ch.conflict(writes, "a LastValue takes one write per superstep")
		}
		return last, nil, nil
	case kindEphemeral:
		if len(writes) > 1 && !ch.unguarded {
			return nil, nil, ch.conflict(writes, "an Ephemeral takes one write per superstep")
		}
		return last, nil, nil
	case kindAny:
		return last, nil, nil
	case kindTopic:
		return ch.publish(cur, seen, writes)
	default:
		v, err := ch.reduce(cur, writes, owner)
		return v, nil, err
	}
}

func (ch *channel) reduce(cur any, writes []nodeWrite, owner PanicOwner) (any, error) {
	over := -1
	for i := range writes {
		if !writes[i].overwrite {
			continue
		}
		if over >= 0 {
			return nil, ch.conflict(writes, "a superstep takes one Overwrite")
		}
		over = i
	}
	if over >= 0 {
		return writes[over].val, nil
	}
	acc := cur
	if acc == unset && ch.hasDef {
		acc = ch.copyOf(ch.def)
	}
	for i := range writes {
		w := &writes[i]
		if acc == unset {
			acc = w.val
			continue
		}
		err := guard(owner, func() (err error) {
			acc, err = ch.fold(acc, w.val)
			return err
		})
		if err != nil {
			return nil, &ReducerError{Channel: ch.name, Node: w.node, Value: w.val, Err: err}
		}
	}
	return acc, nil
}

func (ch *channel) publish(cur any, seen map[string]struct{}, writes []nodeWrite) (any, map[string]struct{}, error) {
	var acc any
	if cur != unset && ch.accumulate {
		acc = cur
	}
	var known map[string]struct{}
	if ch.unique != nil {
		if known = maps.Clone(seen); known == nil {
			known = map[string]struct{}{}
		}
	}
	for i := range writes {
		if ch.unique == nil {
			acc, _ = ch.fold(acc, writes[i].val)
			continue
		}
		for _, item := range ch.items(writes[i].val) {
			id := ch.unique(item)
			if _, dup := known[id]; !dup {
				known[id] = struct{}{}
				acc, _ = ch.fold(acc, item)
			}
		}
	}
	if acc == nil || ch.length(acc) == 0 {
		return unset, known, nil
	}
	return acc, known, nil
}

func (ch *channel) conflict(writes []nodeWrite, reason string) error {
	e := &InvalidUpdateError{Channel: ch.name, Reason: reason}
	for _, w := range writes {
		e.Nodes = append(e.Nodes, w.node)
		e.Values = append(e.Values, w.Value())
	}
	return e
}
