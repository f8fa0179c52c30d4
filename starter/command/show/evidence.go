package show

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/rivo/uniseg"

	"axiommind/activities/evidence"
	"axiommind/schema"
	"axiommind/starter/command"
)

const (
	// proofGraphemes is how much text to show on each side of a span without stored sentences.
	proofGraphemes = 160
	// LineGraphemes is how much text to show on each side of a span in a single line.
	LineGraphemes = 100
	// LineDifferences is how many differences to list one by one in a single line.
	LineDifferences = 3
	// ProofDifferences is how many to list with a proof.
	ProofDifferences = 12
)

// EvidenceState describes a piece of evidence: found, aligned or proven, with the reason if it is not proven. Every command uses
// this form. It lists up to most differences.
func EvidenceState(e schema.Evidence, most int) string {
	text := ""
	switch {
	case !e.Found:
		return notFound(e.Reason)
	case e.Proven:
		text = "proven"
	case e.Aligned:
		text = "aligned, not proven: " + unproven(e, most)
	case e.Method == schema.MethodJoined:
		text = "found in pieces, not aligned" + differing(differencesOf(e), most)
	default:
		text = fmt.Sprintf("found at %.0f %%, not aligned", e.Confidence*100) + differing(differencesOf(e), most)
	}
	switch n := len(e.Occurrences); {
	case n >= evidence.MostListed(e.Method):
		text += fmt.Sprintf("; at %d or more places, one is shown", n)
	case n > 1:
		text += fmt.Sprintf("; at %d places, one is shown", n)
	}
	return text
}

func notFound(reason string) string {
	if reason == "" || reason == schema.ReasonNotFound {
		return "not found"
	}
	return "not found (" + strings.ReplaceAll(reason, "_", " ") + ")"
}

// unproven explains why an aligned quote does not prove.
func unproven(e schema.Evidence, most int) string {
	if e.Trust == schema.TrustAgent {
		return AgentsWord([]schema.Evidence{e})
	}
	if e.Trust != "" && !e.Trust.Proves() {
		return trustText(e.Trust) + " proves nothing"
	}
	if schema.ContainsRedaction(e.Text) {
		return "a part of it was redacted"
	}
	p, known := PassageOf(e)
	if known && !hasWords(p.Before) && !hasWords(p.After) {
		if text := differing(evidence.Differences(e.Quote, e.Within.Text), most); text != "" {
			return strings.TrimPrefix(text, ": ")
		}
		return "the quote differs from the sentence"
	}
	return "the quote is a piece of a sentence"
}

// AgentsWord describes which agent states an entry with the evidence, or returns "" if none does.
func AgentsWord(pieces []schema.Evidence) string {
	if by := schema.SaidByAgent(pieces); by != "" {
		return "said by the agent " + command.Unbroken(by)
	}
	return ""
}

// trustText describes text of a class of trust for people.
func trustText(t schema.Trust) string {
	switch t {
	case schema.TrustTool:
		return "text of a tool, or handed over,"
	case schema.TrustSystem:
		return "text of the harness"
	case schema.TrustMemory:
		return "text of an earlier memory"
	}
	return "text of the " + string(t)
}

func hasWords(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) })
}

// differencesOf returns the words in which a quote differs from the source. An approximate match may begin or end
// inside a word of the source: it is compared with the whole word.
func differencesOf(e schema.Evidence) []evidence.Difference {
	if p, known := PassageOf(e); known && !e.Aligned {
		return evidence.Differences(e.Quote, evidence.WholeWords(e.Within.Text, len(p.Before), len(p.Before)+len(p.Quoted)))
	}
	return evidence.Differences(e.Quote, e.Text)
}

// differing lists differences after a colon. It is empty if there are none.
func differing(differences []evidence.Difference, most int) string {
	if len(differences) == 0 {
		return ""
	}
	said := make([]string, 0, most+1)
	for _, d := range differences[:min(most, len(differences))] {
		q, s := command.OneLine(d.Quote, 60), command.OneLine(d.Source, 60)
		switch {
		case q == "":
			said = append(said, "“"+s+"” is missing")
		case s == "":
			said = append(said, "“"+q+"” is added")
		default:
			said = append(said, "“"+q+"” for “"+s+"”")
		}
	}
	if more := len(differences) - most; more > 0 {
		said = append(said, command.Plural(more, "more difference", "more differences"))
	}
	return ": " + strings.Join(said, ", ")
}

// EvidenceStateOfAll describes all evidence of an entry: it is as weak as its weakest piece.
func EvidenceStateOfAll(aligned, proven, given bool) string {
	switch {
	case !given:
		return "no evidence"
	case proven:
		return "proven"
	case aligned:
		return "aligned, not proven"
	}
	return "not aligned"
}

// StandingOfPieces describes how much of the evidence is proven.
func StandingOfPieces(pieces []schema.Evidence) string {
	unaligned := slices.ContainsFunc(pieces, func(e schema.Evidence) bool { return !e.Aligned })
	return cmp.Or(AgentsWord(pieces), EvidenceStateOfAll(!unaligned, evidence.Proven(pieces), len(pieces) > 0))
}

// Passage is a part of the source that contains a quote.
type Passage struct{ Before, Quoted, After string }

// PassageOf returns the sentences stored with a piece of evidence. None are stored if the piece proves or if they are too
// long. Sentences that do not contain the span are ignored.
func PassageOf(e schema.Evidence) (p Passage, known bool) {
	if e.Within == nil {
		return Passage{}, false
	}
	text := e.Within.Text
	start, end := e.Span.ByteStart-e.Within.Span.ByteStart, e.Span.ByteEnd-e.Within.Span.ByteStart
	if start < 0 || start >= end || end > len(text) || text[start:end] != e.Text {
		return Passage{}, false
	}
	return Passage{text[:start], text[start:end], text[end:]}, true
}

// marks escapes the characters that mark a quote, where the source itself has them.
var marks = strings.NewReplacer("⟦", "<U+27E6>", "⟧", "<U+27E7>")

// String returns the passage with the quote marked.
func (p Passage) String() string {
	return marks.Replace(p.Before) + "⟦" + marks.Replace(p.Quoted) + "⟧" + marks.Replace(p.After)
}

// Line returns the passage in one line, cut at the ends far from the quote. It keeps the statement that a long quote proves.
func (p Passage) Line(statement string) string {
	p.Before, p.After = LastGraphemes(p.Before, LineGraphemes), FirstGraphemes(p.After, LineGraphemes)
	if middle := command.Excerpt(p.Quoted, statement, 2*LineGraphemes); strings.HasPrefix(middle, "…") || strings.HasSuffix(middle, "…") {
		p.Quoted = middle
	}
	return strings.Join(strings.Fields(p.String()), " ")
}

// FirstGraphemes returns at most the first n user-perceived characters.
func FirstGraphemes(s string, n int) string {
	rest, state := s, -1
	for i := 0; i < n && rest != ""; i++ {
		_, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
	}
	if rest == "" {
		return s
	}
	return s[:len(s)-len(rest)] + "…"
}

// LastGraphemes returns at most the last n user-perceived characters.
func LastGraphemes(s string, n int) string {
	var starts []int
	g := uniseg.NewGraphemes(s)
	for g.Next() {
		from, _ := g.Positions()
		starts = append(starts, from)
	}
	if len(starts) <= n {
		return s
	}
	return "…" + s[starts[len(starts)-n]:]
}

// SayEvidence writes a line for each piece of evidence of the statement: its text, its place and its state.
func SayEvidence(b *strings.Builder, sessionID, statement string, pieces []schema.Evidence) {
	for _, e := range pieces {
		command.Say(b, "   %s\n", EvidenceLine(sessionID, statement, e))
	}
}

// EvidenceLine writes a piece of evidence of the statement in one line.
func EvidenceLine(sessionID, statement string, e schema.Evidence) string {
	worth := EvidenceState(e, LineDifferences)
	if !e.Found {
		return fmt.Sprintf("“%s” — %s", command.Excerpt(e.Quote, statement, 120), worth)
	}
	said := marks.Replace(command.Excerpt(e.Text, statement, 120))
	if !e.Proven {
		p, known := PassageOf(e)
		if !known {
			p = Passage{"…", e.Text, "…"}
		}
		said = p.Line(statement)
	}
	return fmt.Sprintf("“%s” — session %s, message %d, bytes %d–%d, %s, %s",
		said, command.Unbroken(sessionID), e.MessageIndex, e.Span.ByteStart, e.Span.ByteEnd, e.Method, worth)
}
