package stategraph

import (
	"cmp"
	"errors"
	"slices"
)

// DefaultRecursionLimit is the default maximum number of supersteps in a run.
const DefaultRecursionLimit = 25

// RunOption is an option of one run.
type RunOption func(*runOptions)

type runOptions struct {
	limit   int
	observe func(Event) bool
}

// RecursionLimit limits a run to n supersteps. Each subgraph counts its own. A graph that finishes in exactly n
// supersteps succeeds.
func RecursionLimit(n int) RunOption { return func(o *runOptions) { o.limit = n } }

// Observe calls fn for each event of the run. The order is the same in every run.
func Observe(fn func(Event)) RunOption {
	return func(o *runOptions) {
		o.observe = func(e Event) bool {
			fn(e)
			return true
		}
	}
}

// Run runs the graph once with the input. Use Update{} for an input without values. A nil Update is ErrEmptyInput.
func (g *Graph[C]) Run(ctx C, r Runner[C], input Update, opts ...RunOption) (State, error) {
	t := g.NewThread(r)
	t.once = true
	return t.Invoke(ctx, input, opts...)
}

// Thread is a run that can stop and continue: at a breakpoint, a question or an error. It exists only in memory. The
// workflow that contains it makes it durable. It is not safe for concurrent use.
type Thread[C Context] struct {
	graph  *Graph[C]
	runner Runner[C]
	owner  PanicOwner
	opts   runOptions

	vals     []any
	seen     map[int]map[string]struct{}
	held     []int // keys to be emptied unless the next superstep writes them
	tasks    []task[C]
	deferred nodeSet
	arrived  [][]bool
	counts   []int
	started  bool
	pass     bool // the breakpoint before the pending tasks was taken
	steps    int
	last     []int // nodes of the last applied superstep

	once    bool // nothing can resume it
	nested  bool // it runs a subgraph
	journal map[int][]Write
	escaped []Command

	plan    plan
	todo    []int // indexes of the tasks to run
	runTask func(ctx C, i int)
	halted  bool // the consumer of events wants no more
}

// task is one execution of a node in a superstep.
type task[C Context] struct {
	node   int
	index  int // of the Send, -1 for a node reached by an edge
	view   view
	memo   scratch
	done   bool
	err    error
	writes Update
	goTo   []Target
	parent []Command
	child  *Thread[C]
}

// nodeSet is a set of node indexes that can list its members.
type nodeSet struct {
	has     []bool
	members []int
}

func (s *nodeSet) add(i int) {
	if !s.has[i] {
		s.has[i] = true
		s.members = append(s.members, i)
	}
}

func (s *nodeSet) clear() {
	for _, i := range s.members {
		s.has[i] = false
	}
	s.members = s.members[:0]
}

// NewThread returns a thread without input.
func (g *Graph[C]) NewThread(r Runner[C]) *Thread[C] {
	t := &Thread[C]{
		graph: g, runner: r,
		vals:    make([]any, len(g.schema.keys)),
		arrived: make([][]bool, len(g.joins)),
		counts:  make([]int, len(g.joins)),
	}
	t.owner, _ = r.(PanicOwner)
	for i := range t.vals {
		t.vals[i] = unset
	}
	for i := range t.arrived {
		t.arrived[i] = make([]bool, len(g.joins[i].from))
	}
	t.deferred.has = make([]bool, len(g.nodes))
	t.runTask = func(ctx C, i int) { t.execute(ctx, &t.tasks[t.todo[i]]) }
	t.plan = newPlan(len(g.nodes), len(g.schema.keys))
	return t
}

func (t *Thread[C]) configure(opts []RunOption) error {
	t.opts = runOptions{limit: DefaultRecursionLimit}
	for _, opt := range opts {
		opt(&t.opts)
	}
	if t.opts.limit < 1 {
		return ErrInvalidLimit
	}
	t.steps, t.pass, t.halted = 0, false, false
	return nil
}

// Invoke applies input and runs from START until nothing is left to do. If the thread ran before, its values are kept
// and its pending tasks are dropped.
func (t *Thread[C]) Invoke(ctx C, input Update, opts ...RunOption) (State, error) {
	if err := t.configure(opts); err != nil {
		return State{}, err
	}
	if input == nil {
		return State{}, ErrEmptyInput
	}
	if err := t.begin(input); err != nil {
		return State{}, err
	}
	return t.result(t.loop(ctx))
}

func (t *Thread[C]) begin(input Update) error {
	t.discard()
	first := []task[C]{{node: start, index: -1, done: true, writes: t.accept(input)}}
	if err := t.applyTasks(first, true); err != nil {
		return err
	}
	t.started = true
	t.advance()
	return nil
}

// start is the index of START when it is a node.
const start = -1

// accept removes known keys that are not input keys from the input.
func (t *Thread[C]) accept(input Update) Update {
	if t.graph.inputs == nil {
		return input
	}
	return slices.DeleteFunc(slices.Clone(input), func(w Write) bool {
		i, known := t.graph.schema.index[w.ch]
		return known && !t.graph.inputs[i]
	})
}

func (t *Thread[C]) discard() {
	t.tasks = t.tasks[:0]
	t.deferred.clear()
	for j := range t.arrived {
		clear(t.arrived[j])
		t.counts[j] = 0
	}
}

// Continue continues the run where it stopped. After an error, only the tasks that did not finish run again. On a
// finished thread nothing runs.
func (t *Thread[C]) Continue(ctx C, opts ...RunOption) (State, error) {
	if err := t.configure(opts); err != nil {
		return State{}, err
	}
	if !t.started {
		return State{}, ErrEmptyInput
	}
	t.pass = true
	if t.opts.observe != nil {
		t.emitValues()
	}
	return t.result(t.loop(ctx))
}

// Resume answers the only pending question and continues. If several are pending, it returns ErrAmbiguousResume. Use
// ResumeAll then.
func (t *Thread[C]) Resume(ctx C, answer any, opts ...RunOption) (State, error) {
	pending := t.questions("")
	if len(pending) > 1 {
		return State{}, ErrAmbiguousResume
	}
	for _, q := range pending {
		q.memo.answers = append(q.memo.answers, answer)
	}
	return t.Continue(ctx, opts...)
}

// ResumeAll answers pending questions by ID and continues. If an ID is not pending, it returns ErrAmbiguousResume and
// answers none.
func (t *Thread[C]) ResumeAll(ctx C, answers map[string]any, opts ...RunOption) (State, error) {
	pending := t.questions("")
	known := 0
	for _, q := range pending {
		if _, ok := answers[q.ID]; ok {
			known++
		}
	}
	if known != len(answers) {
		return State{}, ErrAmbiguousResume
	}
	for _, q := range pending {
		if a, ok := answers[q.ID]; ok {
			q.memo.answers = append(q.memo.answers, a)
		}
	}
	return t.Continue(ctx, opts...)
}

// Apply applies a command from outside the graph. Its writes take effect at once. Its targets are added to the
// pending tasks, which Continue runs.
func (t *Thread[C]) Apply(cmd Command) error {
	outside := []task[C]{{node: start, index: -1, done: true, writes: cmd.Update, goTo: cmd.Goto}}
	outside[0].memo.detached = true
	if err := t.applyTasks(outside, false); err != nil {
		return err
	}
	t.started = true
	t.enqueue()
	return nil
}

// UpdateAs applies u as if the node had just run, and replaces the pending tasks by the successors of that node. An
// empty name means the only node of the last superstep. END drops the pending tasks.
func (t *Thread[C]) UpdateAs(name string, u Update) error {
	if name == "" {
		if len(t.last) != 1 {
			return &InvalidUpdateError{Reason: "ambiguous: several nodes may have made it, name one"}
		}
		name = t.graph.nodeName(t.last[0])
	}
	as := task[C]{node: start, index: -1, done: true, writes: u}
	if i, ok := t.graph.byName[name]; ok {
		as.node = i
	} else if name == END {
		as.memo.detached = true
	} else if name != START {
		err := &UnknownNodeError{Target: name}
		return &InvalidUpdateError{Nodes: []string{name}, Reason: err.Error(), Err: err}
	}
	if err := t.applyTasks([]task[C]{as}, true); err != nil {
		return err
	}
	t.started = true
	t.tasks = t.tasks[:0]
	t.advance()
	return nil
}

// State returns the state as if the finished tasks of an interrupted superstep had been applied.
func (t *Thread[C]) State() State {
	vals := slices.Clone(t.vals)
	if slices.ContainsFunc(t.tasks, func(k task[C]) bool { return k.done && len(k.writes) > 0 }) {
		if stage, err := t.preview(); err == nil {
			for _, s := range stage {
				vals[s.key] = s.val
			}
		}
	}
	return State{view: &view{schema: t.graph.schema, vals: vals, visible: t.graph.outputs}}
}

// Next returns the names of the nodes to run next, in order.
func (t *Thread[C]) Next() []string {
	var names []string
	for i := range t.tasks {
		if k := &t.tasks[i]; !k.done {
			names = append(names, t.graph.nodeName(k.node))
		}
	}
	if len(t.tasks) == 0 {
		for _, i := range slices.Sorted(slices.Values(t.deferred.members)) {
			names = append(names, t.graph.nodeName(i))
		}
	}
	return names
}

// Interrupts returns the questions that wait for an answer, in order.
func (t *Thread[C]) Interrupts() []Interrupt {
	var list []Interrupt
	for _, q := range t.questions("") {
		list = append(list, q.Interrupt)
	}
	return list
}

func (t *Thread[C]) result(err error) (State, error) {
	if err != nil && !errors.Is(err, ErrInterrupted) {
		return State{}, err
	}
	return t.State(), err
}

func (t *Thread[C]) interrupted() error {
	return &InterruptError{Pending: t.Interrupts(), Next: t.Next()}
}

// loop runs supersteps until nothing is left to do.
func (t *Thread[C]) loop(ctx C) error {
	for !t.halted {
		if len(t.tasks) == 0 && !t.release() {
			return t.checkJoins()
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if !t.pass && t.stopsAt(t.graph.before) {
			return t.interrupted()
		}
		t.pass = false
		if t.steps >= t.opts.limit {
			return &RecursionError{Limit: t.opts.limit, Next: t.Next()}
		}
		t.steps++
		if err := t.superstep(ctx); err != nil {
			return err
		}
		if len(t.escaped) > 0 {
			return nil
		}
		if t.ranBreak() && (len(t.tasks) > 0 || len(t.deferred.members) > 0) {
			return t.interrupted()
		}
	}
	return nil
}

func (t *Thread[C]) stopsAt(set []bool) bool {
	return set != nil && slices.ContainsFunc(t.tasks, func(k task[C]) bool { return set[k.node] })
}

func (t *Thread[C]) ranBreak() bool {
	return t.graph.after != nil && slices.ContainsFunc(t.last, func(i int) bool { return t.graph.after[i] })
}

// release turns the deferred nodes into tasks if nothing else is left.
func (t *Thread[C]) release() bool {
	if len(t.deferred.members) == 0 {
		return false
	}
	slices.SortFunc(t.deferred.members, cmp.Compare)
	for _, i := range t.deferred.members {
		t.addTask(i, -1, nil)
	}
	t.deferred.clear()
	return true
}

func (t *Thread[C]) checkJoins() error {
	var stuck []WaitingJoin
	for j, join := range t.graph.joins {
		if t.counts[j] == 0 || join.optional {
			continue
		}
		w := WaitingJoin{To: t.graph.nodeName(join.to)}
		for pos, i := range join.from {
			if !t.arrived[j][pos] {
				w.Missing = append(w.Missing, t.graph.nodeName(i))
			}
		}
		stuck = append(stuck, w)
	}
	if stuck != nil {
		return &StuckJoinError{Joins: stuck}
	}
	return nil
}
