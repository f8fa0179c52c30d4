// Package show writes evidence, proofs and stages for people.
package show

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"axiommind/activities/entry"
	"axiommind/activities/eventlog"
	"axiommind/activities/evidence"
	"axiommind/activities/session"
	"axiommind/schema"
	"axiommind/starter/command"
)

// Proof is a piece of evidence in its context, checked against the source.
type Proof struct {
	schema.Evidence
	Role schema.Role `json:"role,omitempty"`
	// Before and After are the source's text around the span.
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
	// Holds is true if the source confirms the evidence. Otherwise Problem is the reason.
	Holds   bool   `json:"holds"`
	Problem string `json:"problem,omitempty"`
	// Differences are the words in which the quote differs from the source at the span.
	Differences []evidence.Difference `json:"differences,omitempty"`
}

// ProofsOf checks the entry's evidence against the log.
func ProofsOf(ctx context.Context, log *eventlog.Store, row entry.Row) ([]Proof, error) {
	logged, err := session.Open(ctx, log, row.EvidenceSession())
	if err != nil {
		return nil, err
	}
	proofs := make([]Proof, len(row.Evidence))
	for i, e := range row.Evidence {
		messages, err := logged.Range(ctx, e.MessageIndex, e.MessageIndex+1)
		if err != nil {
			return nil, err
		}
		proofs[i] = prove(messages, e, row.EvidenceRule)
	}
	return proofs, nil
}

// prove checks a piece of evidence against its message and adds the text around it. It applies the version of the rule of
// proof that judged the piece. The source is empty if the log does not contain the message.
func prove(source []schema.Message, e schema.Evidence, rule int) Proof {
	p := Proof{Evidence: e}
	if !e.Found {
		p.Problem = e.Reason
		return p
	}
	p.Differences = differencesOf(e)
	if len(source) == 0 {
		p.Problem = "the log holds no such message"
		return p
	}
	m := source[0]
	p.Role = m.Role
	if err := evidence.VerifyMessage(m, e, rule); err != nil {
		p.Problem = err.Error()
		return p
	}
	p.Holds = true
	p.Before, p.After = LastGraphemes(m.Text[:e.Span.ByteStart], proofGraphemes), FirstGraphemes(m.Text[e.Span.ByteEnd:], proofGraphemes)
	return p
}

// EntryStanding describes how the entry's evidence is recorded, and whether the source confirms it.
func EntryStanding(e schema.Entry, proofs []Proof) string {
	text := cmp.Or(AgentsWord(e.Evidence), EvidenceStateOfAll(e.EvidenceAligned, e.EvidenceProven, len(proofs) > 0))
	if broken := command.Count(proofs, func(p Proof) bool { return p.Found && !p.Holds }); broken > 0 {
		return fmt.Sprintf("recorded as %s, but %s not true of the source", text, command.Plural(broken, "piece is", "pieces are"))
	}
	return text
}

// speaker returns the role of the message, and the text's class of trust if that differs from the role.
func (p Proof) speaker() string {
	if p.Trust == "" || string(p.Trust) == string(p.Role) {
		return string(p.Role)
	}
	return fmt.Sprintf("%s, trusted as %s", p.Role, p.Trust)
}

// Print describes the piece and its place, and shows the sentences that contain it. A proven piece has no stored sentences
// and is shown with the text around it.
func (p Proof) Print(b *strings.Builder) {
	worth := EvidenceState(p.Evidence, ProofDifferences)
	if !p.Holds {
		if p.Found {
			command.Say(b, "not true of the source: %s\n  recorded as ", p.Problem)
		}
		command.Say(b, "%s\n", worth)
		command.Block(b, "  │ ", "“"+p.Quote+"”")
		return
	}
	command.Say(b, "%s\n  message %d (%s), bytes %d–%d, runes %d–%d, %s, confidence %.2f, checked against the source\n",
		worth, p.MessageIndex, p.speaker(), p.Span.ByteStart, p.Span.ByteEnd, p.Span.RuneStart, p.Span.RuneEnd, p.Method, p.Confidence)
	if !p.Aligned {
		command.Say(b, "  quoted as “%s”\n", command.OneLine(p.Quote, 400))
	}
	held, known := PassageOf(p.Evidence)
	if !known {
		held = Passage{p.Before, p.Text, p.After}
	}
	command.Block(b, "  │ ", held.String())
}
