package stategraph

import (
	"iter"
	"slices"
)

// Event is an event of a run. If Node is set, Update holds the writes of a finished task of the node. Otherwise State
// is the state after the input or after a superstep that wrote something.
type Event struct {
	Step   int // superstep, from 1; 0 is the input
	Node   string
	Update Update
	State  State
}

// Values reports whether the event holds a state.
func (e Event) Values() bool { return e.Node == "" }

func (t *Thread[C]) emit(tasks []task[C]) {
	for i := range tasks {
		if k := &tasks[i]; k.node != start {
			t.send(Event{Step: t.steps, Node: t.graph.nodeName(k.node), Update: k.writes})
		}
	}
	if len(t.plan.touched) > 0 {
		t.emitValues()
	}
}

func (t *Thread[C]) emitValues() {
	t.send(Event{Step: t.steps, State: State{view: &view{
		schema: t.graph.schema, vals: slices.Clone(t.vals), visible: t.graph.outputs}}})
}

func (t *Thread[C]) send(e Event) {
	if !t.halted {
		t.halted = !t.opts.observe(e)
	}
}

// Stream runs the graph and yields its events as they happen. If the run fails, the last pair holds the error.
// Breaking out of the loop ends the run after the current superstep.
func (g *Graph[C]) Stream(ctx C, r Runner[C], input Update, opts ...RunOption) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		t := g.NewThread(r)
		t.once = true
		observe := func(o *runOptions) { o.observe = func(e Event) bool { return yield(e, nil) } }
		_, err := t.Invoke(ctx, input, append(slices.Clone(opts), observe)...)
		if err != nil && !t.halted {
			yield(Event{}, err)
		}
	}
}
