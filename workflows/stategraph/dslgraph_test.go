package stategraph_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	sg "axiommind/workflows/stategraph"
)

// This file interprets the graphs of the case DSL.

type caseGraph struct {
	State           json.RawMessage `json:"state"`
	InputSchema     json.RawMessage `json:"input_schema"`
	OutputSchema    json.RawMessage `json:"output_schema"`
	InterruptBefore nameList        `json:"interrupt_before"`
	InterruptAfter  nameList        `json:"interrupt_after"`
	Build           []buildCall     `json:"build"`
}

// nameList is a list of node names, or "*" for all.
type nameList []string

func (l *nameList) UnmarshalJSON(data []byte) error {
	*l = nil
	for _, name := range listOf(decode(data)) {
		*l = append(*l, text(name))
	}
	return nil
}

func (l nameList) in(build []buildCall) []string {
	if !slices.Contains(l, "*") {
		return l
	}
	var all []string
	for _, c := range build {
		if c.Node != nil {
			all = append(all, *c.Node)
		}
	}
	return all
}

type buildCall struct {
	Node     *string    `json:"node"`
	Do       *action    `json:"do"`
	Ends     []string   `json:"ends"`
	Defer    bool       `json:"defer"`
	Retry    *retrySpec `json:"retry"`
	Input    json.RawMessage
	OnError  *action    `json:"on_error"`
	Subgraph *caseGraph `json:"subgraph"`
	Edge     []json.RawMessage
	Cond     *condSpec
}

type retrySpec struct {
	MaxAttempts int `json:"maxAttempts"`
}

type condSpec struct {
	From    string          `json:"from"`
	To      any             `json:"to"`
	PathMap json.RawMessage `json:"path_map"`
	Name    string          `json:"name"`
}

type action struct {
	Return  json.RawMessage `json:"return"`
	Command *struct {
		Update any    `json:"update"`
		Goto   any    `json:"goto"`
		Graph  string `json:"graph"`
	} `json:"command"`
	Throw     *string `json:"throw"`
	FailTimes int     `json:"fail_times"`
	SleepMS   int     `json:"sleep_ms"`
	Push      *struct {
		Key   string `json:"key"`
		Value any    `json:"value"`
	} `json:"push_in_place"`
	Then *action `json:"then"`
}

// caseEnv is the environment in which the nodes of a case run. It counts their runs.
type caseEnv[C sg.Context] struct {
	sleep func(ctx C, ms int)
	mu    sync.Mutex
	tries map[string]int
	runs  map[string]int
}

func (w *caseEnv[C]) enter(node string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tries[node]++
	w.runs[node]++
	return w.tries[node]
}

// builder turns one caseGraph into a compiled graph.
type builder[C sg.Context] struct {
	env    *caseEnv[C]
	schema *sg.Schema
	keys   *keyring
	graph  *sg.StateGraph[C]
}

func compileCase[C sg.Context](w *caseEnv[C], spec *caseGraph) (*sg.Graph[C], *keyring, error) {
	b := &builder[C]{env: w, keys: &keyring{schema: map[string]*binding{}, private: map[string]*binding{}}}
	if err := b.declare(spec); err != nil {
		return nil, nil, err
	}
	for i := range spec.Build {
		if err := b.call(&spec.Build[i]); err != nil {
			return nil, nil, err
		}
	}
	g, err := b.graph.InterruptBefore(spec.InterruptBefore.in(spec.Build)...).
		InterruptAfter(spec.InterruptAfter.in(spec.Build)...).Compile()
	return g, b.keys, err
}

// declare makes the schema: the state, and the keys that only an input,
// output or node schema names.
func (b *builder[C]) declare(spec *caseGraph) error {
	var order []sg.AnyKey
	add := func(raw json.RawMessage) ([]sg.AnyKey, error) {
		names, specs, err := keySpecs(raw)
		if err != nil {
			return nil, err
		}
		var keys []sg.AnyKey
		for _, name := range names {
			if b.keys.schema[name] == nil {
				if b.keys.schema[name], err = bind(name, specs[name]); err != nil {
					return nil, err
				}
				order = append(order, b.keys.schema[name].key)
			}
			keys = append(keys, b.keys.schema[name].key)
		}
		return keys, nil
	}
	state, err := add(spec.State)
	if err != nil {
		return err
	}
	input, err := add(spec.InputSchema)
	if err != nil {
		return err
	}
	output, err := add(spec.OutputSchema)
	if err != nil {
		return err
	}
	for _, call := range spec.Build {
		if _, err := add(call.Input); err != nil {
			return err
		}
	}
	b.schema = sg.Root(order...)
	b.graph = sg.New[C](b.schema)
	if spec.InputSchema != nil {
		b.graph.InputKeys(input...)
	}
	if spec.OutputSchema == nil {
		output = state
	}
	b.graph.OutputKeys(output...)
	return nil
}

// keySpecs reads a schema: an object of key specs, or a list of key names.
func keySpecs(raw json.RawMessage) ([]string, map[string]keySpec, error) {
	if raw == nil {
		return nil, nil, nil
	}
	specs := map[string]keySpec{}
	var list []string
	if json.Unmarshal(raw, &list) == nil {
		for _, name := range list {
			specs[name] = keySpec{Type: "last"}
		}
		return list, specs, nil
	}
	if err := json.Unmarshal(raw, &specs); err != nil {
		return nil, nil, fmt.Errorf("read key specs: %w", err)
	}
	names, err := fields(raw)
	return names, specs, err
}

func (b *builder[C]) call(c *buildCall) error {
	switch {
	case c.Node != nil:
		return b.node(c)
	case c.Edge != nil:
		if len(c.Edge) != 2 {
			return errors.New("an edge has two ends")
		}
		var from []string
		to, one := text(decode(c.Edge[1])), decode(c.Edge[0])
		for _, f := range listOf(one) {
			from = append(from, sentinel(text(f)))
		}
		if _, single := one.(string); single {
			b.graph.AddEdge(from[0], sentinel(to))
		} else {
			b.graph.AddJoin(from, sentinel(to))
		}
		return nil
	case c.Cond != nil:
		return b.cond(c.Cond)
	}
	return errors.New("unknown build call")
}

func (b *builder[C]) cond(c *condSpec) error {
	var paths sg.PathMap
	switch m := decode(c.PathMap).(type) {
	case []any:
		paths = sg.PathMap{}
		for _, name := range m {
			paths[sentinel(text(name))] = sentinel(text(name))
		}
	case map[string]any:
		paths = sg.PathMap{}
		for label, name := range m {
			paths[sentinel(label)] = sentinel(text(name))
		}
	}
	name := c.Name
	if name == "" {
		name = "condition"
	}
	b.graph.AddConditionalEdges(sentinel(c.From), name, func(s sg.State) ([]sg.Target, error) {
		v, err := (&scope{state: s, keys: b.keys}).eval(c.To)
		if err != nil {
			return nil, err
		}
		return targets(v)
	}, paths)
	return nil
}

func targets(v any) ([]sg.Target, error) {
	var out []sg.Target
	list, many := v.([]any)
	if !many {
		list = []any{v}
	}
	for _, item := range list {
		switch t := item.(type) {
		case string:
			out = append(out, sg.To(sentinel(t)))
		case sendValue:
			out = append(out, t.target)
		default:
			return nil, fmt.Errorf("a route cannot be %v", item)
		}
	}
	return out, nil
}

func (b *builder[C]) node(c *buildCall) error {
	name := sentinel(*c.Node)
	var opts []sg.NodeOption
	if c.Defer {
		opts = append(opts, sg.Deferred())
	}
	for _, e := range c.Ends {
		opts = append(opts, sg.Ends(sentinel(e)))
	}
	if c.Input != nil {
		names, _, err := keySpecs(c.Input)
		if err != nil {
			return err
		}
		opts = append(opts, sg.Input())
		for _, n := range names {
			opts = append(opts, sg.Input(b.keys.schema[n].key))
		}
	}
	if c.Subgraph != nil {
		child, _, err := compileCase(b.env, c.Subgraph)
		if err != nil {
			return err
		}
		b.graph.AddSubgraph(name, child, opts...)
		return nil
	}
	attempts := 1
	if c.Retry != nil {
		attempts = max(c.Retry.MaxAttempts, 1)
	}
	b.graph.AddNode(name, func(ctx C, s sg.State) (res sg.Result, err error) {
		sc := &scope{state: s, keys: b.keys}
		for range attempts {
			sc.attempt = b.env.enter(name)
			res, err = b.act(ctx, sc, c.Do)
			if err == nil || errors.Is(err, sg.ErrInterrupted) || errors.Is(err, sg.ErrInvalidUpdate) {
				return res, err
			}
		}
		if sc.failure = err; c.OnError != nil {
			return b.act(ctx, sc, c.OnError)
		}
		return nil, err
	}, opts...)
	return nil
}

func (b *builder[C]) act(ctx C, sc *scope, a *action) (sg.Result, error) {
	if a == nil {
		return nil, nil
	}
	if a.SleepMS > 0 {
		b.env.sleep(ctx, a.SleepMS)
	}
	if sc.attempt <= a.FailTimes {
		return nil, errors.New("boom")
	}
	if a.Push != nil {
		if list, ok := sc.lookup(a.Push.Key); ok {
			l := listOf(list)
			for i := range l {
				l[i] = a.Push.Value
			}
			_ = append(l, a.Push.Value)
		}
	}
	switch {
	case a.Throw != nil:
		return nil, errors.New(*a.Throw)
	case a.Command != nil:
		return b.command(sc, a.Command.Update, a.Command.Goto, a.Command.Graph)
	case a.Return != nil:
		v, err := sc.eval(decode(a.Return))
		if err != nil {
			return nil, err
		}
		return b.result(sc, v)
	}
	return b.act(ctx, sc, a.Then)
}

// result converts the value of a node's expression into its result. JavaScript treats falsy values as no update.
func (b *builder[C]) result(sc *scope, v any) (sg.Result, error) {
	switch r := v.(type) {
	case map[string]any:
		return b.update(r), nil
	case commandsValue:
		cmds := sg.Commands{}
		for _, item := range r {
			m, _ := item.(map[string]any)
			c, err := b.command(sc, m["update"], m["goto"], "")
			if err != nil {
				return nil, err
			}
			cmds = append(cmds, c)
		}
		return cmds, nil
	case []any:
		if len(r) == 0 {
			return sg.Commands{}, nil
		}
	}
	if !truthy(v) {
		return nil, nil
	}
	return b.schema.Decode(encode(v))
}

func (b *builder[C]) update(m map[string]any) sg.Update { return updateOf(b.keys, m) }

func updateOf(keys *keyring, m map[string]any) sg.Update {
	u := sg.Update{}
	for _, name := range slices.Sorted(maps.Keys(m)) {
		k := keys.find(name)
		if o, ok := m[name].(overwriteValue); ok {
			u = append(u, k.over(o.v))
		} else {
			u = append(u, k.set(m[name]))
		}
	}
	return u
}

func (b *builder[C]) command(sc *scope, update, to any, graph string) (sg.Command, error) {
	cmd := sg.Command{Parent: graph == "PARENT"}
	u, err := sc.eval(update)
	if err != nil {
		return cmd, err
	}
	if m, ok := u.(map[string]any); ok {
		cmd.Update = b.update(m)
	}
	if to == nil {
		return cmd, nil
	}
	v, err := sc.eval(to)
	if err != nil {
		return cmd, err
	}
	cmd.Goto, err = targets(v)
	return cmd, err
}
