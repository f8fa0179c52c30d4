package stategraph

import (
	"fmt"
	"strconv"
)

// scratch is the state that a task keeps between executions.
type scratch struct {
	answers  []any
	asked    int
	waiting  bool
	question any
	once     bool // the run has no Thread to resume
	detached bool // a change from outside, which no node made
}

// Ask returns the answer to a question. If there is none yet, it returns an error, which the node must return and
// which stops the run until Thread.Resume gives the answer. The node then runs again from its beginning, so the code
// before Ask is repeated. Several questions of one node are answered in order. Under Graph.Run, which keeps no
// Thread, the error is ErrNotResumable.
func Ask[T any](s State, question any) (T, error) {
	var zero T
	if s.task == nil {
		return zero, &InvalidUpdateError{Reason: "Ask outside a node"}
	}
	i := s.task.asked
	s.task.asked++
	if i >= len(s.task.answers) {
		if s.task.once {
			return zero, ErrNotResumable
		}
		s.task.waiting, s.task.question = true, question
		return zero, ErrInterrupted
	}
	answer := s.task.answers[i]
	v, ok := answer.(T)
	if !ok && answer != nil {
		return zero, fmt.Errorf("answer to %v: got %T, want %T", question, answer, zero)
	}
	return v, nil
}

type waiting struct {
	Interrupt
	memo *scratch
}

// questions returns the questions that wait for an answer, in task order, subgraphs included.
func (t *Thread[C]) questions(path string) []waiting {
	var list []waiting
	for i := range t.tasks {
		k := &t.tasks[i]
		if k.done {
			continue
		}
		id := path + t.graph.nodeName(k.node)
		if k.index >= 0 {
			id += ":" + strconv.Itoa(k.index)
		}
		if k.child != nil {
			list = append(list, k.child.questions(id+"|")...)
			continue
		}
		if k.memo.waiting && len(k.memo.answers) < k.memo.asked {
			in := Interrupt{ID: id + "#" + strconv.Itoa(k.memo.asked), Node: t.graph.nodeName(k.node), Question: k.memo.question}
			list = append(list, waiting{in, &k.memo})
		}
	}
	return list
}
