package stategraph_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	sg "axiommind/workflows/stategraph"
)

// This file interprets the expressions of the case DSL, which nodes and routers compute. The values are those of
// encoding/json.

// binding reads and writes one key of a case's state.
type binding struct {
	key  sg.AnyKey
	get  func(sg.State) (any, bool)
	set  func(any) sg.Write
	over func(any) sg.Write
}

func bindValue(k sg.Value[any]) *binding {
	return &binding{key: k, get: k.Lookup, set: k.Set, over: k.Set}
}

type keySpec struct {
	Type       string          `json:"type"`
	Reducer    string          `json:"reducer"`
	Default    json.RawMessage `json:"default"`
	Guard      *bool           `json:"guard"`
	Accumulate bool            `json:"accumulate"`
	Unique     bool            `json:"unique"`
}

func bind(name string, spec keySpec) (*binding, error) {
	switch spec.Type {
	case "last", "ephemeral", "any":
		k := sg.LastValue[any](name)
		switch {
		case spec.Type == "any":
			k = sg.Any[any](name)
		case spec.Type == "ephemeral" && spec.Guard != nil && !*spec.Guard:
			k = sg.EphemeralUnguarded[any](name)
		case spec.Type == "ephemeral":
			k = sg.Ephemeral[any](name)
		}
		if spec.Default != nil {
			k = k.Default(decode(spec.Default))
		}
		return bindValue(k), nil
	case "binop":
		op, ok := reducers[spec.Reducer]
		if !ok {
			return nil, fmt.Errorf("unknown reducer %q", spec.Reducer)
		}
		k := sg.ReduceFirst(name, op)
		if spec.Default != nil {
			k = sg.Fold(name, op, decode(spec.Default))
		}
		return &binding{key: k, get: k.Lookup, set: k.Add, over: k.Overwrite}, nil
	case "topic":
		k := sg.Topic[any](name)
		if spec.Accumulate {
			k = k.Accumulate()
		}
		if spec.Unique {
			k = k.UniqueBy(func(v any) string { return string(encode(v)) })
		}
		get := func(s sg.State) (any, bool) {
			v, ok := k.Lookup(s)
			return any(v), ok
		}
		set := func(v any) sg.Write { return k.Add(listOf(v)...) }
		return &binding{key: k, get: get, set: set, over: set}, nil
	}
	return nil, fmt.Errorf("unknown key type %q", spec.Type)
}

var reducers = map[string]func(a, b any) (any, error){
	"append":     func(a, b any) (any, error) { return append(listOf(a), listOf(b)...), nil },
	"add":        func(a, b any) (any, error) { return number(a) + number(b), nil },
	"max":        func(a, b any) (any, error) { return max(number(a), number(b)), nil },
	"concat_str": func(a, b any) (any, error) { return text(a) + text(b), nil },
	"trace":      func(a, b any) (any, error) { return "(" + text(a) + "+" + text(b) + ")", nil },
	"merge": func(a, b any) (any, error) {
		out := map[string]any{}
		for _, v := range []any{a, b} {
			m, _ := v.(map[string]any)
			maps.Copy(out, m)
		}
		return out, nil
	},
	"union": func(a, b any) (any, error) {
		out := []any{}
		for _, v := range append(slices.Clone(listOf(a)), listOf(b)...) {
			if !slices.ContainsFunc(out, func(o any) bool { return bytes.Equal(encode(o), encode(v)) }) {
				out = append(out, v)
			}
		}
		return out, nil
	},
	"messages_by_id": mergeCaseMessages,
}

func decode(data []byte) any {
	var v any
	if json.Unmarshal(data, &v) != nil {
		return nil
	}
	return v
}

func encode(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return data
}

// fields lists the keys of a JSON object in the order they are written.
func fields(data []byte) ([]string, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	if tok, err := d.Token(); err != nil || tok != json.Delim('{') {
		return nil, errors.New("not a JSON object")
	}
	var names []string
	for d.More() {
		tok, err := d.Token()
		if err != nil {
			return nil, err
		}
		names = append(names, fmt.Sprint(tok))
		var skip json.RawMessage
		if err := d.Decode(&skip); err != nil {
			return nil, err
		}
	}
	return names, nil
}

func listOf(v any) []any {
	switch l := v.(type) {
	case nil:
		return nil
	case []any:
		return l
	default:
		return []any{v}
	}
}

func number(v any) float64 {
	switch n := v.(type) {
	case float64:
		return n
	case bool:
		if n {
			return 1
		}
	}
	return 0
}

func text(v any) string {
	switch x := v.(type) {
	case string:
		return x
	case float64:
		return strconv.FormatFloat(x, 'f', -1, 64)
	case nil:
		return "null"
	case []any:
		parts := make([]string, len(x))
		for i := range x {
			parts[i] = text(x[i])
		}
		return strings.Join(parts, ",")
	default:
		return string(encode(x))
	}
}

func truthy(v any) bool {
	switch x := v.(type) {
	case nil:
		return false
	case bool:
		return x
	case float64:
		return x != 0
	case string:
		return x != ""
	}
	return true
}

// Values an expression can have beyond JSON.
type (
	sendValue      struct{ target sg.Target }
	overwriteValue struct{ v any }
	commandsValue  []any
)

// scope contains the values that an expression can refer to.
type scope struct {
	state   sg.State
	attempt int
	failure error // the node's error, for its error handler
	keys    *keyring
}

// keyring finds the handle of a key by its name. A name outside the schema
// gets a handle of its own: in a packet it is private, in an update an error.
type keyring struct {
	schema  map[string]*binding
	private map[string]*binding
}

func (k *keyring) find(name string) *binding {
	if b := k.schema[name]; b != nil {
		return b
	}
	if k.private[name] == nil {
		k.private[name] = bindValue(sg.LastValue[any](name))
	}
	return k.private[name]
}

func (sc *scope) lookup(path string) (any, bool) {
	for name, v := range sc.state.All() {
		if name == path {
			return v, true
		}
		if rest, ok := strings.CutPrefix(path, name+"."); ok {
			for _, part := range strings.Split(rest, ".") {
				m, _ := v.(map[string]any)
				v = m[part]
			}
			return v, true
		}
	}
	return nil, false
}

func (sc *scope) eval(x any) (any, error) {
	switch e := x.(type) {
	case string:
		if path, ok := strings.CutPrefix(e, "$s."); ok {
			v, _ := sc.lookup(path)
			return v, nil
		}
		if path, ok := strings.CutPrefix(e, "$arg."); ok {
			v, _ := sc.lookup(path)
			return v, nil
		}
		switch {
		case e == "$attempt":
			return float64(sc.attempt), nil
		case strings.HasPrefix(e, "$error") && sc.failure != nil:
			return sc.failure.Error(), nil //nolint:nilerr // the message is what is asked for
		}
		return e, nil
	case []any:
		return sc.evalAll(e)
	case map[string]any:
		if len(e) == 1 {
			for op, arg := range e {
				if strings.HasPrefix(op, "$") {
					return sc.apply(op, arg)
				}
			}
		}
		out := make(map[string]any, len(e))
		for _, name := range slices.Sorted(maps.Keys(e)) {
			v, err := sc.eval(e[name])
			if err != nil {
				return nil, err
			}
			out[name] = v
		}
		return out, nil
	}
	return x, nil
}

func (sc *scope) evalAll(list []any) ([]any, error) {
	out := make([]any, len(list))
	for i := range list {
		v, err := sc.eval(list[i])
		if err != nil {
			return nil, err
		}
		out[i] = v
	}
	return out, nil
}

func (sc *scope) apply(op string, arg any) (any, error) {
	switch op {
	case "$has":
		_, ok := sc.lookup(text(arg))
		return ok, nil
	case "$keys":
		keys := []any{}
		for name := range sc.state.All() {
			keys = append(keys, name)
		}
		return keys, nil
	case "$null":
		return nil, nil
	case "$if":
		return sc.choose(listOf(arg))
	case "$interrupt":
		question, err := sc.eval(arg)
		if err != nil {
			return nil, err
		}
		return sg.Ask[any](sc.state, question)
	case "$sends":
		return sc.sends(arg)
	case "$commands":
		return commandsValue(listOf(arg)), nil
	}
	v, err := sc.eval(arg)
	if err != nil {
		return nil, err
	}
	if op == "$overwrite" {
		return overwriteValue{v}, nil
	}
	return sc.compute(op, v)
}

// compute applies an operator to evaluated operands.
func (sc *scope) compute(op string, v any) (any, error) {
	args := listOf(v)
	switch op {
	case "$len":
		if s, ok := v.(string); ok {
			return float64(len(s)), nil
		}
		if m, ok := v.(map[string]any); ok {
			return float64(len(m)), nil
		}
		return float64(len(args)), nil
	case "$add":
		sum := 0.0
		for _, a := range args {
			sum += number(a)
		}
		return sum, nil
	case "$concat":
		all := []any{}
		for _, a := range args {
			all = append(all, listOf(a)...)
		}
		return all, nil
	case "$cat":
		var b strings.Builder
		for _, a := range args {
			b.WriteString(text(a))
		}
		return b.String(), nil
	}
	if len(args) != 2 {
		return nil, fmt.Errorf("unknown operator %s of %d operands", op, len(args))
	}
	switch op {
	case "$eq":
		return bytes.Equal(encode(args[0]), encode(args[1])), nil
	case "$gt":
		return number(args[0]) > number(args[1]), nil
	case "$lt":
		return number(args[0]) < number(args[1]), nil
	case "$send":
		packet, _ := args[1].(map[string]any)
		return sendValue{sc.send(text(args[0]), packet)}, nil
	}
	return nil, fmt.Errorf("unknown operator %s", op)
}

func (sc *scope) choose(args []any) (any, error) {
	if len(args) != 3 {
		return nil, errors.New("$if takes three operands")
	}
	cond, err := sc.eval(args[0])
	if err != nil {
		return nil, err
	}
	if truthy(cond) {
		return sc.eval(args[1])
	}
	return sc.eval(args[2])
}

func (sc *scope) sends(arg any) (any, error) {
	m, _ := arg.(map[string]any)
	over, err := sc.eval(m["over"])
	if err != nil {
		return nil, err
	}
	out := []any{}
	for _, item := range listOf(over) {
		out = append(out, sendValue{sc.send(text(m["node"]), map[string]any{text(m["as"]): item})})
	}
	return out, nil
}

func (sc *scope) send(node string, packet map[string]any) sg.Target {
	var writes []sg.Write
	for _, name := range slices.Sorted(maps.Keys(packet)) {
		writes = append(writes, sc.keys.find(name).over(packet[name]))
	}
	return sg.Send(sentinel(node), writes...)
}

func sentinel(name string) string {
	switch name {
	case "START":
		return sg.START
	case "END":
		return sg.END
	}
	return name
}
