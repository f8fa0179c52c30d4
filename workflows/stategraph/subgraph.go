package stategraph

// runChild runs or continues the subgraph of a node and returns its writes to the shared keys.
func (t *Thread[C]) runChild(ctx C, k *task[C], n *node[C]) (Result, error) {
	child := k.child
	if child == nil {
		child = n.child.NewThread(t.runner)
		child.once, child.nested, child.journal = t.once, true, map[int][]Write{}
		child.opts.limit = t.opts.limit
		held := child.seed(&k.view, n.shared)
		if err := child.begin(Update{}); err != nil {
			return nil, err
		}
		child.held = append(child.held, held...)
		k.child = child
	} else {
		child.steps, child.pass = 0, true
	}
	if err := child.loop(ctx); err != nil {
		return nil, err
	}
	cmds := Commands{{Update: t.delta(child, n.shared)}}
	for _, c := range child.escaped {
		u, err := t.adopt(c.Update, child, n)
		if err != nil {
			return nil, err
		}
		cmds = append(cmds, Command{Update: u, Goto: c.Goto})
	}
	k.child = nil
	return cmds, nil
}

// seed gives a child the values of the shared keys. It returns the keys whose values last for one superstep only.
func (t *Thread[C]) seed(from *view, shared []sharedKey) []int {
	var held []int
	put := func(key int, v any) {
		ch := t.graph.schema.keys[key]
		t.vals[key] = ch.copyOf(v)
		if ch.volatile() {
			held = append(held, key)
		}
	}
	if from.sent {
		for _, w := range from.packet {
			i, ok := t.graph.schema.byName[w.ch.name]
			if ok && t.graph.schema.keys[i].value == w.ch.value {
				put(i, w.val)
			}
		}
		return held
	}
	for _, s := range shared {
		if from.visible != nil && !from.visible[s.parent] {
			continue
		}
		if t.graph.inputs != nil && !t.graph.inputs[s.child] {
			continue
		}
		if v, ok := from.at(s.parent); ok {
			put(s.child, v)
		}
	}
	return held
}

// record records the changes of a subgraph's superstep for each key, so that the parent can repeat them.
func (t *Thread[C]) record() {
	for _, i := range t.held {
		delete(t.journal, i)
	}
	for _, s := range t.plan.stage {
		ch := t.graph.schema.keys[s.key]
		old := t.journal[s.key]
		final := Write{ch: ch, val: s.val}
		switch {
		case s.val == unset:
			delete(t.journal, s.key)
		case ch.kind == kindTopic:
			for _, w := range t.plan.writes[s.key] {
				old = append(old, w.Write)
			}
			t.journal[s.key] = old
		case ch.kind != kindReduce:
			t.journal[s.key] = []Write{final}
		default:
			replaced := len(old) == 1 && old[0].overwrite
			for _, w := range t.plan.writes[s.key] {
				replaced = replaced || w.overwrite
				old = append(old, w.Write)
			}
			if replaced {
				final.overwrite = true
				old = []Write{final}
			}
			t.journal[s.key] = old
		}
	}
}

// delta returns the child's journal as writes to the parent's keys.
func (t *Thread[C]) delta(child *Thread[C], shared []sharedKey) Update {
	u := Update{}
	for _, s := range shared {
		if child.graph.outputs != nil && !child.graph.outputs[s.child] {
			continue
		}
		for _, w := range child.journal[s.child] {
			w.ch = t.graph.schema.keys[s.parent]
			u = append(u, w)
		}
	}
	return u
}

// adopt turns the writes of a Command for the parent into writes to the parent's keys.
func (t *Thread[C]) adopt(u Update, child *Thread[C], n *node[C]) (Update, error) {
	out := make(Update, 0, len(u))
	for _, w := range u {
		if w.ch == nil {
			return nil, &InvalidUpdateError{Nodes: []string{n.name}, Reason: "an empty Write"}
		}
		if i, ok := child.graph.schema.index[w.ch]; ok {
			for _, s := range n.shared {
				if s.child == i {
					w.ch = t.graph.schema.keys[s.parent]
				}
			}
		}
		if _, err := t.keyOf(w, n.name); err != nil {
			return nil, err
		}
		out = append(out, w)
	}
	return out, nil
}
