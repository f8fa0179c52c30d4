package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/rivo/uniseg"

	"axiommind/activities/evidence"
	"axiommind/schema"
)

const (
	// proofGraphemes is how much text to show on each side of a span without stored sentences.
	proofGraphemes = 160
	// lineGraphemes is how much text to show on each side of a span in a single line.
	lineGraphemes = 100
	// lineDifferences is how many differences to list one by one in a single line.
	lineDifferences = 3
	// proofDifferences is how many to list with a proof.
	proofDifferences = 12
)

// evidenceState describes a piece of evidence: found, aligned or proven, with the reason if it is not proven. Every command uses
// this form. It lists up to most differences.
func evidenceState(e schema.Evidence, most int) string {
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
		return agentsWord([]schema.Evidence{e})
	}
	if e.Trust != "" && !e.Trust.Proves() {
		return trustText(e.Trust) + " proves nothing"
	}
	if schema.ContainsRedaction(e.Text) {
		return "a part of it was redacted"
	}
	p, known := passageOf(e)
	if known && !hasWords(p.before) && !hasWords(p.after) {
		if text := differing(evidence.Differences(e.Quote, e.Within.Text), most); text != "" {
			return strings.TrimPrefix(text, ": ")
		}
		return "the quote differs from the sentence"
	}
	return "the quote is a piece of a sentence"
}

// agentsWord describes which agent states an entry with the evidence, or returns "" if none does.
func agentsWord(pieces []schema.Evidence) string {
	if by := schema.SaidByAgent(pieces); by != "" {
		return "said by the agent " + unbroken(by)
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
	if p, known := passageOf(e); known && !e.Aligned {
		return evidence.Differences(e.Quote, evidence.WholeWords(e.Within.Text, len(p.before), len(p.before)+len(p.quoted)))
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
		q, s := oneLine(d.Quote, 60), oneLine(d.Source, 60)
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
		said = append(said, plural(more, "more difference", "more differences"))
	}
	return ": " + strings.Join(said, ", ")
}

// evidenceStateOfAll describes all evidence of an entry: it is as weak as its weakest piece.
func evidenceStateOfAll(aligned, proven, given bool) string {
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

// standingOfPieces describes how much of the evidence is proven.
func standingOfPieces(pieces []schema.Evidence) string {
	unaligned := slices.ContainsFunc(pieces, func(e schema.Evidence) bool { return !e.Aligned })
	return cmp.Or(agentsWord(pieces), evidenceStateOfAll(!unaligned, evidence.Proven(pieces), len(pieces) > 0))
}

// passage is a part of the source that contains a quote.
type passage struct{ before, quoted, after string }

// passageOf returns the sentences stored with a piece of evidence. None are stored if the piece proves or if they are too
// long. Sentences that do not contain the span are ignored.
func passageOf(e schema.Evidence) (p passage, known bool) {
	if e.Within == nil {
		return passage{}, false
	}
	text := e.Within.Text
	start, end := e.Span.ByteStart-e.Within.Span.ByteStart, e.Span.ByteEnd-e.Within.Span.ByteStart
	if start < 0 || start >= end || end > len(text) || text[start:end] != e.Text {
		return passage{}, false
	}
	return passage{text[:start], text[start:end], text[end:]}, true
}

// marks escapes the characters that mark a quote, where the source itself has them.
var marks = strings.NewReplacer("⟦", "<U+27E6>", "⟧", "<U+27E7>")

// String returns the passage with the quote marked.
func (p passage) String() string {
	return marks.Replace(p.before) + "⟦" + marks.Replace(p.quoted) + "⟧" + marks.Replace(p.after)
}

// line returns the passage in one line, cut at the ends far from the quote.
func (p passage) line() string {
	p.before, p.after = lastGraphemes(p.before, lineGraphemes), firstGraphemes(p.after, lineGraphemes)
	if middle := oneLine(p.quoted, 2*lineGraphemes); strings.HasSuffix(middle, "…") {
		p.quoted = middle
	}
	return strings.Join(strings.Fields(p.String()), " ")
}

// firstGraphemes returns at most the first n user-perceived characters.
func firstGraphemes(s string, n int) string {
	rest, state := s, -1
	for i := 0; i < n && rest != ""; i++ {
		_, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
	}
	if rest == "" {
		return s
	}
	return s[:len(s)-len(rest)] + "…"
}

// lastGraphemes returns at most the last n user-perceived characters.
func lastGraphemes(s string, n int) string {
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

// sayEvidence writes a line for each piece: its text, its place and its state.
func sayEvidence(b *strings.Builder, sessionID string, pieces []schema.Evidence) {
	for _, e := range pieces {
		say(b, "   %s\n", evidenceLine(sessionID, e))
	}
}

// evidenceLine writes a piece of evidence in one line.
func evidenceLine(sessionID string, e schema.Evidence) string {
	worth := evidenceState(e, lineDifferences)
	if !e.Found {
		return fmt.Sprintf("“%s” — %s", oneLine(e.Quote, 120), worth)
	}
	said := marks.Replace(oneLine(e.Text, 120))
	if !e.Proven {
		p, known := passageOf(e)
		if !known {
			p = passage{"…", e.Text, "…"}
		}
		said = p.line()
	}
	return fmt.Sprintf("“%s” — session %s, message %d, bytes %d–%d, %s, %s",
		said, unbroken(sessionID), e.MessageIndex, e.Span.ByteStart, e.Span.ByteEnd, e.Method, worth)
}
