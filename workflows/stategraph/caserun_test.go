package stategraph_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	sg "axiommind/workflows/stategraph"
)

// This file runs the calls of a case and compares the results.

type caseFile struct {
	DSL   map[string]json.RawMessage `json:"dsl"`
	Cases []json.RawMessage          `json:"cases"`
}

type graphCase struct {
	ID           string     `json:"id"`
	Group        string     `json:"group"`
	Checkpointer bool       `json:"checkpointer"`
	Graph        caseGraph  `json:"graph"`
	Calls        []caseCall `json:"calls"`
	Expect       wanted     `json:"expect"`
	Ours         *struct {
		Expect *struct {
			wanted
			expectation
		} `json:"expect"`
		Calls []*expectation `json:"expect_calls"`
	} `json:"ours"`
}

type wanted struct {
	Calls      []expectation `json:"calls"`
	BuildError *caseError    `json:"build_error"`
}

type caseCall struct {
	Input        json.RawMessage `json:"input"`
	Resume       json.RawMessage `json:"resume"`
	Command      json.RawMessage `json:"command"`
	Limit        *int            `json:"recursion_limit"`
	Thread       json.RawMessage `json:"thread"`
	Stream       string          `json:"stream"`
	KeepAttempts bool            `json:"keep_attempts"`
	NoInvoke     bool            `json:"no_invoke"`
	UpdateState  *struct {
		Values map[string]any `json:"values"`
		AsNode string         `json:"as_node"`
	} `json:"update_state"`
}

type expectation struct {
	Result      json.RawMessage `json:"result"`
	Error       *caseError      `json:"error"`
	Executions  map[string]int  `json:"executions"`
	Interrupted *[]any          `json:"interrupted"`
	Chunks      *[]any          `json:"chunks"`
	State       *struct {
		Values     map[string]any `json:"values"`
		Next       []string       `json:"next"`
		Interrupts []any          `json:"interrupts"`
	} `json:"state"`
}

type caseError struct {
	Type  string `json:"type"`
	Phase string `json:"phase"`
}

// caseErrors maps a case's error type to errors of the engine.
var caseErrors = map[string]error{
	"InvalidUpdateError":   sg.ErrInvalidUpdate,
	"UnknownNodeError":     sg.ErrUnknownNode,
	"StuckJoinError":       sg.ErrStuckJoin,
	"UnreachableNodeError": sg.ErrUnreachable,
	"GraphValidationError": sg.ErrInvalidGraph,
	"GraphRecursionError":  sg.ErrRecursionLimit,
	"EmptyInputError":      sg.ErrEmptyInput,
	"AmbiguousResumeError": sg.ErrAmbiguousResume,
	"GraphValueError":      sg.ErrNotResumable,
}

func (e *caseError) match(got error) error {
	if got == nil {
		return fmt.Errorf("no error, want %s", e.Type)
	}
	if e.Type == "Error" {
		return nil
	}
	want, known := caseErrors[e.Type]
	if !known {
		return fmt.Errorf("unknown error type %q", e.Type)
	}
	if !errors.Is(got, want) {
		return fmt.Errorf("error is not %s: %w", e.Type, got)
	}
	return nil
}

// want returns the expectations of the case: `ours` replaces the observed ones.
func (c *graphCase) want() (build *caseError, calls []expectation) {
	build, calls = c.Expect.BuildError, slices.Clone(c.Expect.Calls)
	if c.Ours == nil {
		return build, calls
	}
	if e := c.Ours.Expect; e != nil {
		switch {
		case e.BuildError != nil:
			return e.BuildError, nil
		case e.Error != nil && e.Error.Phase == "compile":
			return e.Error, nil
		case e.Calls != nil:
			return nil, e.Calls
		}
		build, calls = nil, []expectation{e.expectation}
	}
	if decided := len(c.Ours.Calls); decided > 0 {
		// Observations after the last decided call follow from a behaviour that is not ours.
		calls = calls[:min(decided, len(calls))]
	}
	for i := range calls {
		if i < len(c.Ours.Calls) && c.Ours.Calls[i] != nil {
			calls[i] = *c.Ours.Calls[i]
		}
	}
	return build, calls
}

// caseRun is one case on one runner.
type caseRun[C sg.Context] struct {
	spec    *graphCase
	env     *caseEnv[C]
	runner  sg.Runner[C]
	graph   *sg.Graph[C]
	keys    *keyring
	threads map[string]*sg.Thread[C]
}

func runCase[C sg.Context](ctx C, spec *graphCase, runner sg.Runner[C], sleep func(C, int)) error {
	r := &caseRun[C]{spec: spec, runner: runner, threads: map[string]*sg.Thread[C]{},
		env: &caseEnv[C]{sleep: sleep, tries: map[string]int{}, runs: map[string]int{}}}
	build, calls := spec.want()
	var err error
	r.graph, r.keys, err = compileCase(r.env, &spec.Graph)
	if build != nil {
		return build.match(err)
	}
	if err != nil {
		return err
	}
	if len(calls) > len(spec.Calls) || (spec.Ours == nil && len(calls) < len(spec.Calls)) {
		return fmt.Errorf("%d calls and %d expectations", len(spec.Calls), len(calls))
	}
	for i := range calls {
		if err := r.call(ctx, &spec.Calls[i], &calls[i]); err != nil {
			return fmt.Errorf("call %d: %w", i, err)
		}
	}
	return nil
}

func (r *caseRun[C]) call(ctx C, call *caseCall, want *expectation) error {
	r.env.runs = map[string]int{}
	if !call.KeepAttempts {
		r.env.tries = map[string]int{}
	}
	th := r.threads[string(call.Thread)]
	if th == nil {
		th = r.graph.NewThread(r.runner)
		if r.spec.Checkpointer {
			r.threads[string(call.Thread)] = th
		}
	}
	var values, updates []any
	opts := []sg.RunOption{sg.Observe(func(e sg.Event) {
		if e.Values() {
			values = append(values, plain(e.State))
		} else {
			updates = append(updates, map[string]any{e.Node: plainUpdate(e.Update)})
		}
	})}
	if call.Limit != nil {
		opts = append(opts, sg.RecursionLimit(*call.Limit))
	}
	state, err := r.invoke(ctx, th, call, opts)
	got := outcome{err: err, result: plain(state), chunks: values, silent: call.NoInvoke}
	if len(values) == 0 && reflect.DeepEqual(got.result, plain(r.graph.NewThread(r.runner).State())) {
		got.result = map[string]any{} // the reference returns the last streamed value
	}
	if call.Stream == "updates" {
		got.chunks = updates
	}
	return r.compare(th, want, got)
}

func (r *caseRun[C]) invoke(ctx C, th *sg.Thread[C], call *caseCall, opts []sg.RunOption) (sg.State, error) {
	if u := call.UpdateState; u != nil {
		if err := th.UpdateAs(sentinel(u.AsNode), r.update(u.Values)); err != nil || call.NoInvoke {
			return sg.State{}, err
		}
	}
	if call.Command != nil {
		if err := r.command(th, call.Command); err != nil {
			return sg.State{}, err
		}
	}
	switch {
	case call.Resume != nil:
		return th.Resume(ctx, decode(call.Resume), opts...)
	case call.Input == nil || string(call.Input) == "null":
		return th.Continue(ctx, opts...)
	}
	input, ok := decode(call.Input).(map[string]any)
	if !ok {
		return sg.State{}, errors.New("input is not an object")
	}
	if !r.spec.Checkpointer {
		return r.graph.Run(ctx, r.runner, r.update(input), opts...)
	}
	return th.Invoke(ctx, r.update(input), opts...)
}

// update reads an update from outside the graph, $overwrite included.
func (r *caseRun[C]) update(m map[string]any) sg.Update {
	v, _ := (&scope{keys: r.keys}).eval(m)
	values, _ := v.(map[string]any)
	return updateOf(r.keys, values)
}

func (r *caseRun[C]) command(th *sg.Thread[C], raw json.RawMessage) error {
	var spec struct {
		Update map[string]any `json:"update"`
		Goto   any            `json:"goto"`
	}
	if err := json.Unmarshal(raw, &spec); err != nil {
		return err
	}
	cmd := sg.Command{Update: r.update(spec.Update)}
	if spec.Goto != nil {
		to, err := (&scope{keys: r.keys}).eval(spec.Goto)
		if err != nil {
			return err
		}
		if cmd.Goto, err = targets(to); err != nil {
			return err
		}
	}
	return th.Apply(cmd)
}

type outcome struct {
	err    error
	result any
	chunks []any
	silent bool
}

func (r *caseRun[C]) compare(th *sg.Thread[C], want *expectation, got outcome) error {
	var stop *sg.InterruptError
	switch {
	case want.Error != nil:
		if err := want.Error.match(got.err); err != nil {
			return err
		}
	case errors.As(got.err, &stop):
		if want.Interrupted == nil {
			return got.err
		}
		if err := same("interrupted", questions(stop.Pending), *want.Interrupted); err != nil {
			return err
		}
	case got.err != nil:
		return got.err
	case want.Interrupted != nil:
		return errors.New("not interrupted")
	}
	if want.Result != nil && !got.silent {
		if err := same("result", got.result, decode(want.Result)); err != nil {
			return err
		}
	}
	if want.Chunks != nil {
		if err := same("chunks", got.chunks, *want.Chunks); err != nil {
			return err
		}
	}
	if want.Executions != nil {
		if err := same("executions", r.env.runs, want.Executions); err != nil {
			return err
		}
	}
	if want.State == nil {
		return nil
	}
	return errors.Join(
		same("state values", plain(th.State()), want.State.Values),
		same("state next", th.Next(), want.State.Next),
		same("state interrupts", questions(th.Interrupts()), want.State.Interrupts))
}

func same(what string, got, want any) error {
	g, w := string(encode(got)), string(encode(want))
	if g == w || (isEmpty(g) && isEmpty(w)) {
		return nil
	}
	return fmt.Errorf("%s: got %s, want %s", what, g, w)
}

func isEmpty(list string) bool { return list == "null" || list == "[]" }

func plain(s sg.State) any {
	m := map[string]any{}
	for name, v := range s.All() {
		m[name] = v
	}
	return m
}

func plainUpdate(u sg.Update) any {
	m := map[string]any{}
	for _, w := range u {
		m[w.Key()] = w.Value()
	}
	return m
}

func questions(list []sg.Interrupt) []any {
	out := []any{}
	for _, q := range list {
		out = append(out, q.Question)
	}
	return out
}

func mergeCaseMessages(a, b any) (any, error) {
	id := sg.Identity[any]{
		ID: func(m any) string {
			fields, _ := m.(map[string]any)
			s, _ := fields["id"].(string)
			return s
		},
		Assign: func(m any, n int) any {
			out := map[string]any{}
			fields, _ := m.(map[string]any)
			maps.Copy(out, fields)
			out["id"] = sg.StableID(n, string(encode(m)))
			return out
		},
	}
	var changes []sg.MessageChange[any]
	for _, m := range listOf(b) {
		if fields, _ := m.(map[string]any); truthy(fields["remove"]) {
			changes = append(changes, sg.RemoveMessage[any](id.ID(m)))
			continue
		}
		changes = append(changes, sg.AddMessage(m))
	}
	merged, err := id.Merge(listOf(a), changes)
	if merged == nil {
		merged = []any{}
	}
	return merged, err
}
