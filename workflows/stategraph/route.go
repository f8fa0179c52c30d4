package stategraph

// follow adds the successors of a finished task to the plan: its Command's targets, its edges and joins, then its
// routers' targets.
func (t *Thread[C]) follow(k *task[C], alone bool) error {
	from := t.graph.nodeName(k.node)
	for _, target := range k.goTo {
		if err := t.goTo(target, from, nil); err != nil {
			return err
		}
	}
	if k.memo.detached {
		return nil
	}
	e := &t.graph.start
	if k.node != start {
		e = &t.graph.nodes[k.node].exits
	}
	for _, to := range e.edges {
		t.trigger(to)
	}
	t.plan.arms = append(t.plan.arms, e.arms...)
	if len(e.routers) == 0 {
		return nil
	}
	overlay := t.plan.stage
	if !alone {
		var err error
		if overlay, err = t.own(k, from); err != nil {
			return err
		}
	}
	seen := State{view: &view{schema: t.graph.schema, vals: t.vals, overlay: overlay}}
	for i := range e.routers {
		r := &e.routers[i]
		var targets []Target
		err := guard(t.owner, func() (err error) {
			targets, err = r.route(seen)
			return err
		})
		if err != nil {
			return &RouterError{From: from, Router: r.name, Err: err}
		}
		for _, target := range targets {
			if err := t.goTo(target, from, r); err != nil {
				return err
			}
		}
	}
	return nil
}

// own computes the values after the writes of one task alone, which its routers see.
func (t *Thread[C]) own(k *task[C], from string) ([]staged, error) {
	var overlay []staged
	done := make(map[int]bool, len(k.writes))
	for n, w := range k.writes {
		i := t.graph.schema.index[w.ch]
		if done[i] {
			continue
		}
		done[i] = true
		var writes []nodeWrite
		for _, other := range k.writes[n:] {
			if other.ch == w.ch {
				writes = append(writes, nodeWrite{other, from})
			}
		}
		v, _, err := w.ch.merge(t.vals[i], t.seen[i], writes, t.owner)
		if err != nil {
			return nil, err
		}
		overlay = append(overlay, staged{key: i, val: v})
	}
	return overlay, nil
}

func (t *Thread[C]) goTo(target Target, from string, r *router) error {
	unknown := func() *UnknownNodeError {
		e := &UnknownNodeError{From: from, Target: target.node}
		if r != nil {
			e.Router = r.name
		}
		return e
	}
	if target.sent {
		i, ok := t.graph.byName[target.node]
		if !ok {
			err := unknown()
			return &InvalidUpdateError{Nodes: []string{from}, Reason: "Send: " + err.Error(), Err: err}
		}
		for _, w := range target.packet {
			if w.ch == nil || (w.ch.kind == kindReduce && !w.overwrite && w.ch.value != w.ch.write) {
				return &InvalidUpdateError{Nodes: []string{from}, Reason: "Send: a packet carries values: use Overwrite for a key folded from another type"}
			}
		}
		t.plan.sends = append(t.plan.sends, target)
		t.plan.sendTo = append(t.plan.sendTo, i)
		return nil
	}
	if r != nil && r.paths != nil {
		i, ok := r.paths[target.node]
		if !ok {
			return unknown()
		}
		t.trigger(i)
		return nil
	}
	if target.node == END {
		return nil
	}
	i, ok := t.graph.byName[target.node]
	if !ok {
		return unknown()
	}
	t.trigger(i)
	return nil
}

func (t *Thread[C]) trigger(i int) {
	switch {
	case i == end:
	case t.graph.nodes[i].deferred:
		t.plan.defers.add(i)
	default:
		t.plan.pulls.add(i)
	}
}
