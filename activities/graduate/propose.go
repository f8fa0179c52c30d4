package graduate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"axiommind/activities/boundary"
	"axiommind/activities/entry"
	"axiommind/activities/graduate/pair"
	"axiommind/activities/transcript/redact"
	"axiommind/schema"
)

// checkProposal returns an error if the proposal is invalid.
func (c Command) checkProposal() error {
	if len(c.EntryIDs) != 1 {
		return fmt.Errorf("entry_ids has %d ids: propose a change of one entry", len(c.EntryIDs))
	}
	worded := strings.ContainsFunc(c.Text, schema.Worded)
	switch {
	case !slices.Contains(schema.Changes(), c.Change):
		return fmt.Errorf("change is %q, want one of %q", c.Change, schema.Changes())
	case c.Change == schema.ChangeCorrect && !worded:
		return errors.New("text has no letter and no digit: give the corrected text, or propose to retire the entry")
	case c.Change == schema.ChangeRetire && c.Text != "":
		return errors.New("text is for a correction: leave it out, or propose to correct the entry")
	case strings.ContainsAny(c.Text, "\n\r"):
		return errors.New("text has a line break: give the corrected text in one line; because takes the reasons")
	}
	return c.needs(strings.TrimSpace(c.Because) != "", "because")
}

// CorrectionInput returns the session in which a person states the correction of the entry. The same words for the same
// entry give the same session.
func CorrectionInput(old entry.Row, said string, at time.Time) schema.ProcessSessionInput {
	redact.Strings(&said)
	in := schema.ProcessSessionInput{
		Project: old.Project, User: old.User, Agent: old.Agent, Date: at.UTC().Format(time.RFC3339),
		Messages:  []schema.InlineMessage{{Role: string(schema.RoleUser), Content: said}},
		Statement: &schema.Statement{Type: old.Type, Category: old.Category, Corrects: old.ID},
	}
	in.SessionID = in.StatementSessionID()
	return in
}

// reasonOf returns the recorded reason for carrying out the proposal.
func reasonOf(p schema.ChangeProposedPayload) string {
	return "proposed by " + p.By + ": " + strings.TrimSpace(p.Because)
}

// correctionText returns the statement of a person who accepts the correction.
func correctionText(p schema.ChangeProposedPayload) string {
	return strings.TrimSpace(p.Text) + "\n" + reasonOf(p)
}

// decideProposal returns the acts of a command about a proposal, and the resulting change. A proposal is made once and
// decided once, whoever sends the command and however often.
func (a *Activities) decideProposal(ctx context.Context, c Command) ([]act, CommandResult, error) {
	acts, change, err := a.planProposal(ctx, c)
	return acts, CommandResult{Changes: []CommandChange{change}}, err
}

func (a *Activities) planProposal(ctx context.Context, c Command) ([]act, CommandChange, error) {
	if c.Op == OpPropose {
		return a.planPropose(ctx, c)
	}
	p, err := a.madeProposal(ctx, c.Project, c.ProposalID)
	if err != nil {
		return nil, CommandChange{}, err
	}
	if p.made.ProposalID == "" {
		return nil, CommandChange{}, boundary.Invalid(schema.ErrorEntryNotFound,
			fmt.Errorf("proposal %q in project %q: %w: give a whole id, as proposals prints it", c.ProposalID, c.Project, ErrNoProposal))
	}
	if p.decided != nil {
		if p.decided.Accepted != (c.Op == OpAccept) {
			return nil, CommandChange{}, refusedf("proposal %q was %s", c.ProposalID, howDecided(*p.decided))
		}
		return nil, CommandChange{c.ProposalID, howDecided(*p.decided)}, nil
	}
	// The decision and its acts are stored together, so these are of another command.
	if done, err := a.doneBefore(ctx, c); err != nil || len(done) > 0 {
		return nil, CommandChange{}, cmp.Or(err, refusedf("request %q was another command: give this one an id of its own", c.RequestID))
	}
	payloads, err := a.planVerdict(ctx, c, p.made)
	if err != nil {
		return nil, CommandChange{}, err
	}
	verdict := schema.ProposalDecidedPayload{
		Scope: p.made.Scope, ProposalID: c.ProposalID, EntryID: p.made.EntryID, Accepted: c.Op == OpAccept, Because: c.Because, By: c.Actor,
	}
	acts := append(c.acts(payloads), act{payload: verdict, key: schema.ProposalDecidedKey(c.ProposalID), at: c.At})
	return acts, CommandChange{c.ProposalID, howDecided(verdict)}, nil
}

// howDecided describes the decision on a proposal.
func howDecided(p schema.ProposalDecidedPayload) string {
	verdict := "rejected"
	if p.Accepted {
		verdict = "accepted"
	}
	verdict += " by " + p.By
	if why := strings.TrimSpace(p.Because); why != "" {
		verdict += ": " + why
	}
	return verdict
}

// proposed is a proposal in the log.
type proposed struct {
	// made is zero if there is no such proposal, and decided is nil while the proposal is open.
	made    schema.ChangeProposedPayload
	decided *schema.ProposalDecidedPayload
}

// madeProposal reads a proposal of the project.
func (a *Activities) madeProposal(ctx context.Context, project, id string) (p proposed, err error) {
	made, decided := schema.EventID(schema.ChangeProposedKey(id)), schema.EventID(schema.ProposalDecidedKey(id))
	found, err := a.log.GetMany(ctx, []string{made, decided})
	if err != nil {
		return p, err
	}
	event, ok := found[made]
	if !ok || event.Stream != schema.GraduateStream(project) {
		return p, nil
	}
	if p.made, err = schema.Decode[schema.ChangeProposedPayload](event); err != nil {
		return p, err
	}
	if event, ok = found[decided]; ok {
		verdict, err := schema.Decode[schema.ProposalDecidedPayload](event)
		p.decided = &verdict
		return p, err
	}
	return p, nil
}

// planPropose makes a proposal. An open proposal is not made again, and one that a person has decided on is refused.
func (a *Activities) planPropose(ctx context.Context, c Command) ([]act, CommandChange, error) {
	_, list, err := a.named(ctx, c.Project, c.EntryIDs)
	if err != nil {
		return nil, CommandChange{}, err
	}
	s := list[0]
	if s.User != c.User { // No user may learn about another user's entries.
		return nil, CommandChange{}, boundary.Invalid(schema.ErrorEntryNotFound, noEntry(c.Project, c.EntryIDs[0]))
	}
	payload := schema.ChangeProposedPayload{
		Scope: s.Scope, EntryID: s.ID, Change: c.Change, Text: strings.TrimSpace(c.Text), Because: strings.TrimSpace(c.Because), By: c.Actor,
	}
	payload.ProposalID = schema.ProposalID(s.Scope, s.ID, payload.Change, payload.Text)
	p, err := a.madeProposal(ctx, c.Project, payload.ProposalID)
	if err != nil {
		return nil, CommandChange{}, err
	}
	told := CommandChange{payload.ProposalID, fmt.Sprintf("to %s entry %q waits for a person", payload.Change, s.ID)}
	switch {
	case p.decided != nil:
		return nil, told, refusedf("proposal %q asked for the same and was %s", payload.ProposalID, howDecided(*p.decided))
	case ended(s):
		return nil, told, refusedf("entry %q is %s already: there is nothing to %s", s.ID, endedAs(s.Status), payload.Change)
	case p.made.ProposalID != "":
		return nil, told, nil
	}
	if payload.Change == schema.ChangeCorrect {
		if saysTheSame(s.Row, payload.Text) {
			return nil, told, refusedf("entry %q says the same", s.ID)
		}
		if err := CorrectionInput(s.Row, correctionText(payload), c.At).CheckStatement(); err != nil {
			return nil, told, refusedf("entry %q can't be corrected so: %w", s.ID, err)
		}
	}
	return []act{{payload: payload, key: schema.ChangeProposedKey(payload.ProposalID), at: c.At}}, told, nil
}

// saysTheSame reports whether the entry says the same in the same words.
func saysTheSame(e entry.Row, said string) bool {
	return pair.Compare(e.Title, said).Strict || e.Content != "" && pair.Compare(e.Content, said).Strict
}

// planVerdict returns the events for the entry that follow from accepting or rejecting the proposal, or why that is
// impossible.
func (a *Activities) planVerdict(ctx context.Context, c Command, p schema.ChangeProposedPayload) ([]any, error) {
	rows, err := a.entries.ByID(ctx, entry.InProject(c.Project).IDs([]string{p.EntryID}), entry.Lifecycle)
	if err != nil {
		return nil, err
	}
	row, known := rows[p.EntryID]
	done := false
	if known && p.Change == schema.ChangeCorrect {
		if done, err = correctedBy(ctx, a.entries, row, p); err != nil {
			return nil, err
		}
	}
	switch {
	case c.Op == OpReject && done:
		return nil, refusedf("proposal %q was carried out, and only that is not recorded yet: accept it; starter entry restore %s undoes it", p.ProposalID, p.EntryID)
	case c.Op == OpReject, done:
		return nil, nil
	case !known || row.Status == schema.StatusDeprecated || row.Status == schema.StatusSuperseded:
		return nil, refusedf("proposal %q is overtaken: entry %q is no longer believed; reject it", p.ProposalID, p.EntryID)
	case p.Change == schema.ChangeCorrect:
		return nil, refusedf("entry %q is not corrected yet: starter proposals accept does that first", p.EntryID)
	}
	w, list, err := a.named(ctx, c.Project, []string{p.EntryID})
	if err != nil {
		return nil, err
	}
	c.Because = reasonOf(p)
	return a.planRetire(ctx, c, w, list)
}

// correctedBy reports whether the entry was superseded by the statement of the person who accepted the proposal.
func correctedBy(ctx context.Context, entries *entry.Reader, row entry.Row, p schema.ChangeProposedPayload) (bool, error) {
	if row.SupersededBy == "" {
		return false, nil
	}
	rows, err := entries.ByID(ctx, entry.InProject(row.Project).IDs([]string{row.SupersededBy}), entry.Statement)
	if err != nil {
		return false, err
	}
	by, known := rows[row.SupersededBy]
	return known && by.SessionID == CorrectionInput(row, correctionText(p), time.Time{}).SessionID, nil
}
