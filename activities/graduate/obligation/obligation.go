// Package obligation lists, as data, the obligations that an entry must meet before it is verified. The list has two
// renderings: [Facts.Check] in Go, and the Idris module of package idris. Both compare the same literals, which
// [Session.Facts] computes once.
//
// Both verifiers prove the comparisons of the list: spans are in order and inside their messages, and bytes agree with
// runes. Texts, normal forms and hashes are equal, and the claims of the title are among the words of the evidence. The
// literals themselves are given, because only Go can compute them. For a message they are its length, its hash and its
// text at a span. The others are normal forms, the words of a text, the class of trust of a span, and the verdict of
// the rule of proof, which defines sentences.
package obligation

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"axiommind/schema"
)

// Op is the comparison operator of a relation.
type Op string

// Comparisons, named as in the Idris module.
const (
	// Filled holds of a text that is not empty. It has no right side.
	Filled Op = "filled"
	// Same holds of equal texts.
	Same Op = "same"
	// Equal, Below and AtMost compare numbers.
	Equal  Op = "equal"
	Below  Op = "below"
	AtMost Op = "atMost"
	// Among holds if each text of the left side is also on the right side.
	Among Op = "among"
)

// Operand is a field, or a constant if the field has no name.
type Operand struct {
	Field    Field
	Constant Literal
	Kind     Kind
}

// Relation is a comparison of two operands.
type Relation struct {
	Op          Op
	Left, Right Operand
}

// Obligation is a condition on an entry, or on each piece of its evidence.
type Obligation struct {
	// Name is a word in lower case.
	Name string
	// Says describes the obligation in one sentence, for people.
	Says string
	// PerPiece is true for an obligation of each piece of evidence.
	PerPiece bool
	// Holds are relations that must all hold.
	Holds []Relation
}

// Proven is the value of [Verdict] for a piece that meets the rule of proof.
const Proven = "proven"

// confidenceOne is a confidence of 1, in millionths.
const confidenceOne = 1_000_000

// List returns all obligations: those of an entry, then those of each piece.
func List() []Obligation {
	types := make([]string, 0, len(schema.EntryTypes()))
	for _, t := range schema.EntryTypes() {
		types = append(types, string(t))
	}
	proving := make([]string, 0, len(schema.TrustsProving()))
	for _, t := range schema.TrustsProving() {
		proving = append(proving, string(t))
	}
	return []Obligation{
		{Name: "identified", Says: "the entry has an id", Holds: []Relation{{Op: Filled, Left: of(EntryID)}}},
		{Name: "typed", Says: "the type of the entry is known", Holds: []Relation{{Among, list(Type), texts(types...)}}},
		{Name: "titled", Says: "the entry has a title", Holds: []Relation{{Op: Filled, Left: of(Title)}}},
		{Name: "confident", Says: "the confidence is between 0 and 1", Holds: []Relation{
			{AtMost, number(0), of(Confidence)}, {AtMost, of(Confidence), number(confidenceOne)},
		}},
		{Name: "evidenced", Says: "the entry has evidence", Holds: []Relation{{Below, number(0), of(Pieces)}}},
		{Name: "readable", Says: "all texts are valid UTF-8", Holds: []Relation{{Equal, of(Unreadable), number(0)}}},
		{Name: "claimed", Says: "each number and identifier of the title occurs in the evidence", Holds: []Relation{
			{Among, of(Claims), of(Stated)},
		}},
		piece("found", "the quote is found", Relation{Equal, of(Found), number(1)}),
		piece("event", "the evidence names its event", Relation{Op: Filled, Left: of(EventID)}),
		piece("message", "the evidence names its message", Relation{AtMost, number(0), of(Message)}),
		piece("ordered", "the span begins before it ends",
			Relation{AtMost, number(0), of(Start)}, Relation{Below, of(Start), of(End)}),
		piece("inside", "the span lies inside of the message", Relation{AtMost, of(End), of(Size)}),
		piece("runes", "the runes of the span are those of its bytes",
			Relation{Equal, of(RuneStart), of(RunesToStart)}, Relation{Equal, of(RuneEnd), of(RunesToEnd)}),
		piece("text", "the stored text is that of the message at the span", Relation{Same, of(StoredText), of(SourceText)}),
		piece("quote", "the quote equals that text in the normal form", Relation{Same, of(Quoted), of(Held)}),
		piece("sentences", "the quote is whole sentences or lines, by the recorded rule of proof",
			Relation{Same, of(Verdict), Operand{Constant: Literal{Text: Proven}}}),
		piece("trusted", "the text is the user's or the assistant's", Relation{Among, list(Trust), texts(proving...)}),
		piece("source", "the hash of the message is the recorded one", Relation{Same, of(StoredHash), of(SourceHash)}),
	}
}

func piece(name, says string, holds ...Relation) Obligation {
	return Obligation{Name: name, Says: says, PerPiece: true, Holds: holds}
}

func of(f Field) Operand { return Operand{Field: f, Kind: f.Kind} }

// list is a text field as a list of one.
func list(f Field) Operand { return Operand{Field: f, Kind: Texts} }

func number(n int) Operand { return Operand{Constant: Literal{Number: n}, Kind: Number} }

func texts(s ...string) Operand { return Operand{Constant: Literal{Texts: s}, Kind: Texts} }

// value returns the operand's value for a record.
func (o Operand) value(r Record) Literal {
	switch {
	case o.Field.Name == "":
		return o.Constant
	case o.Kind == Texts && o.Field.Kind == Text:
		return Literal{Texts: []string{r[o.Field].Text}}
	default:
		return r[o.Field]
	}
}

// failure returns why the relation does not hold of a record, or "".
func (r Relation) failure(of Record) string {
	left, right := r.Left.value(of), r.Right.value(of)
	switch r.Op {
	case Filled:
		if left.Text == "" {
			return "it is empty"
		}
	case Same:
		if left.Text != right.Text {
			return fmt.Sprintf("%s is not %s", shown(left.Text), shown(right.Text))
		}
	case Equal:
		if left.Number != right.Number {
			return fmt.Sprintf("%d is not %d", left.Number, right.Number)
		}
	case Below:
		if left.Number >= right.Number {
			return fmt.Sprintf("%d is not below %d", left.Number, right.Number)
		}
	case AtMost:
		if left.Number > right.Number {
			return fmt.Sprintf("%d is more than %d", left.Number, right.Number)
		}
	case Among:
		var missing []string
		for _, text := range left.Texts {
			if !slices.Contains(right.Texts, text) {
				missing = append(missing, shown(text))
			}
		}
		if len(missing) > 0 {
			return "there is no " + strings.Join(missing, ", no ")
		}
	default:
		return fmt.Sprintf("comparison %q is unknown", r.Op)
	}
	return ""
}

// maxShown is the maximum number of runes of a text in a reason.
const maxShown = 120

// shown quotes a text for people, cut if it is long.
func shown(text string) string {
	if runes := []rune(text); len(runes) > maxShown {
		text = string(runes[:maxShown]) + "…"
	}
	return strconv.Quote(text)
}
