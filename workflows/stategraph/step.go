package stategraph

import (
	"cmp"
	"errors"
	"slices"
)

// plan holds the changes that a superstep is going to make, and the buffers to compute them. The thread does not
// change before all changes are known to be valid.
type plan struct {
	writes  [][]nodeWrite // by key
	touched []int
	stage   []staged
	pulls   nodeSet
	defers  nodeSet
	sends   []Target
	sendTo  []int
	arms    []arm
}

func newPlan(nodes, keys int) plan {
	return plan{
		writes: make([][]nodeWrite, keys),
		pulls:  nodeSet{has: make([]bool, nodes)},
		defers: nodeSet{has: make([]bool, nodes)},
	}
}

func (p *plan) reset() {
	for _, i := range p.touched {
		clear(p.writes[i])
		p.writes[i] = p.writes[i][:0]
	}
	p.touched = p.touched[:0]
	clear(p.stage)
	p.stage = p.stage[:0]
	p.pulls.clear()
	p.defers.clear()
	clear(p.sends)
	p.sends, p.sendTo, p.arms = p.sends[:0], p.sendTo[:0], p.arms[:0]
}

// superstep runs the tasks that are not done. If all of them succeed, it applies their writes and determines the next
// tasks.
func (t *Thread[C]) superstep(ctx C) error {
	t.todo = t.todo[:0]
	for i := range t.tasks {
		if !t.tasks[i].done {
			t.todo = append(t.todo, i)
		}
	}
	t.runner.Run(ctx, len(t.todo), t.runTask)
	waiting := false
	for i := range t.tasks {
		k := &t.tasks[i]
		switch {
		case k.done:
		case errors.Is(k.err, ErrInterrupted):
			waiting = true
		case k.err != nil:
			return &NodeError{Node: t.graph.nodeName(k.node), Step: t.steps, Err: k.err}
		default:
			return &NodeError{Node: t.graph.nodeName(k.node), Step: t.steps, Err: ErrTaskLost}
		}
	}
	if waiting {
		return t.interrupted()
	}
	if err := t.applyTasks(t.tasks, true); err != nil {
		return err
	}
	t.advance()
	return nil
}

func (t *Thread[C]) execute(ctx C, k *task[C]) {
	n := &t.graph.nodes[k.node]
	k.err, k.memo.asked, k.memo.waiting = nil, 0, false
	var res Result
	err := guard(t.owner, func() (err error) {
		if n.child != nil {
			res, err = t.runChild(ctx, k, n)
		} else {
			res, err = n.fn(ctx, State{&k.view, &k.memo})
		}
		return err
	})
	if err == nil {
		err = k.take(res, n.name, t.nested)
	}
	k.err, k.done = err, err == nil
}

// take splits a node's result into writes, targets and parent commands.
func (k *task[C]) take(res Result, name string, nested bool) error {
	k.writes, k.goTo, k.parent = nil, nil, nil
	switch r := res.(type) {
	case nil:
	case Update:
		k.writes = r
	case Command:
		return k.command(r, name, nested)
	case Commands:
		if len(r) == 0 {
			return &InvalidUpdateError{Nodes: []string{name}, Reason: "Commands holds no Command"}
		}
		for _, c := range r {
			if err := k.command(c, name, nested); err != nil {
				return err
			}
		}
	}
	return nil
}

func (k *task[C]) command(c Command, name string, nested bool) error {
	if c.Parent {
		if !nested {
			return &InvalidUpdateError{Nodes: []string{name}, Reason: "a Command for the parent in a graph that has none"}
		}
		c.Parent = false
		k.parent = append(k.parent, c)
		return nil
	}
	if k.writes == nil {
		k.writes = c.Update
	} else {
		k.writes = slices.Concat(k.writes, c.Update)
	}
	k.goTo = append(k.goTo, c.Goto...)
	return nil
}

// applyTasks applies the writes of finished tasks and puts the next nodes into the plan. If it fails, nothing has
// changed. bump empties the keys that keep a value for one superstep only.
func (t *Thread[C]) applyTasks(tasks []task[C], bump bool) error {
	t.plan.reset()
	if err := t.collect(tasks); err != nil {
		return err
	}
	// If there are several tasks, run their routers first. A router's view of a list may grow in the same memory as
	// the superstep's own value.
	alone := len(tasks) == 1
	if !alone {
		if err := t.followAll(tasks); err != nil {
			return err
		}
	}
	if err := t.merge(); err != nil {
		return err
	}
	if alone {
		if err := t.follow(&tasks[0], true); err != nil {
			return err
		}
	}
	t.commit(bump)
	t.last = t.last[:0]
	for i := range tasks {
		t.escaped = append(t.escaped, tasks[i].parent...)
		if n := tasks[i].node; !tasks[i].memo.detached && !slices.Contains(t.last, n) {
			t.last = append(t.last, n)
		}
	}
	if t.opts.observe != nil {
		t.emit(tasks)
	}
	return nil
}

func (t *Thread[C]) followAll(tasks []task[C]) error {
	for i := range tasks {
		if err := t.follow(&tasks[i], false); err != nil {
			return err
		}
	}
	return nil
}

// merge computes the next values of the written keys.
func (t *Thread[C]) merge() error {
	for _, i := range t.plan.touched {
		v, seen, err := t.graph.schema.keys[i].merge(t.vals[i], t.seen[i], t.plan.writes[i], t.owner)
		if err != nil {
			return err
		}
		t.plan.stage = append(t.plan.stage, staged{i, v, seen})
	}
	return nil
}

// collect groups writes by key, in task order.
func (t *Thread[C]) collect(tasks []task[C]) error {
	p := &t.plan
	for i := range tasks {
		k := &tasks[i]
		name := t.graph.nodeName(k.node)
		for _, w := range k.writes {
			key, err := t.keyOf(w, name)
			if err != nil {
				return err
			}
			if len(p.writes[key]) == 0 {
				p.touched = append(p.touched, key)
			}
			p.writes[key] = append(p.writes[key], nodeWrite{w, name})
		}
	}
	slices.Sort(p.touched)
	return nil
}

func (t *Thread[C]) keyOf(w Write, node string) (int, error) {
	if w.ch == nil {
		return 0, &InvalidUpdateError{Nodes: []string{node}, Reason: "an empty Write"}
	}
	i, ok := t.graph.schema.index[w.ch]
	if !ok {
		return 0, &InvalidUpdateError{Channel: w.ch.name, Nodes: []string{node}, Values: []any{w.Value()},
			Reason: "the schema has no such key"}
	}
	return i, nil
}

// commit makes the plan's values the values of the thread.
func (t *Thread[C]) commit(bump bool) {
	p := &t.plan
	if t.journal != nil {
		t.record()
	}
	if bump {
		for _, i := range t.held {
			t.vals[i] = unset
		}
		t.held = t.held[:0]
	}
	for _, s := range p.stage {
		t.vals[s.key] = s.val
		if s.seen != nil {
			if t.seen == nil {
				t.seen = map[int]map[string]struct{}{}
			}
			t.seen[s.key] = s.seen
		}
		if t.graph.schema.keys[s.key].volatile() {
			t.held = append(t.held, s.key)
		}
	}
	t.arm()
	for _, i := range p.defers.members {
		t.deferred.add(i)
	}
}

// arm records in all joins which of their sources ran in the superstep, before any join is released. Several tasks of
// one node count once.
func (t *Thread[C]) arm() {
	for _, a := range t.plan.arms {
		if !t.arrived[a.join][a.source] {
			t.arrived[a.join][a.source] = true
			t.counts[a.join]++
		}
	}
	for _, a := range t.plan.arms {
		if join := &t.graph.joins[a.join]; t.counts[a.join] == len(join.from) {
			clear(t.arrived[a.join])
			t.counts[a.join] = 0
			t.trigger(join.to)
		}
	}
}

// advance replaces the tasks by those in the plan.
func (t *Thread[C]) advance() {
	clear(t.tasks)
	t.tasks = t.tasks[:0]
	t.enqueue()
}

// enqueue adds the plan's nodes to the tasks: nodes in order of name, then Sends in the order in which they were
// sent.
func (t *Thread[C]) enqueue() {
	p := &t.plan
	keep := len(t.tasks)
	sent := 0
	for i := range t.tasks {
		sent = max(sent, t.tasks[i].index+1)
	}
	t.tasks = slices.Grow(t.tasks, len(p.pulls.members)+len(p.sends))
	slices.Sort(p.pulls.members)
	for _, i := range p.pulls.members {
		if !t.pulled(i, keep) {
			t.addTask(i, -1, nil)
		}
	}
	for i, s := range p.sends {
		t.addTask(p.sendTo[i], sent+i, s.packet)
	}
	if keep > 0 {
		slices.SortFunc(t.tasks, func(a, b task[C]) int {
			if a.index >= 0 || b.index >= 0 {
				return cmp.Compare(a.index, b.index)
			}
			return cmp.Compare(a.node, b.node)
		})
	}
}

// pulled reports whether node is one of the tasks that existed before the plan.
func (t *Thread[C]) pulled(node, before int) bool {
	return slices.ContainsFunc(t.tasks[:before], func(k task[C]) bool { return k.node == node && k.index < 0 })
}

func (t *Thread[C]) addTask(node, index int, packet []Write) {
	k := task[C]{node: node, index: index, memo: scratch{once: t.once}}
	k.view = view{schema: t.graph.schema, vals: t.vals, visible: t.graph.nodes[node].visible}
	if index >= 0 {
		k.view = view{schema: t.graph.schema, packet: packet, sent: true}
	}
	t.tasks = append(t.tasks, k)
}

// preview computes, on copies, the values that the finished tasks of a stopped superstep would produce.
func (t *Thread[C]) preview() ([]staged, error) {
	writes := make(map[int][]nodeWrite)
	for i := range t.tasks {
		k := &t.tasks[i]
		if !k.done {
			continue
		}
		for _, w := range k.writes {
			key, err := t.keyOf(w, "")
			if err != nil {
				return nil, err
			}
			writes[key] = append(writes[key], nodeWrite{w, t.graph.nodeName(k.node)})
		}
	}
	var stage []staged
	for i, ch := range t.graph.schema.keys {
		if len(writes[i]) == 0 {
			continue
		}
		cur := t.vals[i]
		if cur != unset {
			cur = ch.copyOf(cur)
		}
		v, _, err := ch.merge(cur, t.seen[i], writes[i], t.owner)
		if err != nil {
			return nil, err
		}
		stage = append(stage, staged{key: i, val: v})
	}
	return stage, nil
}
