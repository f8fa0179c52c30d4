package idris

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The checker of this file and of fragment_eval_test.go knows exactly the fragment of Idris that modules use. It
// replaces the compiler in tests: it refuses a module outside the fragment, and evaluates each obligation.

// expr is a term or a type.
type expr struct {
	op   string // var, int, str, list, app, bin, pi or wild
	name string // of a variable, a binder or an operator
	text string
	n    int
	args []*expr
	// implicit is true for a binder in braces.
	implicit bool
}

func (e *expr) String() string {
	switch e.op {
	case "int":
		return strconv.Itoa(e.n)
	case "str":
		return strconv.Quote(e.text)
	case "var":
		return e.name
	}
	parts := []string{e.op, e.name}
	for _, a := range e.args {
		parts = append(parts, a.String())
	}
	return "(" + strings.Join(parts, " ") + ")"
}

type token struct {
	kind byte // i: identifier, n: number, s: string, p: punctuation
	text string
}

var (
	identifier  = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*`)
	natural     = regexp.MustCompile(`^[0-9]+`)
	punctuation = regexp.MustCompile(`^(->|==|\|\||&&|<=|::|[()\[\]{},:=<_-])`)
	stringChars = regexp.MustCompile(`^"((?:[A-Za-z0-9 .,_:;/]|\\x[0-9a-f]+)*)"`)
	numbered    = regexp.MustCompile(`\\x([0-9a-f]+)`)
)

// reserved matches the words that the fragment does not use or must never use.
var reserved = regexp.MustCompile(`^(believe_me|assert_.*|idris_crash|postulate|unsafe.*|prim__.*|rewrite|case|of|if|then|else|let|in|do|with|record|interface|mutual|namespace|parameters|export|public|private|total|partial|covering|using|implementation|open|proof|impossible|infixl|infixr|infix|prefix|forall|failing|auto|default|implicit)$`)

func tokens(line string) ([]token, error) {
	var out []token
	for rest := line; rest != ""; {
		if rest[0] == ' ' {
			rest = rest[1:]
			continue
		}
		var t token
		switch {
		case identifier.MatchString(rest):
			t = token{'i', identifier.FindString(rest)}
			rest = rest[len(t.text):]
			if reserved.MatchString(t.text) {
				return nil, fmt.Errorf("word %q is not in the fragment", t.text)
			}
		case natural.MatchString(rest):
			t = token{'n', natural.FindString(rest)}
			rest = rest[len(t.text):]
		case stringChars.MatchString(rest):
			m := stringChars.FindStringSubmatch(rest)
			rest = rest[len(m[0]):]
			text, err := unescape(m[1])
			if err != nil {
				return nil, err
			}
			t = token{'s', text}
		case punctuation.MatchString(rest):
			t = token{'p', punctuation.FindString(rest)}
			rest = rest[len(t.text):]
		default:
			return nil, fmt.Errorf("no token of the fragment at %.20q", rest)
		}
		out = append(out, t)
	}
	return out, nil
}

// unescape decodes the content of a literal as Idris does: a numeric escape takes all hex digits that follow.
func unescape(inside string) (string, error) {
	var err error
	text := numbered.ReplaceAllStringFunc(inside, func(number string) string {
		n, e := strconv.ParseUint(number[2:], 16, 32)
		if e != nil || !utf8.ValidRune(rune(n)) {
			err = fmt.Errorf("number %q is no character", number)
		}
		return string(rune(n))
	})
	return text, err
}

// parser reads the tokens of one line.
type parser struct {
	tokens []token
	err    error
}

func (p *parser) peek(text string) bool {
	return len(p.tokens) > 0 && p.tokens[0].kind == 'p' && p.tokens[0].text == text
}

func (p *parser) take(text string) bool {
	if p.peek(text) {
		p.tokens = p.tokens[1:]
		return true
	}
	return false
}

func (p *parser) need(text string) {
	if !p.take(text) {
		p.fail("expected %q", text)
	}
}

func (p *parser) fail(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf(format+" before %v", append(args, p.tokens)...)
	}
	p.tokens = nil
}

func (p *parser) name() string {
	if len(p.tokens) == 0 || p.tokens[0].kind != 'i' {
		p.fail("expected a name")
		return ""
	}
	name := p.tokens[0].text
	p.tokens = p.tokens[1:]
	return name
}

// typ reads a type: applications between arrows, some with binders.
func (p *parser) typ() *expr {
	if len(p.tokens) > 2 && (p.peek("(") || p.peek("{")) && p.tokens[2].text == ":" {
		implicit, closing := p.peek("{"), ")"
		if implicit {
			closing = "}"
		}
		p.tokens = p.tokens[1:]
		name := p.name()
		p.need(":")
		from := p.typ()
		p.need(closing)
		p.need("->")
		return &expr{op: "pi", name: name, implicit: implicit, args: []*expr{from, p.typ()}}
	}
	from := p.apply()
	if p.take("->") {
		return &expr{op: "pi", args: []*expr{from, p.typ()}}
	}
	return from
}

// levels are the operators, the loosest first. All are used as if they were right-associative.
var levels = [][]string{{"||"}, {"&&"}, {"==", "<=", "<"}}

func (p *parser) term(level int) *expr {
	if level == len(levels) {
		return p.apply()
	}
	left := p.term(level + 1)
	for _, op := range levels[level] {
		if p.take(op) {
			return &expr{op: "bin", name: op, args: []*expr{left, p.term(level)}}
		}
	}
	return left
}

func (p *parser) apply() *expr {
	e := &expr{op: "app"}
	for len(p.tokens) > 0 {
		t := p.tokens[0]
		if t.kind == 'p' && t.text != "(" && t.text != "[" && t.text != "_" {
			break
		}
		e.args = append(e.args, p.atom())
	}
	switch len(e.args) {
	case 0:
		p.fail("expected a term")
		return e
	case 1:
		return e.args[0]
	}
	return e
}

func (p *parser) atom() *expr {
	t := p.tokens[0]
	p.tokens = p.tokens[1:]
	switch {
	case t.kind == 'i':
		return &expr{op: "var", name: t.text}
	case t.kind == 's':
		return &expr{op: "str", text: t.text}
	case t.kind == 'n':
		return p.number(t.text)
	case t.text == "_":
		return &expr{op: "wild"}
	case t.text == "[":
		e := &expr{op: "list"}
		for !p.take("]") && p.err == nil {
			if len(e.args) > 0 {
				p.need(",")
			}
			e.args = append(e.args, p.term(0))
		}
		return e
	}
	if p.take("-") {
		if len(p.tokens) == 0 || p.tokens[0].kind != 'n' {
			p.fail("expected a number")
			return &expr{}
		}
		n := p.number("-" + p.tokens[0].text)
		p.tokens = p.tokens[1:]
		p.need(")")
		return n
	}
	e := p.term(0)
	if p.take("::") {
		e = &expr{op: "bin", name: "::", args: []*expr{e, p.term(0)}}
	}
	p.need(")")
	return e
}

func (p *parser) number(text string) *expr {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		p.fail("number %s", text)
	}
	return &expr{op: "int", n: int(n)}
}

// parse reads all tokens of a line, or of a part of it, by one rule.
func parse(tokens []token, rule func(*parser) *expr) (*expr, error) {
	p := &parser{tokens: tokens}
	e := rule(p)
	if p.err == nil && len(p.tokens) > 0 {
		p.fail("expected nothing more")
	}
	return e, p.err
}

// clause is a line that defines a function.
type clause struct {
	patterns []*expr
	body     *expr
}

type declaration struct {
	typ     *expr
	clauses []clause
}

// fragment is a module that was read.
type fragment struct {
	// types are the data types, constructors the types of their constructors.
	types, constructors map[string]*expr
	declared            map[string]*declaration
	// order lists the declared names, in order.
	order []string
	// refused are the false obligations, each after the name of its value. current is the declaration being checked.
	refused []string
	current string
}

// continued matches continuation lines with the proofs of a wrapper.
var continued = regexp.MustCompile(`^  (\(the \(So \([a-z]+ E[0-9]+(S[0-9]+)?\)\) Oh\)|(\(And e[0-9]+s[0-9]+_proven )*None\)*)$`)

var moduleLine = regexp.MustCompile(`^module (Session[0-9a-f]{16})$`)

// readModule reads a module. Its name must be derived from its text, its header must be the golden one, and each line
// after that declares or defines a value.
func readModule(text string) (*fragment, error) {
	first, body, _ := strings.Cut(text, "\n")
	if m := moduleLine.FindStringSubmatch(first); m == nil || m[1] != nameOf(body) {
		return nil, fmt.Errorf("module is not named by its text: %q", first)
	}
	header, err := os.ReadFile("testdata/header.idr")
	if err != nil {
		return nil, err
	}
	if !strings.HasPrefix(body, string(header)) {
		return nil, errors.New("header is another one")
	}
	f := &fragment{types: map[string]*expr{}, constructors: map[string]*expr{}, declared: map[string]*declaration{}}
	lines := strings.Split(strings.TrimSuffix(body, "\n"), "\n")
	headed := strings.Count(string(header), "\n")
	data := ""
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		if line == "" || line == "import Data.So" && i < headed {
			continue
		}
		if i >= headed {
			for i+1 < len(lines) && continued.MatchString(lines[i+1]) {
				line += lines[i+1]
				lines = slices.Delete(lines, i+1, i+2)
			}
		}
		if data, err = f.readLine(line, data, i < headed); err != nil {
			return nil, fmt.Errorf("%.40q: %w", line, err)
		}
	}
	for _, name := range f.order {
		if len(f.declared[name].clauses) == 0 {
			return nil, fmt.Errorf("%s is not defined", name)
		}
	}
	return f, nil
}

func nameOf(body string) string { return "Session" + hashOf(body)[:16] }

// readLine reads a line of the header or after it. data is the type whose constructors may follow.
func (f *fragment) readLine(line, data string, header bool) (string, error) {
	toks, err := tokens(line)
	if err != nil {
		return "", err
	}
	at := func(i int, text string) bool { return i < len(toks) && toks[i].text == text && toks[i].kind != 's' }
	switch {
	case header && at(0, "data") && at(2, ":") && at(len(toks)-1, "where"):
		f.types[toks[1].text], err = parse(toks[3:len(toks)-1], (*parser).typ)
		return toks[1].text, err
	case header && data != "" && strings.HasPrefix(line, "  ") && at(1, ":"):
		f.constructors[toks[0].text], err = parse(toks[2:], (*parser).typ)
		return data, err
	case strings.HasPrefix(line, " "):
		return "", errors.New("line is indented")
	case toks[0].kind == 'i' && at(1, ":"):
		return "", f.declare(toks[0].text, toks[2:])
	}
	return "", f.define(toks, header)
}

func (f *fragment) declare(name string, typ []token) error {
	if f.declared[name] != nil || f.constructors[name] != nil || f.types[name] != nil || builtin[name] {
		return fmt.Errorf("%s is declared twice", name)
	}
	t, err := parse(typ, (*parser).typ)
	f.declared[name] = &declaration{typ: t}
	f.order = append(f.order, name)
	return err
}

var builtin = map[string]bool{"the": true, "not": true, "True": true, "False": true, "Oh": true, "So": true,
	"Int": true, "String": true, "Bool": true, "List": true, "Type": true}

// define reads a clause. After the header, each declaration is followed by exactly one clause without patterns.
func (f *fragment) define(toks []token, header bool) error {
	for i, t := range toks {
		if t.kind != 'p' || t.text != "=" {
			continue
		}
		left, err := parse(toks[:i], func(p *parser) *expr { return p.term(0) })
		if err != nil {
			return err
		}
		c := clause{}
		if left.op == "app" {
			left, c.patterns = left.args[0], left.args[1:]
		}
		d := f.declared[left.name]
		if left.op != "var" || d == nil || f.order[len(f.order)-1] != left.name {
			return fmt.Errorf("%s is defined where it is not declared", left)
		}
		if !header && (len(c.patterns) > 0 || len(d.clauses) > 0) {
			return fmt.Errorf("%s is no plain value", left)
		}
		c.body, err = parse(toks[i+1:], func(p *parser) *expr { return p.term(0) })
		d.clauses = append(d.clauses, c)
		return err
	}
	return errors.New("line neither declares nor defines")
}
