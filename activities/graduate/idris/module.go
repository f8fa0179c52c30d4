// Package idris states the obligations of a session's entries as an Idris 2 module, and checks it with the compiler.
//
// The module uses only the Prelude and Data.So, literals of type Int and String, and Oh as every proof. Each piece of
// evidence and each entry has one wrapper, which takes a proof of each obligation: So of a comparison that the compiler
// evaluates. The module compiles if all comparisons are true. A declaration for each obligation would give more detail
// when several are false. But a module would then have ten times as many, and compile time grows with the number of
// declarations. Package obligation describes the proven facts and the given ones.
package idris

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"axiommind/activities/graduate/obligation"
)

// Module is the Idris 2 module of a session's entries.
type Module struct {
	// Name is derived from the hash of the text, so that no text in the module can contain it.
	Name string
	Text string
	// Hash is the hex SHA-256 of Text.
	Hash    string
	entries []obligation.Facts
	lines   []owner
}

var obligations = obligation.List()

// owner is the entry, the piece and the obligation that a line of the module belongs to.
type owner struct {
	// entry is the index of the entry, or -1 for common lines.
	entry, piece int
	// obligation is empty for the values and the wrappers.
	obligation string
}

// NewModule returns the module of some entries. It is a function of the facts alone.
func NewModule(entries []obligation.Facts) Module {
	w := &writer{}
	w.header()
	for i, f := range entries {
		w.entry(i, f)
	}
	body := w.String()
	name := "Session" + hashOf(body)[:16]
	text := "module " + name + "\n" + body
	return Module{
		Name: name, Text: text, Hash: hashOf(text), entries: entries,
		lines: append([]owner{{entry: -1}}, w.lines...),
	}
}

// Len returns the number of entries.
func (m Module) Len() int { return len(m.entries) }

// without returns the module without the entries that out has, by index.
func (m Module) without(out map[int]bool) Module {
	var kept []obligation.Facts
	for i, f := range m.entries {
		if !out[i] {
			kept = append(kept, f)
		}
	}
	return NewModule(kept)
}

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// writer writes lines and records their owners.
type writer struct {
	strings.Builder
	lines []owner
	of    owner
}

func (w *writer) line(format string, args ...any) {
	fmt.Fprintf(&w.Builder, format, args...)
	w.WriteByte('\n')
	w.lines = append(w.lines, w.of)
}

// declare writes a declaration and its definition.
func (w *writer) declare(name, typ, value string) {
	w.line("%s : %s", name, typ)
	w.line("%s = %s", name, value)
}

// comparisons are the functions of the relations. Their names do not occur in the Prelude.
const comparisons = `
filled : String -> Bool
filled x = not (x == "")

same : String -> String -> Bool
same x y = x == y

equal : Int -> Int -> Bool
equal x y = x == y

below : Int -> Int -> Bool
below x y = x < y

atMost : Int -> Int -> Bool
atMost x y = x <= y

occurs : String -> List String -> Bool
occurs x [] = False
occurs x (y :: ys) = x == y || occurs x ys

among : List String -> List String -> Bool
among [] ys = True
among (x :: xs) ys = occurs x ys && among xs ys
`

// header writes the types, the comparisons and the obligations.
func (w *writer) header() {
	w.of = owner{entry: -1, piece: obligation.EntryPiece}
	w.line("")
	w.line("import Data.So")
	for _, id := range []string{"EntryId", "TaskId", "EventId"} {
		w.line("")
		w.line("data %s : Type where", id)
		w.line("  Mk%s : String -> %s", id, id)
	}
	w.record("EvidenceSpan", obligation.PieceFields(), "")
	w.record("Candidate", obligation.EntryFields(), "List EvidenceSpan")
	w.projections("EvidenceSpan", obligation.PieceFields(), 0)
	w.projections("Candidate", obligation.EntryFields(), 1)
	w.line("")
	w.line("entryEvidence : Candidate -> List EvidenceSpan")
	w.line("entryEvidence (MkCandidate%s spans) = spans", strings.Repeat(" _", len(obligation.EntryFields())))
	for line := range strings.Lines(comparisons) {
		w.line("%s", strings.TrimSuffix(line, "\n"))
	}
	for _, o := range obligations {
		subject := "Candidate"
		if o.PerPiece {
			subject = "EvidenceSpan"
		}
		w.line("")
		w.line("%s : %s -> Bool", o.Name, subject)
		w.line("%s x = %s", o.Name, conjunction(o.Holds))
	}
	w.wrappers()
}

// record writes the type of a record, with one constructor.
func (w *writer) record(name string, fields []obligation.Field, more string) {
	types := make([]string, 0, len(fields)+2)
	for _, f := range fields {
		types = append(types, typeOf(f))
	}
	if more != "" {
		types = append(types, more)
	}
	w.line("")
	w.line("data %s : Type where", name)
	w.line("  Mk%s : %s -> %s", name, strings.Join(types, " -> "), name)
}

// projections writes an accessor for each field. The constructor has that many more arguments than fields.
func (w *writer) projections(record string, fields []obligation.Field, more int) {
	for i, f := range fields {
		value := "x"
		if f.Type != "" {
			value = "(Mk" + f.Type + " x)"
		}
		result := f
		result.Type = ""
		w.line("")
		w.line("%s : %s -> %s", f.Name, record, typeOf(result))
		w.line("%s (Mk%s%s %s%s) = x", f.Name, record,
			strings.Repeat(" _", i), value, strings.Repeat(" _", len(fields)-i-1+more))
	}
}

func typeOf(f obligation.Field) string {
	switch {
	case f.Type != "":
		return f.Type
	case f.Kind == obligation.Number:
		return "Int"
	case f.Kind == obligation.Texts:
		return "List String"
	default:
		return "String"
	}
}

// conjunction renders relations of the record x.
func conjunction(relations []obligation.Relation) string {
	terms := make([]string, 0, len(relations))
	for _, r := range relations {
		term := string(r.Op) + " " + operand(r.Left)
		if r.Op != obligation.Filled {
			term += " " + operand(r.Right)
		}
		terms = append(terms, term)
	}
	return strings.Join(terms, " && ")
}

func operand(o obligation.Operand) string {
	switch {
	case o.Field.Name == "":
		return "(" + literal(o.Kind, o.Constant) + ")"
	case o.Kind == obligation.Texts && o.Field.Kind == obligation.Text:
		return "[" + o.Field.Name + " x]"
	default:
		return "(" + o.Field.Name + " x)"
	}
}

// wrappers writes the types that can be constructed only from proofs of all obligations.
func (w *writer) wrappers() {
	var ofEntry, ofPiece strings.Builder
	for _, o := range obligations {
		b := &ofEntry
		if o.PerPiece {
			b = &ofPiece
		}
		fmt.Fprintf(b, "So (%s x) -> ", o.Name)
	}
	w.line("")
	w.line("data Proven : EvidenceSpan -> Type where")
	w.line("  MkProven : (x : EvidenceSpan) -> %sProven x", ofPiece.String())
	w.line("")
	w.line("data AllProven : List EvidenceSpan -> Type where")
	w.line("  None : AllProven []")
	w.line("  And : {x : EvidenceSpan} -> {xs : List EvidenceSpan} -> Proven x -> AllProven xs -> AllProven (x :: xs)")
	w.line("")
	w.line("data Verified : Candidate -> Type where")
	w.line("  MkVerified : (x : Candidate) -> %sAllProven (entryEvidence x) -> Verified x", ofEntry.String())
}

// entry writes the values of an entry and its proofs. Values begin with a capital, since Idris takes a lower-case name
// in a type for a variable.
func (w *writer) entry(index int, f obligation.Facts) {
	w.of = owner{entry: index, piece: obligation.EntryPiece}
	w.line("")
	name := "E" + strconv.Itoa(index)
	spans := make([]string, 0, len(f.Pieces))
	all := ""
	for i, r := range f.Pieces {
		span := name + "S" + strconv.Itoa(i)
		spans = append(spans, span)
		w.of.piece = i
		w.declare(span, "EvidenceSpan", "MkEvidenceSpan"+values(r, obligation.PieceFields()))
		proof := strings.ToLower(span) + "_proven"
		w.declare(proof, "Proven "+span, "MkProven "+span)
		w.proofs(span, true)
		all += "(And " + proof + " "
	}
	w.of.piece = obligation.EntryPiece
	w.declare(name, "Candidate", "MkCandidate"+values(f.Entry, obligation.EntryFields())+" ["+strings.Join(spans, ", ")+"]")
	w.declare(strings.ToLower(name)+"_verified", "Verified "+name, "MkVerified "+name)
	w.proofs(name, false)
	w.line("  %sNone%s", all, strings.Repeat(")", len(spans)))
}

// proofs writes the proofs that a wrapper of a value takes. Each is on a line of its own, so that an error's line
// identifies the obligation.
func (w *writer) proofs(value string, perPiece bool) {
	for _, o := range obligations {
		if o.PerPiece == perPiece {
			w.of.obligation = o.Name
			w.line("  (the (So (%s %s)) Oh)", o.Name, value)
		}
	}
	w.of.obligation = ""
}

// values renders a record's values in the order of the fields, with a space before each.
func values(r obligation.Record, fields []obligation.Field) string {
	var b strings.Builder
	for _, f := range fields {
		value := literal(f.Kind, r[f])
		if f.Type != "" {
			value = "Mk" + f.Type + " (" + value + ")"
		}
		b.WriteString(" (" + value + ")")
	}
	return b.String()
}

func literal(kind obligation.Kind, l obligation.Literal) string {
	switch kind {
	case obligation.Number:
		if l.Number < 0 {
			return fmt.Sprintf("the Int (%d)", l.Number)
		}
		return fmt.Sprintf("the Int %d", l.Number)
	case obligation.Texts:
		quoted := make([]string, 0, len(l.Texts))
		for _, text := range l.Texts {
			quoted = append(quoted, `"`+escape(text)+`"`)
		}
		return "the (List String) [" + strings.Join(quoted, ", ") + "]"
	default:
		return `the String "` + escape(l.Text) + `"`
	}
}
