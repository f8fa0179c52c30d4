package idris

import (
	"fmt"
	"reflect"
	"strings"
)

// made is a value of a constructor.
type made struct {
	constructor string
	args        []any
}

// scope has the values of variables.
type scope map[string]any

// eval evaluates a term whose types are right.
func (f *fragment) eval(e *expr, vars scope) any {
	switch e.op {
	case "int":
		return e.n
	case "str":
		return e.text
	case "list":
		out := []any{}
		for _, a := range e.args {
			out = append(out, f.eval(a, vars))
		}
		return out
	case "var":
		return f.call(e.name, nil, vars)
	case "bin":
		return f.operate(e, vars)
	}
	if e.args[0].name == "the" {
		return f.eval(e.args[2], vars)
	}
	args := make([]any, 0, len(e.args))
	for _, a := range e.args[1:] {
		args = append(args, f.eval(a, vars))
	}
	return f.call(e.args[0].name, args, vars)
}

func (f *fragment) operate(e *expr, vars scope) any {
	left := f.eval(e.args[0], vars)
	switch e.name {
	case "||":
		return left.(bool) || f.eval(e.args[1], vars).(bool)
	case "&&":
		return left.(bool) && f.eval(e.args[1], vars).(bool)
	}
	right := f.eval(e.args[1], vars)
	switch e.name {
	case "::":
		return append([]any{left}, right.([]any)...)
	case "<":
		return left.(int) < right.(int)
	case "<=":
		return left.(int) <= right.(int)
	default:
		return left == right
	}
}

func (f *fragment) call(name string, args []any, vars scope) any {
	if v, ok := vars[name]; ok {
		return v
	}
	switch name {
	case "True", "False":
		return name == "True"
	case "not":
		return !args[0].(bool)
	}
	if f.constructors[name] != nil {
		return made{name, args}
	}
	for _, c := range f.declared[name].clauses {
		local := scope{}
		if matches(c.patterns, args, local) {
			return f.eval(c.body, local)
		}
	}
	panic("no clause of " + name + " matches")
}

func matches(patterns []*expr, args []any, vars scope) bool {
	for i, p := range patterns {
		switch p.op {
		case "wild":
		case "var":
			vars[p.name] = args[i]
		case "list":
			if len(args[i].([]any)) > 0 {
				return false
			}
		case "bin":
			list := args[i].([]any)
			if len(list) == 0 {
				return false
			}
			vars[p.args[0].name], vars[p.args[1].name] = list[0], list[1:]
		default:
			if !matches(p.args[1:], args[i].(made).args, vars) {
				return false
			}
		}
	}
	return true
}

// check reports an error if a definition after the header does not have its type. False obligations are no errors: they
// are added to f.refused.
func (f *fragment) check() (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("term has no value: %v", r)
		}
	}()
	known := map[string]bool{}
	for _, name := range f.order {
		d := f.declared[name]
		// The golden file checks the functions of the header.
		if len(d.clauses[0].patterns) == 0 && d.typ.op != "pi" {
			f.current = name
			if err := f.has(d.clauses[0].body, d.typ, known); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		known[name] = true
	}
	return nil
}

// proof accepts Oh as a proof of a type So (f V), where V is a known value.
func (f *fragment) proof(typ *expr, known map[string]bool) error {
	if typ.op != "app" || len(typ.args) != 2 || typ.args[0].name != "So" || typ.args[1].op != "app" {
		return fmt.Errorf("%s is no obligation", typ)
	}
	got, err := f.infer(typ.args[1], known)
	if err != nil {
		return err
	}
	if got.name != "Bool" {
		return fmt.Errorf("%s is no Bool", typ.args[1])
	}
	if !f.eval(typ.args[1], nil).(bool) {
		value, _, _ := strings.Cut(f.current, "_")
		f.refused = append(f.refused, value+"_"+typ.args[1].args[0].name)
	}
	return nil
}

// has reports an error unless a term is of a type.
func (f *fragment) has(e, want *expr, known map[string]bool) error {
	if e.op == "list" {
		if want.op != "app" || len(want.args) != 2 || want.args[0].name != "List" {
			return fmt.Errorf("list is no %s", want)
		}
		for _, a := range e.args {
			if err := f.has(a, want.args[1], known); err != nil {
				return err
			}
		}
		return nil
	}
	got, err := f.infer(e, known)
	if err != nil {
		return err
	}
	if !f.same(got, want) {
		return fmt.Errorf("%s is a %s, no %s", e, got, want)
	}
	return nil
}

// infer returns the type of a term.
func (f *fragment) infer(e *expr, known map[string]bool) (*expr, error) {
	switch {
	case e.op == "str":
		return &expr{op: "var", name: "String"}, nil
	case e.op == "var" && f.constructors[e.name] != nil:
		return f.constructors[e.name], nil
	case e.op == "var" && known[e.name]:
		return f.declared[e.name].typ, nil
	case e.op != "app" || e.args[0].op != "var":
		return nil, fmt.Errorf("%s is not in the fragment", e)
	case e.args[0].name == "the":
		return f.annotated(e, known)
	}
	typ, err := f.infer(e.args[0], known)
	if err != nil {
		return nil, err
	}
	solved := map[string]*expr{}
	for _, arg := range e.args[1:] {
		for typ.op == "pi" && typ.implicit {
			typ = typ.args[1]
		}
		if typ.op != "pi" {
			return nil, fmt.Errorf("%s has too many arguments", e)
		}
		if err := f.argument(arg, typ.args[0], solved, known); err != nil {
			return nil, err
		}
		if typ.name != "" {
			solved[typ.name] = arg
		}
		typ = typ.args[1]
	}
	if typ = replace(typ, solved); typ.op == "pi" {
		return nil, fmt.Errorf("%s has too few arguments", e)
	}
	return typ, nil
}

// argument reports an error unless a term is of the type of an argument, and solves that type for its variables.
func (f *fragment) argument(arg, typ *expr, solved map[string]*expr, known map[string]bool) error {
	if arg.op == "list" {
		return f.has(arg, replace(typ, solved), known)
	}
	got, err := f.infer(arg, known)
	if err != nil {
		return err
	}
	solve(typ, got, solved)
	if want := replace(typ, solved); !f.same(got, want) {
		return fmt.Errorf("%s is a %s, no %s", arg, got, want)
	}
	return nil
}

// annotated infers the type of a literal: the Int, the String or the (List String).
func (f *fragment) annotated(e *expr, known map[string]bool) (*expr, error) {
	if len(e.args) != 3 {
		return nil, fmt.Errorf("%s is no annotated literal", e)
	}
	typ, value := e.args[1], e.args[2]
	if typ.name == "Int" && value.op == "int" || typ.name == "String" && value.op == "str" {
		return typ, nil
	}
	if value.name == "Oh" {
		return typ, f.proof(typ, known)
	}
	if value.op != "list" {
		return nil, fmt.Errorf("%s is no literal of its type", e)
	}
	return typ, f.has(value, typ, known)
}

// solve finds the values of the variables x and xs of a constructor's type.
func solve(pattern, got *expr, solved map[string]*expr) {
	if pattern.op == "app" && got.op == "app" && len(pattern.args) == 2 && len(got.args) == 2 {
		if v := pattern.args[1]; v.op == "var" && (v.name == "x" || v.name == "xs") && solved[v.name] == nil {
			solved[v.name] = got.args[1]
		}
	}
}

func replace(e *expr, with map[string]*expr) *expr {
	if e.op == "var" && with[e.name] != nil {
		return with[e.name]
	}
	out := *e
	out.args = nil
	for _, a := range e.args {
		out.args = append(out.args, replace(a, with))
	}
	return &out
}

// same reports whether two types are equal. Obligations are compared as they are written, and lists of evidence by
// their values.
func (f *fragment) same(a, b *expr) bool {
	if a.String() == b.String() {
		return true
	}
	if a.op != "app" || b.op != "app" || a.args[0].name != "AllProven" || b.args[0].name != "AllProven" {
		return false
	}
	return reflect.DeepEqual(f.eval(a.args[1], nil), f.eval(b.args[1], nil))
}

// checkFragment checks a module, and returns for each entry the obligations that are false, as "piece obligation".
func checkFragment(text string) (map[int][]string, error) {
	f, err := readModule(text)
	if err != nil {
		return nil, err
	}
	if err := f.check(); err != nil {
		return nil, err
	}
	out := map[int][]string{}
	for _, name := range f.refused {
		value, obligation, _ := strings.Cut(name, "_")
		entry, piece := 0, -1
		if strings.Contains(value, "s") {
			_, err = fmt.Sscanf(value, "e%ds%d", &entry, &piece)
		} else {
			_, err = fmt.Sscanf(value, "e%d", &entry)
		}
		if err != nil {
			return nil, fmt.Errorf("name %q: %w", name, err)
		}
		out[entry] = append(out[entry], fmt.Sprint(piece, " ", obligation))
	}
	return out, nil
}
