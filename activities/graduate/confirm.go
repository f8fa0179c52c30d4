package graduate

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"axiommind/activities/entry"
	"axiommind/activities/eventlog"
	"axiommind/activities/evidence"
	"axiommind/activities/graduate/obligation"
	"axiommind/activities/session"
	"axiommind/schema"
)

// ConfirmationInput returns the session in which a person repeats an entry that an agent stated. Its evidence also
// becomes evidence of the entry. The same entry gives the same session.
func ConfirmationInput(e entry.Row, at time.Time) schema.ProcessSessionInput {
	in := CorrectionInput(e, cmp.Or(e.Content, e.Title), at)
	in.Statement.Corrects = ""
	in.SessionID = in.StatementSessionID()
	return in
}

// planConfirm plans the confirmation of the entries by a person. Entries whose quotes are not proven gain the whole
// sentences around them as evidence. Entries that no conflict contests are certified.
func (a *Activities) planConfirm(ctx context.Context, c Command, list []*statement) ([]any, error) {
	var out []any
	for _, s := range list {
		if ended(s) {
			return nil, refusedf("entry %q is %s: restore it before it is confirmed", s.ID, endedAs(s.Status))
		}
		if s.Status == schema.StatusContested {
			return nil, refusedf("entry %q is contested, and nothing contested is certified: `conflicts resolve --keep %s` says that it is right", s.ID, s.ID)
		}
		confirmed := schema.EntryConfirmedPayload{Scope: s.Scope, EntryID: s.ID, By: c.Actor, SessionID: s.EvidenceSessionID}
		e := s.Entry
		if !s.EvidenceProven {
			pieces, err := WholeSentences(ctx, a.log.Store, s.EvidenceSession(), s.Entry)
			if err != nil {
				return nil, err
			}
			confirmed.Evidence, confirmed.EvidenceRule = pieces, evidence.Rule
			e.Evidence, e.EvidenceRule, e.EvidenceAligned, e.EvidenceProven = pieces, evidence.Rule, true, true
		}
		if err := a.upholds(ctx, s, e); err != nil {
			return nil, err
		}
		out = append(out, confirmed)
		reasons, ok := certifying{stage: s.Stage, status: s.Status, confirmedBy: c.Actor}.certifies()
		if !ok {
			continue
		}
		out = append(out, schema.EntryGraduatedPayload{
			Scope: s.Scope, EntryID: s.ID, From: s.Stage, To: schema.StageCertified, Policy: PolicyVersion, Reasons: reasons,
		})
	}
	return out, nil
}

// upholds refuses an unverified entry that fails an obligation, whoever confirms it: its session does not state it.
func (a *Activities) upholds(ctx context.Context, s *statement, e schema.Entry) error {
	if reaches(s.Stage, schema.StageVerified) {
		return nil
	}
	of, err := session.Open(ctx, a.log.Store, s.EvidenceSession())
	if err != nil {
		return err
	}
	var messages []int
	for _, piece := range e.Evidence {
		messages = append(messages, piece.MessageIndex)
	}
	held, err := of.Messages(ctx, messages)
	if err != nil {
		return err
	}
	for _, failure := range obligation.NewSession(held).Facts(e).Check() {
		return refusedf("session %q does not state entry %q: %s; correct it instead, with `entry correct`",
			s.EvidenceSessionID, s.ID, failure.Reason)
	}
	return nil
}

// WholeSentences returns the evidence that an entry has if the whole sentences around its quotes state it. The key is
// that of the session with the evidence. The error names the quote that is not found, or whose sentences are no proof.
func WholeSentences(ctx context.Context, log *eventlog.Store, key schema.SessionKey, e schema.Entry) ([]schema.Evidence, error) {
	if len(e.Evidence) == 0 {
		return nil, refusedf("entry %q has no quotes: nothing in its session can be confirmed", e.ID)
	}
	s, err := session.Open(ctx, log, key)
	if err != nil {
		return nil, err
	}
	out := make([]schema.Evidence, len(e.Evidence))
	for i, piece := range e.Evidence {
		if !piece.Found {
			return nil, refusedf("entry %q: quote %d is not found in session %q (%s): only the session's words can be confirmed; correct the entry instead",
				e.ID, i+1, key.SessionID, piece.Reason)
		}
		if piece.Proven && e.EvidenceRule == evidence.Rule {
			out[i] = piece
			continue
		}
		messages, err := s.Range(ctx, piece.MessageIndex, piece.MessageIndex+1)
		if err != nil {
			return nil, err
		}
		if len(messages) == 0 {
			return nil, fmt.Errorf("confirm entry %q: session %q has no message %d", e.ID, key.SessionID, piece.MessageIndex)
		}
		if out[i], err = wholeSentence(messages[0], s.EventID(piece.MessageIndex), piece); err != nil {
			return nil, refusedf("entry %q: the whole sentences around quote %d in message %d of session %q are no proof: %w",
				e.ID, i+1, piece.MessageIndex, key.SessionID, err)
		}
	}
	return out, nil
}

// wholeSentence returns the whole sentences around a quote as a quote of their own.
func wholeSentence(m schema.Message, eventID string, piece schema.Evidence) (schema.Evidence, error) {
	span := piece.Span
	if piece.Within != nil {
		span = piece.Within.Span
	}
	if span.ByteStart < 0 || span.ByteStart >= span.ByteEnd || span.ByteEnd > len(m.Text) {
		return schema.Evidence{}, fmt.Errorf("bytes [%d,%d) are not in its %d bytes", span.ByteStart, span.ByteEnd, len(m.Text))
	}
	aligner := evidence.NewAligner([]schema.Message{m}, func(int) string { return eventID })
	found, _ := aligner.AlignEntry([]schema.Quote{{MessageIndex: m.Index, Quote: m.Text[span.ByteStart:span.ByteEnd]}})
	if trust := found[0].Trust; trust != "" && !trust.Proves() {
		return schema.Evidence{}, fmt.Errorf("%q is text of class %q, which neither the user nor the assistant said", clipped(found[0].Text), trust)
	}
	if !found[0].Proven {
		return schema.Evidence{}, fmt.Errorf("%q is not found as whole sentences: %s", clipped(m.Text[span.ByteStart:span.ByteEnd]), found[0].Reason)
	}
	return found[0], evidence.VerifyMessage(m, found[0], evidence.Rule)
}
